// cairn cp: copies files into a pool, out of one, within one or between two. Holes stay holes, and
// links stay links.
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "commands/all_commands.h"
#include "commands/command.h"
#include "commands/copy_side.h"
#include "pools/pool_path.h"
#include "pools/pool_tree.h"
#include "text/error.h"
#include "text/progress.h"
#include "text/units.h"

namespace cairn::cli {
namespace {

struct CopyArguments {
  std::vector<std::string> paths;
  bool recursive = false, preserve = false, sync = false;
};

struct Totals {
  uint64_t files = 0;
  uint64_t bytes = 0;
};

// The directories that a walk has met on one side of the copy.
class Met {
 public:
  explicit Met(Side& side) : side_(side) {}
  // False: this is another name of a directory that was met, or leads to a directory further up.
  bool enter(const std::string& path, const SideStat& st) {
    if (!side_.is_tree()) return true;
    const auto [met, is_new] = met_.try_emplace(st.inode, path);
    if (is_new) return true;
    const auto before = side_.look(met->second, false);
    if (before && before->inode == st.inode) return false;
    met->second = path;  // the directory was moved here meanwhile
    return true;
  }

 private:
  Side& side_;
  std::map<uint64_t, std::string> met_;
};

class Copier {
 public:
  Copier(Side& from, Side& to, const CopyArguments& arguments, Totals& totals, Progress& progress,
         uint64_t expected)
      : from_(from),
        to_(to),
        arguments_(arguments),
        totals_(totals),
        progress_(progress),
        expected_(expected),
        met_(from),
        buffer_(4 << 20) {}
  // Something could not be copied, and a message said so.
  [[nodiscard]] bool failed() const { return failed_; }

  void copy(const std::string& source, const std::string& target, bool follow) {
    const auto st = from_.look(source, follow);
    if (!st) fail("{}: no such file or directory", from_.show(source));
    if (S_ISDIR(st->mode)) {
      directory(source, target, *st);
    } else if (S_ISLNK(st->mode)) {
      std::string text;
      try {
        text = from_.link_target(source);
      } catch (const Error& error) {
        return problem(error.what());
      }
      to_.make_link(text, target);
      if (arguments_.preserve) to_.set_times(target, *st);
    } else if (S_ISREG(st->mode)) {
      file(source, target, *st);
      if (arguments_.preserve) {
        to_.set_mode(target, st->mode & 07777U);
        to_.set_times(target, *st);
      }
    } else {
      warn(fmt::format("{}: skipped: not a file, directory or link", from_.show(source)));
    }
  }

 private:
  void problem(const std::string& text) {
    failed_ = true;
    progress_.hide();
    tell_problem_of("cp", text);
  }

  void directory(const std::string& source, const std::string& target, const SideStat& st) {
    if (!met_.enter(source, st))
      return problem(from_.show(source) +
                     ": the same directory has another name, or lies below itself; skipped (`cairn "
                     "pool check` shows more)");
    const auto there = to_.look(target, true);
    if (there && !S_ISDIR(there->mode)) fail("{}: exists and is not a directory", to_.show(target));
    if (!there) to_.make_directory(target, 0700);
    to_.enter(target);
    if (const auto made = to_.look(target, true); made && !top_) top_ = made;
    const auto on_problem = [this](const std::string& text) { problem(text); };
    for (const std::string& name : from_.names(source, on_problem)) {
      // Leaves out the target: a copy of a directory into itself would never end.
      const auto below = from_.look(join(source, name), false);
      if (below && top_ && below->device == top_->device && below->inode == top_->inode) continue;
      copy(join(source, name), join(target, name), false);
    }
    if (!there || arguments_.preserve) to_.set_mode(target, st.mode & 07777U);
    if (arguments_.preserve) to_.set_times(target, st);
  }

  void file(const std::string& source, const std::string& target, const SideStat& st) {
    const auto there = to_.look(target, true);
    if (there && there->device == st.device && there->inode == st.inode)
      fail("{} and {} are the same file", from_.show(source), to_.show(target));
    const auto in = from_.open_to_read(source);
    const auto out = to_.open_to_write(target, st.mode & 0777U);
    uint64_t end = 0;
    for (auto data = in->next_data(0); data; data = in->next_data(end)) {
      end = in->next_hole(*data);
      for (uint64_t offset = *data; offset < end;) {
        const size_t piece = std::min<uint64_t>(buffer_.size(), end - offset);
        const size_t count = in->read(buffer_.data(), piece, offset);
        if (count == 0) break;
        out->write(buffer_.data(), count, offset);
        offset += count;
        totals_.bytes += count;
        progress_.show(totals_.bytes, expected_);
        if (stop_signal() != 0)
          throw Error(exit_signal + stop_signal(),
                      fmt::format("interrupted; {} is incomplete", to_.show(target)));
      }
    }
    out->set_size(st.size);
    out->finish(arguments_.sync);
    ++totals_.files;
  }

  Side& from_;
  Side& to_;
  const CopyArguments& arguments_;
  Totals& totals_;
  Progress& progress_;
  uint64_t expected_;
  Met met_;
  bool failed_ = false;
  std::optional<SideStat> top_;
  std::vector<char> buffer_;
};

// Counts the bytes below `path`. The progress bar needs the sum, and a pool that is too small fails
// before anything is copied.
uint64_t measure(Side& side, const std::string& path, bool recursive, bool follow, Met* met) {
  const auto st = side.look(path, follow);
  if (!st) fail("{}: no such file or directory", side.show(path));
  if (S_ISREG(st->mode)) {
    const auto file = side.open_to_read(path);
    uint64_t bytes = 0;
    for (auto data = file->next_data(0); data;) {
      const uint64_t end = file->next_hole(*data);
      bytes += end - *data;
      data = file->next_data(end);
    }
    return bytes;
  }
  if (follow && !S_ISDIR(st->mode))
    fail("{}: neither file nor directory; nothing was copied", side.show(path));
  if (!S_ISDIR(st->mode)) return 0;
  if (!recursive) fail("{}: is a directory; use -r to copy it and its contents", side.show(path));
  uint64_t bytes = 0;
  if (!met->enter(path, *st)) return bytes;  // the copy reports it
  for (const std::string& name : side.names(path, [](const std::string&) {}))
    bytes += measure(side, join(path, name), true, false, met);
  return bytes;
}

int copy_command(const Config& config, bool json, const CopyArguments& arguments) {
  if (arguments.paths.size() < 2)
    usage_error("missing destination: cp takes one or more sources and a destination");
  std::vector<PoolPath> places;
  bool any_pool = false;
  for (const std::string& text : arguments.paths) {
    places.push_back(parse_pool_path(text, true));
    any_pool = any_pool || places.back().in_pool;
  }
  if (!any_pool)
    usage_error("no path is in a pool: write POOL:/path, or :/path for the configured pool");

  Pools pools(config, 0);
  std::map<std::string, std::unique_ptr<Side>> sides;
  const auto side_of = [&](const PoolPath& place) -> Side& {
    std::unique_ptr<Side>& side = sides[place.in_pool ? "pool " + place.pool : "local"];
    if (!side) side = place.in_pool ? pool_side(pools.at(place.pool)) : local_side();
    return *side;
  };
  const PoolPath to = places.back();
  if (to.in_pool) refuse_own_names(to.path);
  places.pop_back();
  Side& target = side_of(to);
  target.name_argument(to.path);
  for (const PoolPath& place : places) side_of(place).name_argument(place.path);
  const auto there = target.look(to.path, true);
  const bool into = there && S_ISDIR(there->mode);
  if (places.size() > 1 && !into)
    fail("{}: not a directory; several sources need a directory as destination",
         target.show(to.path));

  uint64_t expected = 0;
  for (const PoolPath& place : places) {
    Met met(side_of(place));
    expected += measure(side_of(place), place.path, arguments.recursive, true, &met);
  }
  if (const auto free = target.free_bytes(); free && expected > *free)
    fail("{}: too small: {} to copy, {} free, {} missing; nothing was copied", target.show("/"),
         format_size(expected), format_size(*free), format_size(expected - *free));

  if (into) target.enter(to.path);
  const StopOnSignal stop;
  Progress progress("copy");
  Totals totals;
  bool all = true;
  for (const PoolPath& place : places) {
    Copier copier(side_of(place), target, arguments, totals, progress, expected);
    copier.copy(place.path, into ? join(to.path, base_name(place.path)) : to.path, true);
    all = all && !copier.failed();
  }
  progress.hide();
  if (json)
    print_json({{"files", totals.files}, {"bytes", totals.bytes}, {"seconds", progress.seconds()}});
  else
    inform(fmt::format("{} file(s), {} in {}", totals.files, format_size(totals.bytes),
                       format_duration(progress.seconds())));
  return all ? exit_ok : exit_failed;
}

}  // namespace

void add_copy_command(CLI::App& root, Context& context) {
  auto arguments = std::make_shared<CopyArguments>();
  CLI::App* cp = add_command(
      root, context, "cp", "Copy files into, out of and between pools.",
      "The last PATH is the destination: a new name, or a directory to copy the others into. Paths "
      "with ':' are in pools (POOL:/path, :/path); others are ordinary files. Holes stay holes. "
      "With -r, symbolic links stay links. Several hard links to one file become several files. If "
      "the pool is too small, the command fails before it copies anything.\n\n"
      "  cairn cp -r input :/input\n"
      "  cairn cp big:/results/out.h5 .");
  cp->add_option("PATH", arguments->paths, "Sources, then the destination.")
      ->type_name("PATH")
      ->required();
  cp->add_flag("-r,-R,--recursive", arguments->recursive, "Copy directories and their contents.");
  cp->add_flag("-p,--preserve", arguments->preserve, "Keep permissions and times.");
  cp->add_flag("--sync", arguments->sync,
               "Make each file durable (fsync) before copying the next.");
  cp->callback([&context, arguments] {
    context.action = [&context, arguments] {
      return copy_command(context.config, context.json, *arguments);
    };
  });
}

}  // namespace cairn::cli
