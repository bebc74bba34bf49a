// Writing and verifying a whole file of particles, for vpic and for the input of bdcats.
#pragma once

#include <string>
#include <vector>

#include "common/pattern.h"
#include "parts/particle_file.h"

namespace kernels {

// A rank's part of all particles. The last rank takes the remainder, as in BD-CATS-IO.
struct Part {
  int64_t first = 0;
  int64_t count = 0;
};
Part part_of(int rank, int64_t total);

// The values of all variables of a part, variable by variable.
std::vector<std::vector<char>> make_particles(const Part& part, int64_t total);

// Writes a file as vpic does. Collective, untimed.
void write_particles(const ParticleAccess& access, const std::string& path, int64_t total);

// Every rank compares the part of the rank after it. Collective.
Check check_particles(const ParticleAccess& access, const std::string& path, int repetition);

}  // namespace kernels
