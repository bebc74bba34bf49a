// Histories: each prepares a pool, then does a few operations whose crashes are looked at.
#pragma once

#include <string>
#include <vector>

#include "crash/crash_lab.h"

namespace cairn::test {

struct History {
  const char* name;
  int processes;
  void (*prepare)(CrashLab& lab);
  void (*run)(CrashLab& lab);
};

const std::vector<History>& all_histories();

// Runs one; "" or what was wrong. `images` is counted up.
std::string try_power_losses(const History& history, const LabOptions& options, uint64_t* images);
std::string try_kills(const History& history, const LabOptions& options, uint64_t* images);

}  // namespace cairn::test
