#include "checkpoint/session/exit_watch.h"

#include <fcntl.h>
#include <signal.h>  // NOLINT: sigaction
#include <unistd.h>

#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "base/coarse_clock.h"
#include "checkpoint/run/excused_restart.h"
#include "checkpoint/run/optimal_interval.h"

namespace cairn::checkpoint {
namespace {

constexpr std::array watched = {SIGTERM, SIGUSR1, SIGUSR2};
std::atomic<int> came = 0;
static_assert(std::atomic<int>::is_always_lock_free);
std::array<struct sigaction, watched.size()> before;
std::atomic<bool> is_watching = false;

void on_signal(int number, siginfo_t* info, void* context) {
  came.store(number, std::memory_order_relaxed);
  const int error = errno;
  if (number == SIGTERM) ExcusedRestart::note_signal();
  for (size_t i = 0; i < watched.size(); ++i) {
    if (watched[i] != number) continue;
    if ((before[i].sa_flags & SA_SIGINFO) != 0) {
      before[i].sa_sigaction(number, info, context);
    } else if (before[i].sa_handler != SIG_DFL && before[i].sa_handler != SIG_IGN) {
      before[i].sa_handler(number);
    }
  }
  errno = error;
}

// Installs the handlers once in a process: all watches share the signals.
void watch_signals() {
  if (is_watching.exchange(true)) return;
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < watched.size(); ++i) sigaction(watched[i], nullptr, &before[i]);
  for (const int number : watched) sigaction(number, &action, nullptr);
}

constexpr uint64_t ns_of_s = 1'000'000'000;

// A last checkpoint may take longer than the ones before, and the program ends after it.
constexpr uint64_t margin_num = 3;
constexpr uint64_t margin_den = 2;

std::string shown_time(uint64_t left_ns, uint64_t cost_ns) {
  char text[256];
  std::snprintf(text, sizeof text, "%.0f s are left, a checkpoint takes %.1f s",
                static_cast<double>(left_ns) / ns_of_s, static_cast<double>(cost_ns) / ns_of_s);
  return text;
}

uint64_t end_time_of_slurm() {
  const char* const text = std::getenv("SLURM_JOB_END_TIME");
  if (text == nullptr) return 0;
  char* end = nullptr;
  const unsigned long long seconds = std::strtoull(text, &end, 10);
  const bool is_number = std::isdigit(static_cast<unsigned char>(*text)) != 0 && *end == 0;
  return is_number && seconds <= UINT64_MAX / ns_of_s ? seconds * ns_of_s : 0;
}

}  // namespace

ExitWatch::ExitWatch(Options options) : options_(std::move(options)) {
  if (options_.end_time_ns == 0) options_.end_time_ns = end_time_of_slurm();
  if (options_.watches_signals) watch_signals();
}

int ExitWatch::signal_number() { return came.load(std::memory_order_relaxed); }

uint64_t ExitWatch::left_ns() const {
  if (options_.end_time_ns == 0) return UINT64_MAX;
  const uint64_t now = fine_now_ns();
  return now >= options_.end_time_ns ? 0 : options_.end_time_ns - now;
}

ExitWatch::Reason ExitWatch::look(uint64_t cost_ns) const {
  if (options_.watches_signals && signal_number() != 0) return signal;
  const uint64_t needed_ns = cost_ns * margin_num / margin_den + options_.margin_ns;
  if (left_ns() != UINT64_MAX && left_ns() <= needed_ns) return time;
  if (!options_.halt_file.empty() && access(options_.halt_file.c_str(), F_OK) == 0)
    return halt_file;
  return none;
}

ExitOutlook ExitWatch::outlook(Reason reason, uint64_t cost_ns) const {
  const uint64_t interval_ns = advised_interval_ns(cost_ns, options_.mtbf_ns);
  ExitOutlook seen{reason, signal_number(), left_ns(), cost_ns, interval_ns, ""};
  if (reason == signal)
    seen.text = seen.signal != 0 ? "signal " + std::to_string(seen.signal) + " came"
                                 : "a signal came to another rank";
  if (reason == time) seen.text = shown_time(seen.left_ns, cost_ns);
  if (reason == halt_file) seen.text = "the halt file is there";
  return seen;
}

}  // namespace cairn::checkpoint
