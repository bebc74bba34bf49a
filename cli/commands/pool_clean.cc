// cairn pool clean: removes what dead jobs left behind.
//
// It ends a cover if it is drained and no run and no process uses it (its claim keeps other jobs
// out). It removes a pool that a run made for itself, if no process is attached and it holds no
// undrained data. It also removes what a process left that was killed while it made or removed a
// pool (src/pool/medium/hidden_place.h). Pools made by `cairn pool create` stay, and so do
// undrained data, unless --force is given.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "commands/all_commands.h"
#include "commands/command.h"
#include "machine/shared_memory_left.h"
#include "pools/pool_handle.h"
#include "pools/pool_place.h"
#include "runs/covers.h"
#include "text/error.h"
#include "text/units.h"

namespace cairn::cli {
namespace {

struct Leftover {
  std::string path;
  std::string what;   // "pool", "cover" or "memory"
  std::string state;  // "left over", "in use", "undrained", "unreadable", "kept"
  std::string detail;
  bool removed = false;
};

class Cleaner {
 public:
  Cleaner(bool dry_run, bool force) : dry_run_(dry_run), force_(force) {}

  void look_at(const std::string& path) {
    try {
      clean(path);
    } catch (const Error& error) {
      unreadable(path, error.what());
    }
  }
  void look_at_unfinished(const std::string& path) {
    Leftover found{path, "pool", "left over", "the process that created or removed it was killed"};
    const int result = dry_run_ ? 0 : cairn_pool_remove(path.c_str());
    found.removed = !dry_run_ && result == 0;
    if (result == -ENOENT) return;  // another process has removed it
    if (result == -EBUSY)
      found = {path, "pool", "in use", "a process is creating or removing a pool"};
    else if (result != 0)
      found.detail += fmt::format("; not removed: {}", cairn_last_error());
    failed_ = failed_ || (result != 0 && result != -EBUSY);
    add(found);
  }
  void look_at_shared_memory(const std::string& path) {
    Leftover found{path, "memory", "left over", "left by MPI ranks that were killed"};
    const int result = dry_run_ ? 0 : remove_shared_memory_left(path);
    if (result == ENOENT || result == EBUSY) return;
    found.removed = !dry_run_ && result == 0;
    if (result != 0) found.detail += fmt::format("; not removed: {}", std::strerror(result));
    failed_ = failed_ || result != 0;
    add(found);
  }
  [[nodiscard]] const std::vector<Leftover>& findings() const { return findings_; }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  void clean(const std::string& path) {
    // The attempt to open another user's pool gives a better message.
    const int swept = dry_run_ ? 0 : cairn_pool_sweep(path.c_str());
    if (swept != -EACCES && swept != -EPERM && swept != -EROFS) check(swept, path);
    std::vector<CoverEntry> covers;
    bool of_a_run = false;
    {
      const auto lanes = Pool(path, look_only).lanes();
      const auto alive = std::count_if(lanes.begin(), lanes.end(),
                                       [](const auto& lane) { return lane.alive != 0; });
      if (alive != 0)
        return add({path, "pool", "in use", fmt::format("{} process(es) attached", alive)});
      const Pool pool(path);  // attaching recovers what dead processes left unfinished
      covers = list_covers(pool);
      char value[8];
      of_a_run = cairn_getxattr(pool.get(), CAIRN_ROOT, 0, made_by_run, value, sizeof value) >= 0;
    }
    Left left = Left::nothing;
    for (const CoverEntry& cover : covers) left = std::max(left, end_cover(path, cover.directory));
    if (!of_a_run)
      return add(
          {path, "pool", "kept", "created by `cairn pool create`; `cairn pool remove` removes it"});
    if (left == Left::in_use) return add({path, "pool", "in use", "covers a directory in use"});
    if (left == Left::undrained)
      return add({path, "pool", "undrained", "holds data that are not drained"});
    Leftover found{path, "pool", "left over", "created by a run, no process is attached"};
    if (!dry_run_) {
      Pool pool(path);
      found.removed = remove_if_left_over(pool, lock_start(path));
      if (!found.removed)
        found = {path, "pool", "kept",
                 "a run has started to use it, or it holds files that no run wrote"};
    }
    add(found);
  }

  // The reason why a cover stays; the last one of several counts.
  enum class Left { nothing, undrained, in_use };

  // Ends a cover, if it can. Left::nothing: it has ended, or in a dry run would end.
  Left end_cover(const std::string& path, const std::string& directory) {
    // A run holds this lock, even if its program has not attached the pool yet.
    const PlaceLock lock = lock_cover_now(path, directory);
    if (!lock.held()) {
      add({directory, "cover", "in use", "a run is under way"});
      return Left::in_use;
    }
    const Pool pool(path);
    const auto covers = list_covers(pool);
    const auto cover = std::find_if(covers.begin(), covers.end(), [&](const CoverEntry& entry) {
      return entry.directory == directory;
    });
    if (cover == covers.end()) return Left::nothing;  // its run has ended it meanwhile
    if (const auto inside = processes_in_cover(pool, directory); !inside.empty()) {
      add({directory, "cover", "in use", fmt::format("{} process(es) use it", inside.size())});
      return Left::in_use;
    }
    if (!cover->all_drained && !force_) {
      add({directory, "cover", "undrained",
           fmt::format("{} in {}; `cairn drain {}` saves it, --force drops it",
                       undrained_text(*cover), path, directory)});
      return Left::undrained;
    }
    Leftover found{directory, "cover", "left over",
                   cover->all_drained ? "drained, no process uses it" : undrained_text(*cover)};
    if (!dry_run_) {
      found.removed = Cover::join_kept(pool, directory).discard();
      if (!found.removed) found.state = "in use";
    }
    add(found);
    return dry_run_ || found.removed ? Left::nothing : Left::in_use;
  }

  void unreadable(const std::string& path, const std::string& why) {
    Leftover found{path, "pool", "unreadable", why};
    if (force_ && !dry_run_) {
      found.removed = cairn_pool_remove(path.c_str()) == 0;
      if (!found.removed) found.detail += fmt::format("; not removed: {}", cairn_last_error());
    }
    failed_ = failed_ || (!found.removed && !dry_run_);
    add(found);
  }

  void add(Leftover found) { findings_.push_back(std::move(found)); }

  bool dry_run_;
  bool force_;
  bool failed_ = false;
  std::vector<Leftover> findings_;
};

int clean_command(const Config& config, bool json, bool dry_run, bool force) {
  Cleaner cleaner(dry_run, force);
  for (const std::string& path : list_unfinished(config)) cleaner.look_at_unfinished(path);
  for (const std::string& path : list_pools(config)) cleaner.look_at(path);
  const std::string of_other = cleaner.findings().empty() ? pools_of_other(config) : "";
  if (!of_other.empty()) tell("cairn pool clean: {}\n", of_other);
  for (const std::string& path : list_shared_memory_left()) cleaner.look_at_shared_memory(path);
  if (json) {
    Json all = Json::array();
    for (const Leftover& found : cleaner.findings())
      all.push_back({{"path", json_text(found.path)},
                     {"kind", found.what},
                     {"state", found.state},
                     {"detail", json_text(found.detail)},
                     {"removed", found.removed}});
    print_json(all);
  } else {
    Table table({"KIND", "STATE", "PATH", "DETAIL"});
    for (const Leftover& found : cleaner.findings())
      table.row({found.what, found.removed ? "removed" : found.state, printable(found.path),
                 printable(found.detail)});
    if (!table.empty())
      print_lines(table.text());
    else if (of_other.empty())
      print("nothing to clean\n");
  }
  return cleaner.failed() ? exit_failed : exit_ok;
}

}  // namespace

void add_pool_clean_command(CLI::App& pool, Context& context) {
  struct Arguments {
    bool dry_run = false, force = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* clean = add_command(
      pool, context, "clean", "Remove what dead jobs left in the pool directory.",
      "Removes covers that are drained and that no process uses, because their claims keep other "
      "jobs out. Removes pools that a run created, if no process is attached and they hold no "
      "undrained data. Pools created by `cairn pool create` stay. Undrained data are never dropped "
      "without --force. Also removes small files in /dev/shm through which MPI ranks find each "
      "other, if those ranks were killed.");
  clean->add_flag("-n,--dry-run", arguments->dry_run,
                  "List what would be removed, and remove nothing.");
  clean->add_flag("-f,--force", arguments->force,
                  "Also drop undrained data of dead jobs, and pools that cannot be read.");
  clean->callback([&context, arguments] {
    context.action = [&context, arguments] {
      return clean_command(context.config, context.json, arguments->dry_run, arguments->force);
    };
  });
}

}  // namespace cairn::cli
