// cairn status shows pools, the processes that are attached, covers, and what is not drained.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "commands/all_commands.h"
#include "commands/command.h"
#include "machine/probe_directory.h"
#include "pools/pool_handle.h"
#include "pools/pool_place.h"
#include "process/live_processes.h"
#include "runs/covers.h"
#include "runs/keeper.h"
#include "text/error.h"
#include "text/progress.h"
#include "text/units.h"

namespace cairn::cli {
namespace {

// Says what to do with data that no run is about to drain.
std::string how_to_go_on(const CoverEntry& cover) {
  if (cover.in_use || (cover.all_drained && !cover.is_cut_short())) return "";
  const std::string directory = printable(cover.directory);
  if (cover.is_cut_short())
    return fmt::format("the drain that began at {} was cut short: `cairn drain {}` goes on with it",
                       format_time(static_cast<int64_t>(cover.drain_begun_ns)), directory);
  return fmt::format(
      "no run is under way: `cairn drain {}` writes it to the directory, `cairn discard {}` drops "
      "it",
      directory, directory);
}

// Names files that are only in the pool. Outside a run, `rm` in the directory does not reach them.
void show_undrained(const Pool& pool, const CoverEntry& cover) {
  constexpr size_t most = 8;
  if (cover.in_use || cover.undrained_files == 0) return;
  for (const UndrainedFile& file : list_undrained(pool, cover.directory, most))
    print("    {} in the pool: {}, {}\n", file.is_older_there ? "newer" : "only", file.path,
          format_size(file.bytes));
  if (cover.undrained_files > most) print("    ... and {} more\n", cover.undrained_files - most);
  const std::string directory = printable(cover.directory);
  print(
      "    outside a run, `rm` does not reach what is in the pool: `cairn rm --at {} "
      "FILE` does\n",
      directory);
}

void show(const Pool& pool, const cairn_pool_info& info, const std::vector<cairn_lane_info>& lanes,
          const std::vector<CoverEntry>& covers) {
  print("pool {}: {} of {} used, {}{}\n", pool.name(), format_size(info.used),
        format_size(info.usable), info.medium,
        info.is_volatile != 0 ? " (nothing survives power loss)" : "");
  for (const CoverEntry& cover : covers) {
    print("  covers {}{}: {}\n", cover.directory, cover.job.empty() ? "" : ", job " + cover.job,
          undrained_text(cover));
    if (const auto keeper = look_at_keeper(pool, cover.directory))
      print("    process {} drains it in the background{}\n", keeper->pid,
            keeper->problem.empty() ? "" : ": " + keeper->problem);
    else if (const std::string text = how_to_go_on(cover); !text.empty())
      print("    {}\n", text);
    show_undrained(pool, cover);
    if (!answers_soon(cover.directory)) {
      print(
          "    its file system does not answer: nothing is drained, and what other nodes hold for "
          "it is unknown\n");
      continue;
    }
    for (const OtherPool& other : other_pools(pool, cover.directory))
      print("    also covered by node {}, pool {}{}: `cairn status` there shows what it holds\n",
            other.host, other.pool, other.job.empty() ? "" : ", job " + other.job);
  }
  for (const cairn_lane_info& lane : live(lanes))
    print("  process {} {}: {}{}\n", lane.pid, lane.command, lane_state(lane),
          lane.stopped != 0 ? "; it may block others" : "");
  if (live(lanes).empty()) print("  no process is attached\n");
  if (const std::string text = ended_text(lanes); !text.empty()) print("  {}\n", text);
}

Json keeper_json(const KeeperState& keeper) {
  return {{"pid", keeper.pid},
          {"drained_bytes", keeper.drained_bytes},
          {"problem", json_text(keeper.problem)}};
}

int status_command(const Config& config, bool json) {
  Json all = Json::array();
  bool any = false;
  for (const std::string& path : list_pools(config)) {
    any = true;
    try {
      const Pool pool(path, look_only);
      const cairn_pool_info info = pool.info();
      const auto lanes = pool.lanes();
      const auto covers = list_covers(pool);
      Json one = {{"name", json_text(pool.name())},
                  {"path", json_text(path)},
                  {"medium", info.medium},
                  {"volatile", info.is_volatile != 0},
                  {"usable_bytes", info.usable},
                  {"used_bytes", info.used},
                  {"undrained_bytes", undrained_bytes(covers)},
                  {"all_drained", all_drained(covers)},
                  {"processes", Json::array()},
                  {"processes_ended", lanes.size() - live(lanes).size()},
                  {"covers", Json::array()}};
      for (const auto& lane : live(lanes)) one["processes"].push_back(lane_json(lane));
      for (const auto& cover : covers) {
        Json entry = cover_json(cover);
        if (const auto keeper = look_at_keeper(pool, cover.directory))
          entry["keeper"] = keeper_json(*keeper);
        entry["answers"] = answers_soon(cover.directory);
        entry["others"] = Json::array();
        std::vector<OtherPool> others;
        if (entry["answers"] == true) others = other_pools(pool, cover.directory);
        for (const OtherPool& other : others)
          entry["others"].push_back({{"host", json_text(other.host)},
                                     {"pool", json_text(other.pool)},
                                     {"job", json_text(other.job)}});
        one["covers"].push_back(entry);
      }
      all.push_back(one);
      if (!json) show(pool, info, lanes, covers);
    } catch (const Error& error) {
      all.push_back({{"name", json_text(pool_name_of(path))},
                     {"path", json_text(path)},
                     {"error", json_text(error.what())}});
      if (!json) print("pool {}: {}\n", pool_name_of(path), error.what());
    }
  }
  const std::string of_other = any ? "" : pools_of_other(config);
  if (!of_other.empty()) tell("cairn status: {}\n", of_other);
  if (json)
    print_json(all);
  else if (!any && of_other.empty())
    print("no pools, nothing is covered\n");
  return exit_ok;
}

// The state of a cover a moment ago, from which the rate is computed.
struct Before {
  uint64_t drained_bytes = 0;
  std::chrono::steady_clock::time_point at;
};

// "DIR: 3 MiB in 2 files not drained (oldest: out/a, 12 s), 200 MiB/s, 1 s left"
std::string follow_text(const CoverEntry& cover, const std::optional<KeeperState>& keeper,
                        const Before& before, std::chrono::steady_clock::time_point now) {
  std::string text = fmt::format("{}: {}", printable(cover.directory), undrained_text(cover));
  if (!cover.oldest.empty())
    text += fmt::format(" (oldest: {}, {})", printable(cover.oldest),
                        format_duration(age_of_oldest(cover)));
  if (!keeper) return text + (cover.in_use ? ", a run is under way" : "");
  const double seconds = std::chrono::duration<double>(now - before.at).count();
  const uint64_t done =
      keeper->drained_bytes - std::min(before.drained_bytes, keeper->drained_bytes);
  if (before.drained_bytes != 0 && done != 0) {
    text += ", " + format_rate(done, seconds);
    if (cover.undrained_bytes != 0)
      text += fmt::format(", {} left",
                          format_duration(seconds * static_cast<double>(cover.undrained_bytes) /
                                          static_cast<double>(done)));
  }
  if (!keeper->problem.empty()) text += "; " + printable(keeper->problem);
  return text;
}

// cairn status --follow prints a line a second for each cover, until no process is about to drain.
int follow_command(const Config& config, bool json) {
  const StopOnSignal stop;
  std::map<std::string, Before> before;
  while (stop_signal() == 0) {
    bool goes_on = false;
    for (const std::string& path : list_pools(config)) {
      try {
        const Pool pool(path, look_only);
        for (const CoverEntry& cover : list_covers(pool)) {
          const auto keeper = look_at_keeper(pool, cover.directory);
          goes_on = goes_on || keeper || cover.in_use;
          const auto now = std::chrono::steady_clock::now();
          Json entry = cover_json(cover);
          if (keeper) entry["keeper"] = keeper_json(*keeper);
          print("{}\n",
                json ? json_line(entry) : follow_text(cover, keeper, before[cover.directory], now));
          before[cover.directory] = {keeper ? keeper->drained_bytes : 0, now};
        }
      } catch (const Error&) {
        if (access(path.c_str(), F_OK) == 0) throw;  // else its last user has removed it
      }
    }
    std::fflush(stdout);
    if (!goes_on) return exit_ok;
    for (int i = 0; i < 10 && stop_signal() == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return exit_signal + stop_signal();
}

}  // namespace

void add_status_command(CLI::App& root, Context& context) {
  CLI::App* status = add_command(
      root, context, "status", "Show pools, covered directories, and the processes that use them.",
      "For each pool, the command shows its space, covered directories with job and undrained "
      "bytes, and attached processes (alive, stopped). It counts the processes that have ended and "
      "left a lane to clean up. Where no run is under way, the command says how to continue with "
      "undrained data, and whether a drain was cut short. It also lists the first files that are "
      "only in the pool, or newer there than in the directory. `rm` in the directory does not "
      "reach those files; `cairn rm --at DIR` does.");
  auto follow = std::make_shared<bool>(false);
  status->add_flag(
      "--follow", *follow,
      "Print a line a second for each covered directory: what is not drained, the oldest such "
      "file and how long ago it changed, how fast it is drained, and the time left. Ends when no "
      "run and no background drain is "
      "left.");
  status->callback([&context, follow] {
    context.action = [&context, follow] {
      return *follow ? follow_command(context.config, context.json)
                     : status_command(context.config, context.json);
    };
  });
}

}  // namespace cairn::cli
