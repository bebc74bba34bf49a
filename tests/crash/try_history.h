// Runs a history in a laboratory of its own, and crashes it everywhere.
#pragma once

#include <string>

#include "crash/histories.h"

namespace cairn::test {

// "" or what was wrong. `images` is counted up.
std::string try_power_losses(const History& history, const LabOptions& options, uint64_t* images);
std::string try_kills(const History& history, const LabOptions& options, uint64_t* images);

}  // namespace cairn::test
