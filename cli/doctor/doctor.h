// The checks of `cairn doctor`; each gives findings.
#pragma once

#include <string>
#include <vector>

#include "frame/config.h"

namespace cairn::cli {

enum class Level { fine, note, warning, wrong };

struct Finding {
  Level level = Level::fine;
  std::string topic;
  std::string text;
};
using Findings = std::vector<Finding>;

std::string level_text(Level level);

// Checks pool directory, memory and cgroup, huge pages, programs that remove files, devices, CPU,
// preloading and MPI.
Findings look_at_environment(const Config& config);
void look_at_mpi(Findings& all);
// Checks if, and how far, the preloaded library can serve a program.
Findings look_at_program(const std::string& program);

}  // namespace cairn::cli
