// The time that running a program costs.
#pragma once

namespace cairn::bench {

struct ProgramRun {
  int status;  // as wait(2) gives it
  double time_ns;  // its processor time with that of all it waited for, from before its exec to its
                   // end
};

// Runs arguments[0] with the environment as it is, or without the adapter. By system call: what
// starts here must not be led through the adapter.
ProgramRun run_program(const char* const arguments[], bool preloaded);

}  // namespace cairn::bench
