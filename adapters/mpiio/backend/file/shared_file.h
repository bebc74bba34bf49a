// SharedFile: adapts cairn/adapter/shared.h, for files that several nodes write, to the standard's
// calls.
#pragma once

#include <string>

#include "mpiio/backend/file/file.h"

namespace mpiio::shared_file {

// All functions return an error class.

// Collective: opens `file.shared_file`. `flags` and `mode` as for open(2).
int open(File& file, int flags, mode_t mode);
int close(File& file);
// Removes a file. One process calls it. Returns MPI_ERR_NO_SUCH_FILE if there is none.
int remove(const std::string& path);
// These handle a file of this name that an earlier job wrote on several nodes: it becomes an
// ordinary file, or is removed. One process of a job on one node calls them.
int make_plain(const std::string& path);
int remove_left(const std::string& path, bool* removed);

int size(const File& file, int64_t* bytes);
int set_size(const File& file, int64_t bytes);
int preallocate(const File& file, int64_t bytes);
int sync(const File& file);
// Collective: applies the file's current hint and atomic mode.
int follow_visibility(File& file);

int add_to_pointer(const File& file, uint32_t which, int64_t etypes, int64_t* before);
int set_pointer(const File& file, uint32_t which, int64_t etypes);

int lock(const File& file);
int unlock(const File& file);
// Runs an access in atomic mode: one at a time.
template <typename Access>
int in_turn(const File& file, const Access& access) {
  if (const int code = lock(file); code != MPI_SUCCESS) return code;
  const int code = access();
  const int unlocked = unlock(file);
  return code != MPI_SUCCESS ? code : unlocked;
}

}  // namespace mpiio::shared_file
