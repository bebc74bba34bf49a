#include "text/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>

#include "text/output.h"
#include "text/units.h"

namespace cairn::cli {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic<int> stopped_by = 0;  // another thread reads it too (drain_notice.h)
static_assert(std::atomic<int>::is_always_lock_free);
constexpr std::array stops = {SIGINT, SIGTERM, SIGHUP};
std::array<struct sigaction, stops.size()> before_stops;

void on_stop(int number) { stopped_by = number; }

unsigned terminal_columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return 80;
  return size.ws_col;
}

}  // namespace

Progress::Progress(std::string label, uint64_t unit_bytes)
    : label_(std::move(label)),
      unit_bytes_(unit_bytes),
      start_(Clock::now()),
      shown_(start_),
      terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { hide(); }

double Progress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void Progress::hide() {
  if (visible_) clear_line();
  visible_ = false;
}

void Progress::show(uint64_t done, uint64_t total) {
  const auto now = Clock::now();
  if (!terminal_ || now - start_ < std::chrono::milliseconds(500)) return;
  if (visible_ && now - shown_ < std::chrono::milliseconds(100)) return;
  shown_ = now;
  visible_ = true;
  show_over(line(label_, done, total, unit_bytes_, seconds(), terminal_columns()));
}

int Progress::callback(void* progress, uint64_t done, uint64_t total) {
  static_cast<Progress*>(progress)->show(done, total);
  return stop_signal() == 0 ? 0 : 1;
}

std::string Progress::line(const std::string& label, uint64_t done, uint64_t total,
                           uint64_t unit_bytes, double seconds, unsigned columns) {
  const double share =
      total == 0 ? 1.0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  std::string numbers = fmt::format(" {:3.0f}%", share * 100);
  if (unit_bytes != 0)
    numbers +=
        fmt::format("  {} of {}  {}", format_size(done * unit_bytes),
                    format_size(total * unit_bytes), format_rate(done * unit_bytes, seconds));
  if (share > 0.01 && share < 1)
    numbers += "  " + format_duration(seconds / share - seconds) + " left";
  // Leaves the last column free, because some terminals wrap when it is written.
  const size_t taken = label.size() + numbers.size() + 4;
  if (taken + 5 > columns) return (label + numbers).substr(0, columns - 1);
  const size_t width = std::min<size_t>(40, columns - taken);
  const auto filled = static_cast<size_t>(share * static_cast<double>(width));
  return label + " [" + std::string(filled, '#') + std::string(width - filled, '.') + "]" + numbers;
}

StopOnSignal::StopOnSignal() {
  stopped_by = 0;
  struct sigaction action {};
  action.sa_handler = on_stop;
  for (size_t i = 0; i < stops.size(); ++i) {
    sigaction(stops[i], nullptr, &before_stops[i]);
    if (before_stops[i].sa_handler != SIG_IGN) sigaction(stops[i], &action, nullptr);
  }
}

StopOnSignal::~StopOnSignal() {
  for (size_t i = 0; i < stops.size(); ++i) sigaction(stops[i], &before_stops[i], nullptr);
}

int stop_signal() { return stopped_by; }

}  // namespace cairn::cli
