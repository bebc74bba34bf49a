// The file of one variable of one rank: DIRECTORY/NAME.RANK.
#pragma once

#include <string>

#include "pieces.h"

namespace sedov {

inline std::string variable_path(const std::string& directory, const std::string& name, int rank) {
  return directory + "/" + name + "." + std::to_string(rank);
}

// Reads the variables of `into`'s rank. An error ends the job.
void read_variable_files(State& into, const std::string& directory);
void remove_variable_files(State& state, const std::string& directory);

}  // namespace sedov
