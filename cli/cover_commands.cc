// cairn drain and cairn discard: finishing or dropping what runs left in the pool.
#include <CLI/CLI.hpp>
#include <memory>

#include "claim_left.h"
#include "command_line.h"
#include "error.h"
#include "finish_run.h"
#include "launcher.h"
#include "pool_place.h"
#include "progress.h"
#include "units.h"

namespace cairn::cli {
namespace {

[[noreturn]] void not_covered(const std::string& directory) {
  fail("{}: no pool of yours covers it (`cairn status` lists what is covered)", directory);
}

// The pool that covers the directory; throws if none does.
std::string covering_pool(const Config& config, const std::string& directory) {
  if (const auto path = find_cover(config, directory)) return *path;
  const Claimed claim = claim_of(directory);
  if (claim.pool.empty()) not_covered(directory);
  if (claim.here) fail("{}: the pool {} covers it, and cannot be read", directory, claim.pool);
  fail("{}: the pool {} on host {} covers it, which is not here; {}", directory, claim.pool,
       claim.host, how_to_free(directory));
}

// The pool of the directory's cover is not here: only the claim is left of it, if that.
int free_directory(bool json, const std::string& directory, bool force) {
  const int result = cairn_cover_free_claim(directory.c_str(), force ? 1 : 0);
  if (result == -ENOENT) not_covered(directory);
  if (result == -EBUSY)
    fail("{}; {}", library_error(result), force ? "that pool is there" : how_to_free(directory));
  check(result, directory);
  if (json)
    print_json({{"directory", json_text(directory)}, {"lost", true}});
  else
    print(fmt::format("{}: free again; what was not drained is lost with its pool\n", directory));
  return exit_ok;
}

int drain_command(const Config& config, bool json, const std::string& given, bool keep) {
  const std::string directory = real_directory(given);
  const std::string path = covering_pool(config, directory);
  // A run is under way: drain what is there now, but leave the cover to it.
  PlaceLock lock = lock_cover_now(path, directory);
  const StopOnSignal stop;
  Pool pool(path);
  // Started on all nodes at once they wait for each other; by hand it is one after the other.
  const auto others = launcher_job().empty() ? std::chrono::seconds(0) : wait_for_others(config);
  const FinishResult result = finish_cover(pool, directory, false, lock.held() && !keep, others);
  const int code = finish_code(result);
  // Where it runs on all hosts at once each of them drains its own. One that waits for another host says so itself.
  if (code == exit_ok && speaks_for_all())
    for (const OtherPool& other : other_pools(pool, directory))
      tell(fmt::format("cairn drain: {}\n", missing_text(directory, other)));
  if (json)
    print_json(drain_json(directory, result.drain));
  else if (code == exit_ok)
    print(finish_text(directory, result) +
          (lock.held() ? "" : "; a run is under way, so it stays covered") + "\n");
  if (code != exit_ok && !json) throw Error(code, finish_text(directory, result));
  if (code == exit_ok && result.ended == Ended::drained && !keep) leave_pool(pool, lock);
  return code;
}

int discard_command(const Config& config, bool json, const std::string& given, bool force) {
  const std::string directory = real_directory(given);
  const auto found = find_cover(config, directory);
  if (!found) return free_directory(json, directory, force);
  const std::string& path = *found;
  PlaceLock lock = lock_cover_now(path, directory);
  if (!lock.held()) fail("{}: a run is under way there", directory);
  Pool pool(path);
  uint64_t dropped = 0;
  uint64_t parts = 0;
  for (const CoverEntry& cover : list_covers(pool)) {
    if (cover.directory != directory) continue;
    dropped = cover.undrained_bytes;
    parts = cover.parts;
  }
  if (!processes_in_cover(pool, directory).empty() || !Cover::join(pool, directory).discard()) {
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
    print(fmt::format("{} discarded{}; {} holds what was drained and what was there before\n",
                      format_size(dropped),
                      parts == 0 ? ""
                                 : fmt::format(", with parts of {} {} that other nodes may hold "
                                               "parts of: these cannot be put together any more",
                                               parts, parts == 1 ? "file" : "files"),
                      directory));
  return exit_ok;
}

}  // namespace

void add_cover_commands(CLI::App& root, Context& context) {
  struct Arguments {
    std::string directory;
    bool keep = false;
    bool force = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* drain = add_command(
      root, context, "drain", "Write what a run left in memory to its directory.",
      "Finishes a run that was killed, or one with --drain never. Each file is written "
      "to a name aside, compared, and "
      "renamed: it appears complete or not at all. A file that was changed in DIR "
      "behind our back is not overwritten: both "
      "are kept, and that is an error. Safe to repeat after any interruption. While a "
      "run is under way, what is there now "
      "is written, and the run goes on.\n\n"
      "Files that several nodes write through MPI-IO are put together in DIR: each node "
      "writes the part that it holds, and the last one gives the file its name. As "
      "long as a node is missing, that is an error that names the node; run this "
      "command there. Started on all nodes at once (mpirun -n NODES, one on each), it waits "
      "for the others (drain.wait).");
  drain->add_option("DIR", arguments->directory, "The covered directory.")
      ->type_name("DIR")
      ->required();
  drain->add_flag("--keep", arguments->keep,
                  "Keep DIR covered, and the data in memory, for the next run.");
  drain->callback([&context, arguments] {
    context.action = [&context, arguments] {
      return drain_command(context.config, context.json, arguments->directory, arguments->keep);
    };
  });
  CLI::App* discard = add_command(
      root, context, "discard", "Drop what a run left in memory.",
      "The directory stays as it is, without what was not drained. Refused while processes "
      "work in it. A file that several nodes write, of which this one holds a part, cannot be put "
      "together any more: it is dropped on all of them.\n\n"
      "Where the pool itself is lost, removed by hand or with its node, the claim in DIR goes. A "
      "pool that "
      "is not found here may be on another host, or in another container: then --force is needed.");
  discard->add_option("DIR", arguments->directory, "The covered directory.")
      ->type_name("DIR")
      ->required();
  discard->add_flag("-f,--force", arguments->force,
                    "Also if the pool is not found here: you know that it is gone.");
  discard->callback([&context, arguments] {
    context.action = [&context, arguments] {
      return discard_command(context.config, context.json, arguments->directory, arguments->force);
    };
  });
}

}  // namespace cairn::cli
