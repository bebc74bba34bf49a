#include "tier/changes/undrained_summary.h"

#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "file/inode/attributes.h"
#include "file/namespace/tree.h"
#include "tier/changes/changes.h"
#include "tier/changes/drain_directory.h"
#include "tier/record/parts.h"
#include "tier/record/record.h"
#include "tier/system/listing.h"

namespace cairn::tier {
namespace {

constexpr size_t most_names = 3;
constexpr size_t longest_name = 60;

class Collector {
 public:
  Collector(file::FileSystem& fs, uint64_t top, UndrainedSummary& summary)
      : fs_(fs), summary_(summary), tree_(fs, top) {}

  Status visit(const DrainDirectory& where, const file::Listed& listed,
               std::vector<DrainDirectory>* directories) {
    if (listed.whiteout) {
      ++summary_.removed;
      note_time(where.map);
      return Status();
    }
    auto inode = file::live_inode(fs_, listed.inode);
    if (!inode.ok()) return Status();  // it was removed meanwhile
    const file::Map map{*inode, listed.inode};
    const std::string path = where.path + name_of(listed);
    if (S_ISDIR((*inode)->mode.load())) {
      const bool is_new = is_new_in_lower(map) || !is_at_home(where, listed, map);
      if (is_new) ++summary_.directories;
      if (is_new) note(path, map);
      if (((*inode)->flags.load() & format::flag_lazy) == 0) {
        CAIRN_TRY(tree_.enter(where.map, listed));
        directories->push_back({listed.inode, map, path + "/", where.fresh || is_new});
      }
    } else if (!is_drained(fs_, where, listed, map)) {
      ++summary_.files;
      note(path, map);
      if (S_ISREG((*inode)->mode.load()) && ((*inode)->flags.load() & format::flag_lazy) == 0)
        summary_.bytes += (*inode)->size.load();
    }
    return Status();
  }

 private:
  void note_time(const file::Map& map) {
    summary_.newest = std::max(summary_.newest, change_time(fs_, map));
  }
  void note(const std::string& path, const file::Map& map) {
    note_time(map);
    if (summary_.names.size() < most_names) summary_.names.push_back(path);
  }

  file::FileSystem& fs_;
  UndrainedSummary& summary_;
  file::Tree tree_;
};

std::string time_text(uint64_t ns) {
  const auto seconds = static_cast<time_t>(ns / 1'000'000'000);
  tm parts = {};
  char text[32] = "";
  if (gmtime_r(&seconds, &parts) != nullptr)
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

std::string short_of(const std::string& name) {
  return name.size() <= longest_name ? name : name.substr(0, longest_name - 3) + "...";
}

}  // namespace

Result<UndrainedSummary> summarize_undrained(file::FileSystem& fs, const std::string& name) {
  UndrainedSummary summary;
  CAIRN_TRY_ASSIGN(covers, find_covers(fs, false));
  if (covers == 0) return summary;
  CAIRN_TRY_ASSIGN(top, find_child(fs, covers, name));
  if (top == 0) return summary;
  auto inode = file::live_inode(fs, top);
  if (!inode.ok()) return inode.status();
  Collector collector(fs, top, summary);
  std::vector<DrainDirectory> directories = {{top, {*inode, top}, "", false}};
  while (!directories.empty()) {
    const DrainDirectory where = std::move(directories.back());
    directories.pop_back();
    const Status status = for_each_name(fs, where.map, true, [&](const file::Listed& listed) {
      return collector.visit(where, listed, &directories);
    });
    // A name that no drain can carry counts as a file that is not drained.
    if (status.code() == EUCLEAN)
      ++summary.files;
    else
      CAIRN_TRY(status);
  }
  CAIRN_TRY(for_each_part(fs, name, [&](const std::string&, uint64_t bytes) {
    ++summary.parts;
    summary.bytes += bytes;
    return Status();
  }));
  return summary;
}

std::string describe_undrained(const UndrainedSummary& summary) {
  std::string text;
  const auto add = [&text](uint64_t count, const char* one, const char* many) {
    if (count == 0) return;
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + (count == 1 ? one : many);
  };
  add(summary.files, "file", "files");
  add(summary.parts, "part of a file that several nodes wrote",
      "parts of files that several nodes wrote");
  if (!text.empty()) text += " (" + std::to_string(summary.bytes) + " bytes)";
  add(summary.directories, "directory", "directories");
  add(summary.removed, "removed name", "removed names");
  if (text.empty()) text = "changed attributes";
  for (size_t i = 0; i < summary.names.size(); ++i)
    text += (i == 0 ? ": " : ", ") + short_of(summary.names[i]);
  if (summary.files + summary.directories > summary.names.size()) text += ", ...";
  if (summary.newest != 0) text += "; last changed " + time_text(summary.newest);
  return text;
}

}  // namespace cairn::tier
