// Histories: each prepares a pool, then does a few operations whose crashes are looked at.
#pragma once

#include <vector>

#include "crash/crash_lab.h"

namespace cairn::test {

struct History {
  const char* name;
  int processes;
  void (*prepare)(CrashLab& lab);
  void (*run)(CrashLab& lab);
};

// All of them: those below, in this order.
const std::vector<History>& all_histories();

std::vector<History> histories_of_names();
std::vector<History> histories_of_bytes();
std::vector<History> histories_of_inodes();
std::vector<History> histories_of_crowds();
std::vector<History> histories_of_processes();
std::vector<History> histories_of_detach();
std::vector<History> histories_of_tiers();

}  // namespace cairn::test
