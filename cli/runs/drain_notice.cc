#include "runs/drain_notice.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "process/launcher.h"
#include "text/output.h"
#include "text/progress.h"
#include "text/units.h"

namespace cairn::cli {
namespace {

using namespace std::chrono_literals;

// So many bytes take a while to drain. Each run of a rank prints a line then, because any rank may
// abort the job.
constexpr uint64_t much = 64 << 20;

bool is_in_danger(const CoverEntry& cover, bool program_failed) {
  if (program_failed) return is_rank() || !launcher_job().empty();
  return is_rank() && cover.undrained_bytes >= much;
}

std::string line_of(const CoverEntry& cover) {
  std::string what = "names and attributes";
  if (const uint64_t files = cover.undrained_files + cover.parts; files != 0)
    what = fmt::format("{} in {}", format_size(cover.undrained_bytes), files_text(files));
  return fmt::format(
      "cairn run: draining {} to {}; if this is cut short, `cairn drain {}` goes on with it", what,
      cover.directory, cover.directory);
}

// In the place of a progress bar.
void show_notice(const std::string& line) {
  if (isatty(STDERR_FILENO) == 1) clear_line();
  note(line);
}

}  // namespace

void DrainNotice::begin(const CoverEntry& cover) {
  if (reported_ || cover.all_drained) return;
  line_ = line_of(cover);
  if (is_in_danger(cover, program_failed_)) {
    show_notice(line_);
    reported_ = true;
    return;
  }
  over_ = false;
  // The thread that drains handles signals.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  watcher_ = std::thread([this] { watch(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void DrainNotice::end() {
  if (!watcher_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  watcher_.join();
}

void DrainNotice::watch() {
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, 50ms, [this] { return over_; })) {
    if (stop_signal() == 0 && std::chrono::steady_clock::now() - start < 2s) continue;
    show_notice(line_);
    reported_ = true;
    return;
  }
}

}  // namespace cairn::cli
