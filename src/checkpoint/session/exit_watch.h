// ExitWatch: says why a job should end soon: a signal, its end time, or a file.
#pragma once

#include <cstdint>
#include <string>

namespace cairn::checkpoint {

struct ExitOutlook;

class ExitWatch {
 public:
  struct Options {
    bool watches_signals = false;
    uint64_t end_time_ns = 0;  // since 1970; 0: that of Slurm, if it says one
    std::string halt_file;     // empty: none
    uint64_t margin_ns = 0;    // time that the program needs besides a last checkpoint
    uint64_t mtbf_ns = 0;      // mean time between failures of the job; 0: unknown
  };
  enum Reason : uint32_t { none = 0, signal = 1, time = 2, halt_file = 3 };

  // If signals are watched, SIGTERM, SIGUSR1 and SIGUSR2 no longer end the process; handlers that
  // the program has are called, too.
  explicit ExitWatch(Options options);

  // Returns the reason of this process. `cost_ns`: the time that a checkpoint takes.
  [[nodiscard]] Reason look(uint64_t cost_ns) const;
  // Describes the reason on which all ranks have agreed.
  [[nodiscard]] ExitOutlook outlook(Reason reason, uint64_t cost_ns) const;
  // Returns the number of the signal that came; 0: none did.
  [[nodiscard]] static int signal_number();

 private:
  // Returns the time until the end of the job; UINT64_MAX: unknown.
  [[nodiscard]] uint64_t left_ns() const;

  Options options_;
};

struct ExitOutlook {
  ExitWatch::Reason reason = ExitWatch::none;
  int signal = 0;            // that came to this process; 0: none
  uint64_t left_ns = 0;      // until the end of the job; UINT64_MAX: unknown
  uint64_t cost_ns = 0;      // of a checkpoint; 0: unknown
  uint64_t interval_ns = 0;  // optimal_interval.h; 0: unknown
  std::string text;          // the reason, or ""
};

}  // namespace cairn::checkpoint
