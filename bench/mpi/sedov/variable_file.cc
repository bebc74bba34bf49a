#include "variable_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "../kernels/common/job.h"

namespace sedov {

void read_variable_files(State& into, const std::string& directory) {
  for (const Piece& piece : pieces_of(into)) {
    const std::string path = variable_path(directory, piece.name, into.rank);
    std::FILE* file = std::fopen(path.c_str(), "r");
    if (file == nullptr) kernels::fail(path, std::string("open failed: ") + std::strerror(errno));
    if (std::fread(piece.data, 1, piece.bytes, file) != piece.bytes)
      kernels::fail(path, "is shorter than " + std::to_string(piece.bytes) + " bytes");
    std::fclose(file);
  }
}

void remove_variable_files(State& state, const std::string& directory) {
  for (const Piece& piece : pieces_of(state))
    unlink(variable_path(directory, piece.name, state.rank).c_str());
  rmdir(directory.c_str());
}

}  // namespace sedov
