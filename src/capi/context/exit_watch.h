// ExitWatch: why a job should end soon: signals, its end time, a file.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace cairn::capi {

class ExitWatch {
 public:
  struct Options {
    bool watches_signals = false;
    uint64_t end_time_ns = 0;  // since 1970; 0: that of Slurm, if it says one
    std::string halt_file;     // empty: none
  };
  enum Reason : uint32_t { none = 0, signal = 1, time = 2, halt_file = 3 };

  // If signals are watched, SIGTERM, SIGUSR1 and SIGUSR2 no longer end the process; handlers that
  // the program has are called, too.
  explicit ExitWatch(Options options);

  // `needed_ns`: how long what is still to be done takes.
  [[nodiscard]] Reason look(uint64_t needed_ns) const;
  // The signal that came; 0: none.
  [[nodiscard]] static int signal_number();
  // Until the end of the job; UINT64_MAX: nobody says when that is.
  [[nodiscard]] uint64_t left_ns() const;

 private:
  Options options_;
};

}  // namespace cairn::capi
