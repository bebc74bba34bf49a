#include "runs/finish_run.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>

#include "process/launcher.h"
#include "runs/cover_processes.h"
#include "text/error.h"
#include "text/output.h"
#include "text/progress.h"

namespace cairn::cli {
namespace {

using namespace std::chrono_literals;

std::string who(const std::vector<cairn_lane_info>& processes) {
  std::string text;
  for (const cairn_lane_info& lane : processes)
    text += fmt::format("{}{} ({}{})", text.empty() ? "" : ", ", lane.pid, printable(lane.command),
                        lane.lane == not_attached ? ", started by a run there, has not used it yet"
                        : lane.stopped != 0       ? ", stopped"
                                                  : "");
  return text;
}

// Waits until no other process uses the cover. False: a signal ended the wait.
bool wait_until_alone(const Pool& pool, const std::string& directory) {
  const auto start = std::chrono::steady_clock::now();
  bool reported = false;
  for (auto pause = 5ms;; pause = std::min(pause * 2, 200ms)) {
    const auto processes = processes_in_cover(pool, directory);
    if (processes.empty()) return true;
    if (stop_signal() != 0) return false;
    if (!reported && std::chrono::steady_clock::now() - start > 2s) {
      reported = true;
      tell("cairn run: waiting for processes that still use {}: {}\n", directory, who(processes));
    }
    std::this_thread::sleep_for(pause);
  }
}

// Waits for other nodes of the job.
class Patience {
 public:
  // All processes of a launcher wait for the same nodes; the first one prints that.
  Patience(std::chrono::seconds most, const char* command)
      : most_(most), command_(command), tells_(is_first_rank()) {}
  // False: nothing has changed for too long.
  bool goes_on(const Cover::DrainResult& drain) {
    const auto now = std::chrono::steady_clock::now();
    if (drain.error != last_) {
      last_ = drain.error;
      since_ = now;
    }
    if (now - since_ >= most_) return false;
    if (!reported_ && now - begun_ > 3s) {
      reported_ = true;
      if (tells_) tell("cairn {}: {}, or wait until its run ends\n", command_, drain.error);
    }
    return true;
  }

 private:
  std::chrono::seconds most_;
  const char* command_;
  bool tells_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point since_ = begun_;
  std::string last_;
  bool reported_ = false;
};

// Were all undrained files changed at a time that is still to come?
bool is_ahead_of_the_clock(const Pool& pool, const std::string& directory) {
  const auto entry = cover_of(pool, directory);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return entry && entry->undrained_files != 0 &&
         std::chrono::nanoseconds(entry->oldest_changed_ns) > now;
}

FinishResult finish(Pool& pool, const std::string& directory, bool wait, bool end,
                    std::chrono::seconds for_others, DrainNotice* notice) {
  constexpr int most_tries = 3;
  constexpr int patient_tries = 100;
  FinishResult result;
  Patience patience(for_others, wait ? "run" : "drain");
  int tries = 0;
  for (auto pause = 5ms;; pause = std::min(pause * 2, 200ms)) {
    if (wait && !wait_until_alone(pool, directory)) {
      result.ended = Ended::interrupted;
      return result;
    }
    std::optional<CoverEntry> found;
    for (const CoverEntry& entry : list_covers(pool))
      if (entry.directory == directory) found = entry;
    if (!found) {
      // On the first round: another process has ended the cover. Later only this process ends it.
      result.ended = Ended::gone;
      return result;
    }
    struct stat st {};
    if (stat(directory.c_str(), &st) != 0 || !S_ISDIR(st.st_mode)) {
      if (found->all_drained && end && Cover::join_kept(pool, directory).discard()) return result;
      result.ended = Ended::failed;
      result.drain.code = -ESTALE;
      result.drain.error = fmt::format("{}: the covered directory is gone", directory);
      return result;
    }
    Cover cover = Cover::join(pool, directory);
    if (notice != nullptr) notice->begin(*found);
    Cover::DrainResult drain = cover.drain();
    if (notice != nullptr) notice->end();
    result.drain.left_out = found->left_out;
    result.drain.kept_back = found->kept_back;
    result.drain.kept_back_by = found->kept_back_by;
    result.drain.code = drain.code;
    result.drain.error = drain.error;
    result.drain.seconds += drain.seconds;
    result.drain.report.files += drain.report.files;
    result.drain.report.bytes += drain.report.bytes;
    result.drain.report.removed += drain.report.removed;
    result.drain.report.directories += drain.report.directories;
    result.drain.report.conflicts = drain.report.conflicts;
    result.drain.report.failed = drain.report.failed;
    result.drain.report.waiting = drain.report.waiting;
    if (drain.code == -ECANCELED || stop_signal() != 0) {
      result.ended = Ended::interrupted;
      return result;
    }
    if (drain.code == -EAGAIN) {
      if (!wait && !processes_in_cover(pool, directory).empty()) {
        result.drain.code = 0;  // other processes still use the cover, and drain later
        if (end) result.ended = Ended::in_use;
        return result;
      }
      if (!patience.goes_on(drain)) {
        result.ended = Ended::waiting;
        return result;
      }
      std::this_thread::sleep_for(pause * 5);
      continue;
    }
    if (drain.code < 0) {
      result.ended = Ended::failed;
      return result;
    }
    const bool alone = wait || processes_in_cover(pool, directory).empty();
    if (!end) return result;
    if (alone) {
      // The clock was set back: a file with a time in the future never counts as drained.
      const bool is_vain = ++tries >= most_tries && is_ahead_of_the_clock(pool, directory);
      if (is_vain ? cover.discard() : cover.end()) return result;
    }
    if (tries >= patient_tries || (!wait && (!alone || tries >= most_tries))) {
      result.ended = Ended::in_use;
      return result;
    }
    std::this_thread::sleep_for(pause);  // a process has joined the cover meanwhile
  }
}

}  // namespace

std::chrono::seconds wait_for_others(const Config& config) {
  return std::chrono::seconds(std::stol(config.value("drain.wait")));
}

FinishResult finish_cover(Pool& pool, const std::string& directory, bool wait, bool end,
                          std::chrono::seconds for_others, DrainNotice* notice) {
  FinishResult result = finish(pool, directory, wait, end, for_others, notice);
  if (result.ended != Ended::in_use) tell_kept_back(directory, result.drain);
  return result;
}

std::string finish_text(const std::string& directory, const FinishResult& result) {
  switch (result.ended) {
    case Ended::drained:
      return drain_text(directory, result.drain);
    case Ended::gone:
      return fmt::format("{} was drained by another run of the same job", directory);
    case Ended::in_use:
      return drain_text(directory, result.drain) + "; processes still use it, so it stays covered";
    case Ended::waiting:
      return fmt::format("{}; this node's parts are already in {}, and stay in its pool until then",
                         result.drain.error, directory);
    case Ended::failed:
      if (result.drain.code == -ESTALE)
        return fmt::format("{}; what was not drained stays in the pool: {}", result.drain.error,
                           how_to_rescue(directory));
      return fmt::format(
          "{}; {}; the rest is still in the pool: `cairn drain {}` tries again, `cairn discard {}` "
          "drops it",
          result.drain.error, drain_text(directory, result.drain), directory, directory);
    case Ended::interrupted:
      return fmt::format(
          "interrupted; what is not drained is still in the pool: `cairn drain {}` goes on",
          directory);
  }
  return "";
}

int finish_code(const FinishResult& result) {
  if (result.ended == Ended::interrupted) return exit_signal + stop_signal();
  const bool is_whole = result.ended != Ended::failed && result.ended != Ended::waiting;
  return is_whole ? exit_ok : exit_failed;
}

}  // namespace cairn::cli
