// cairn drain and cairn discard: write or drop the changes that runs left in the pool.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "commands/all_commands.h"
#include "commands/command.h"
#include "machine/named_path.h"
#include "pools/pool_place.h"
#include "process/launcher.h"
#include "runs/finish_run.h"
#include "runs/keeper.h"
#include "runs/stale_claim.h"
#include "text/error.h"
#include "text/progress.h"
#include "text/units.h"

namespace cairn::cli {
namespace {

[[noreturn]] void not_covered(const std::string& directory) {
  fail("{}: not covered by any of your pools (`cairn status` lists covered directories)",
       directory);
}

// The pool that covers the directory; throws if none does.
std::string covering_pool(const Config& config, const std::string& directory) {
  if (const auto path = find_cover(config, directory)) return *path;
  const Claimed claim = claim_of(directory);
  if (claim.pool.empty()) not_covered(directory);
  if (!claim.is_followed)
    fail("{}: covered by another user, with pool {} on host {}; {}", directory, claim.pool,
         claim.host, how_to_free(directory));
  if (claim.here) fail("{}: covered by pool {}, which cannot be read", directory, claim.pool);
  fail("{}: covered by pool {} on host {}, which is not here; {}", directory, claim.pool,
       claim.host, how_to_free(directory));
}

// Removes the claim of a directory whose pool is not here.
int free_directory(bool json, const std::string& directory, bool force) {
  const int result = cairn_cover_free_claim(directory.c_str(), force ? 1 : 0);
  if (result == -ENOENT) not_covered(directory);
  if (result == -EBUSY)
    fail("{}; {}", library_error(result), force ? "that pool exists" : how_to_free(directory));
  check(result, directory);
  if (json)
    print_json({{"directory", json_text(directory)}, {"lost", true}});
  else
    print("{}: free again; what was not drained is lost with its pool\n", directory);
  return exit_ok;
}

// cairn drain --to: writes the changes of a covered directory to another directory, because the
// covered one is gone or has been replaced.
int drain_to_command(const Config& config, bool json, const std::string& given,
                     const std::string& elsewhere, bool keep) {
  const std::string directory = covered_directory(config, given);
  const std::string path = covering_pool(config, directory);
  PlaceLock lock = lock_cover_now(path, directory);
  // A keeper that ends has the lock for a moment.
  if (!lock.held() && !lock.hold_soon()) fail("{}: a run is under way there", directory);
  const StopOnSignal stop;
  Pool pool(path);
  if (const auto inside = processes_in_cover(pool, directory); !inside.empty())
    fail("{}: processes still use it: {} ({})", directory, inside.front().pid,
         printable(inside.front().command));
  Cover cover = Cover::join_kept(pool, directory);
  cairn_drain_to_report report;
  const Cover::DrainResult drained = cover.drain_to(elsewhere, &report);
  const bool is_whole = drained.code == 0 && report.missing_parts == 0;
  // If the directory is there, the pool may hold changes that belong into it.
  const bool may_end = !keep && is_whole && (report.is_covered != 0 || report.is_lost != 0);
  const bool ended = may_end && (report.is_covered != 0 ? cover.end() : cover.discard());
  std::string text = drain_text(elsewhere, drained);
  if (report.missing != 0)
    text += fmt::format(", {} {} the pool does not hold", report.missing,
                        report.missing == 1 ? "file that" : "files that");
  if (report.missing_parts != 0)
    text += fmt::format(", {} {} of files that several nodes wrote", report.missing_parts,
                        report.missing_parts == 1 ? "part" : "parts");
  if (!ended) text += fmt::format("; kept in the pool: `cairn discard {}` drops it", directory);
  if (drained.code != 0) text = fmt::format("{}; {}", drained.error, text);
  const int code = stop_signal() != 0 ? exit_signal + stop_signal()
                   : is_whole         ? exit_ok
                                      : exit_failed;
  if (json) {
    Json output = drain_json(directory, drained);
    output["to"] = json_text(elsewhere);
    output["missing"] = report.missing;
    output["missing_parts"] = report.missing_parts;
    output["ended"] = ended;
    print_json(output);
  } else if (code == exit_ok) {
    print("{}\n", text);
  } else {
    throw Error(code, text);
  }
  if (ended) leave_pool(pool, lock);
  return code;
}

// No pool covers the directory, and no claim of another one is in it: what a run wrote there is
// drained, or there was none.
bool has_nothing_to_drain(const Config& config, const std::string& directory) {
  return !find_cover(config, directory) && claim_of(directory).pool.empty();
}

int report_nothing_to_drain(bool json, const std::string& directory) {
  if (json)
    print_json(drain_json(directory, {}));
  else
    print("{}: nothing to drain: none of your pools covers it\n", directory);
  return exit_ok;
}

int drain_command(const Config& config, bool json, const std::string& given, bool keep) {
  const std::string directory = covered_directory(config, given);
  if (has_nothing_to_drain(config, directory)) return report_nothing_to_drain(json, directory);
  const std::string path = covering_pool(config, directory);
  // While a run is under way, this drains the changes so far, and the run ends the cover.
  PlaceLock lock = lock_cover_now(path, directory);
  const StopOnSignal stop;
  Pool pool(path);
  // Started by a launcher on all nodes, the commands wait for each other. A user runs them on one
  // node after the other.
  const auto others = launcher_job().empty() ? std::chrono::seconds(0) : wait_for_others(config);
  const FinishResult result = finish_cover(pool, directory, false, lock.held() && !keep, others);
  const int code = finish_code(result);
  // If a launcher runs this command on all hosts, each host drains its own part, and a host that
  // waits for another one says so itself.
  if (code == exit_ok && speaks_for_all())
    for (const OtherPool& other : other_pools(pool, directory))
      tell("cairn drain: {}\n", missing_text(directory, other));
  if (json)
    print_json(drain_json(directory, result.drain));
  else if (code == exit_ok)
    print("{}{}\n", finish_text(directory, result),
          lock.held() ? "" : "; a run is under way, so it stays covered");
  if (code != exit_ok && !json) throw Error(code, finish_text(directory, result));
  if (code == exit_ok && result.ended == Ended::drained && !keep) leave_pool(pool, lock);
  return code;
}

// cairn drain --wait: waits until a run or its keeper has drained everything. False: there is no
// run and no keeper.
bool wait_for_keeper(const Config& config, const std::string& directory) {
  using namespace std::chrono_literals;
  Progress progress(directory);
  uint64_t most = 0;
  std::string reported;
  while (stop_signal() == 0) {
    const auto path = find_cover(config, directory);
    if (!path) return true;
    try {
      const Pool pool(*path, look_only);
      const auto covers = list_covers(pool);
      const auto entry = std::find_if(covers.begin(), covers.end(), [&](const CoverEntry& cover) {
        return cover.directory == directory;
      });
      if (entry == covers.end() || entry->all_drained) return true;
      const auto keeper = look_at_keeper(pool, directory);
      if (!keeper && !entry->in_use) return false;
      if (keeper && !keeper->problem.empty() && keeper->problem != reported) {
        reported = keeper->problem;
        progress.hide();
        tell("cairn drain: {}; waiting for the next attempt\n", reported);
      }
      most = std::max(most, entry->undrained_bytes);
      progress.show(most - entry->undrained_bytes, most);
    } catch (const Error&) {
      if (access(path->c_str(), F_OK) == 0) throw;  // if not, its last user has removed it
    }
    std::this_thread::sleep_for(200ms);
  }
  return true;
}

int drain_wait_command(const Config& config, bool json, const std::string& given, bool keep) {
  const std::string directory = covered_directory(config, given);
  {
    const StopOnSignal stop;
    if (wait_for_keeper(config, directory)) {
      if (stop_signal() != 0) return exit_signal + stop_signal();
      if (json)
        print_json({{"directory", json_text(directory)}, {"ok", true}});
      else
        print("{}: all drained\n", directory);
      return exit_ok;
    }
  }
  return drain_command(config, json, given, keep);
}

int discard_command(const Config& config, bool json, const std::string& given, bool force) {
  const std::string directory = covered_directory(config, given);
  const auto found = find_cover(config, directory);
  if (!found) return free_directory(json, directory, force);
  const std::string& path = *found;
  PlaceLock lock = lock_cover_now(path, directory);
  // A keeper that ends has the lock for a moment.
  if (!lock.held() && !lock.hold_soon()) fail("{}: a run is under way there", directory);
  Pool pool(path);
  uint64_t dropped = 0;
  uint64_t parts = 0;
  for (const CoverEntry& cover : list_covers(pool)) {
    if (cover.directory != directory) continue;
    dropped = cover.undrained_bytes;
    parts = cover.parts;
  }
  if (!processes_in_cover(pool, directory).empty() ||
      !Cover::join_kept(pool, directory).discard()) {
    std::string who;
    for (const auto& lane : processes_in_cover(pool, directory))
      who += fmt::format(" {} ({})", lane.pid, lane.command);
    fail("{}: processes still use it:{}", directory, who.empty() ? " unknown" : printable(who));
  }
  leave_pool(pool, lock);
  if (json)
    print_json({{"directory", json_text(directory)},
                {"discarded_bytes", dropped},
                {"discarded_parts", parts}});
  else
    print("{} discarded{}; {} holds what was drained and what was there before\n",
          format_size(dropped),
          parts == 0 ? ""
                     : fmt::format(", with parts of {} {} that other nodes may hold "
                                   "parts of: these can no longer be put together",
                                   parts, parts == 1 ? "file" : "files"),
          directory);
  return exit_ok;
}

}  // namespace

void add_cover_commands(CLI::App& root, Context& context) {
  struct Arguments {
    std::string directory, elsewhere;
    bool keep = false;
    bool force = false;
    bool wait = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* drain = add_command(
      root, context, "drain", "Write what a run left in memory to its directory.",
      "Finishes a run that was killed, or one with --drain never. The drain writes each file under "
      "a temporary name, compares it, and renames it: the file appears complete or not at all. A "
      "file that was changed in DIR outside Cairn is not overwritten: both versions are kept, and "
      "that is an error. The command is safe to repeat after any interruption. While a run is "
      "under way, the command writes what is there now, and the run continues.\n\n"
      "Files that several nodes write through MPI-IO are put together in DIR: each node writes the "
      "part that it holds, and the last one gives the file its name. While a node is missing, the "
      "command fails and names the node: run it there. Started on all nodes together (mpirun -n "
      "NODES, one on each), the command waits for the others (drain.wait).\n\n"
      "If DIR was removed, or removed and created again, nothing is written to it, nor to a copy "
      "that has its name. With --to, the drain writes what the pool holds to ELSEWHERE, an "
      "existing directory, empty or not. Nothing there is replaced: an existing name counts as "
      "done if it is the same, and is an error otherwise. The command lists the names that it "
      "cannot write. The pool does not hold the bytes of files that were only read. Parts of files "
      "that several nodes wrote lost their records with DIR. If everything else is written, the "
      "cover ends. ELSEWHERE may be DIR itself, or the place that DIR was moved to: then it is "
      "drained as usual. If DIR is still the covered directory, it stays covered.\n\n"
      "Root may drain what another user's run has left. The command then gives up root's rights, "
      "and writes what that user may write.");
  drain->add_option("DIR", arguments->directory, "The covered directory.")
      ->type_name("DIR")
      ->required();
  drain->add_flag("--keep", arguments->keep,
                  "Keep DIR covered, and the data in memory, for the next run.");
  drain->add_flag("--wait", arguments->wait,
                  "Wait until a run, or the process that it left in the background, has drained "
                  "everything. If there is none, drain now.");
  drain
      ->add_option("--to", arguments->elsewhere,
                   "Write what the pool holds for DIR to this directory, because DIR was removed "
                   "or replaced.")
      ->type_name("ELSEWHERE");
  drain->callback([&context, arguments] {
    context.action = [&context, arguments] {
      if (!arguments->elsewhere.empty())
        return drain_to_command(context.config, context.json, arguments->directory,
                                named_path(arguments->elsewhere), arguments->keep);
      if (arguments->wait)
        return drain_wait_command(context.config, context.json, arguments->directory,
                                  arguments->keep);
      return drain_command(context.config, context.json, arguments->directory, arguments->keep);
    };
  });
  CLI::App* discard =
      add_command(root, context, "discard", "Drop what a run left in memory.",
                  "DIR stays as it is, without what was not drained. The command fails while "
                  "processes use DIR. If this node holds a part of a file that several nodes "
                  "write, the file is dropped on all of them: it can no longer be put together.\n\n"
                  "If the pool itself is lost, removed by hand or with its node, the command "
                  "removes the claim in DIR. A pool that is not found here may be on another host, "
                  "or in another container: then --force is needed.");
  discard->add_option("DIR", arguments->directory, "The covered directory.")
      ->type_name("DIR")
      ->required();
  discard->add_flag(
      "-f,--force", arguments->force,
      "Remove the claim even if the pool is not found here: you know that it is gone.");
  discard->callback([&context, arguments] {
    context.action = [&context, arguments] {
      return discard_command(context.config, context.json, arguments->directory, arguments->force);
    };
  });
}

}  // namespace cairn::cli
