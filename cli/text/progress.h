// Progress shows a bar on stderr, if a person waits at a terminal, and once something has taken
// half a second.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace cairn::cli {

class Progress {
 public:
  // `unit_bytes`: the bytes of one step of done and total; 0 if they do not count bytes.
  explicit Progress(std::string label, uint64_t unit_bytes = 1);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(uint64_t done, uint64_t total);
  // Takes the bar away, so that a line can be printed in its place.
  void hide();
  [[nodiscard]] double seconds() const;

  // A cairn_progress whose context is a Progress. Returns nonzero once a signal asked us to stop.
  static int callback(void* progress, uint64_t done, uint64_t total);

  // The text of the bar for a terminal of `columns`, without the leading carriage return.
  static std::string line(const std::string& label, uint64_t done, uint64_t total,
                          uint64_t unit_bytes, double seconds, unsigned columns);

 private:
  std::string label_;
  uint64_t unit_bytes_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point shown_;
  bool terminal_;
  bool visible_ = false;
};

// Until the object goes, SIGINT, SIGTERM and SIGHUP, unless ignored, do not end the process but
// make stop_signal() their number.
class StopOnSignal {
 public:
  StopOnSignal();
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;
};
// 0, or the signal that asked to stop.
int stop_signal();

}  // namespace cairn::cli
