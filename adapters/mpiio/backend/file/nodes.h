// Files that several nodes write: the calls of cairn/adapter/shared.h, as the standard's calls need
// them.
#pragma once

#include <string>

#include "mpiio/backend/file/file.h"

namespace mpiio::nodes {

// Each returns a class of errors.

// Collective: opens `file.nodes`. `flags` and `mode` as for open(2).
int open(File& file, int flags, mode_t mode);
int close(File& file);
// By one process. MPI_ERR_NO_SUCH_FILE if there is no such file.
int remove(const std::string& path);
// By one process of a job on one node: a file of this name that an earlier job wrote on several
// nodes, if there is one, becomes an ordinary one, or is removed.
int make_plain(const std::string& path);
int remove_left(const std::string& path, bool* removed);

int size(const File& file, int64_t* bytes);
int set_size(const File& file, int64_t bytes);
int preallocate(const File& file, int64_t bytes);
int sync(const File& file);
// Collective: follows the hint and the atomic mode that the file has now.
int follow_visibility(File& file);

int add_to_pointer(const File& file, uint32_t which, int64_t etypes, int64_t* before);
int set_pointer(const File& file, uint32_t which, int64_t etypes);

int lock(const File& file);
int unlock(const File& file);
// Atomic mode: one access at a time.
template <typename Access>
int in_turn(const File& file, const Access& access) {
  if (const int code = lock(file); code != MPI_SUCCESS) return code;
  const int code = access();
  const int unlocked = unlock(file);
  return code != MPI_SUCCESS ? code : unlocked;
}

}  // namespace mpiio::nodes
