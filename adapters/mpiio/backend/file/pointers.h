// The shared file pointer: it lies in memory that the ranks map, or on a node's server if they are
// on several nodes.
#pragma once

#include "mpiio/backend/file/file.h"
#include "mpiio/backend/file/shared_file.h"

namespace mpiio {

// Both functions return an error class. This one adds to the pointer of the current view.
inline int add_to_shared_pointer(File& file, int64_t etypes, int64_t* before) {
  if (file.shared == nullptr) [[unlikely]]
    return shared_file::add_to_pointer(file, file.views % 3, etypes, before);
  *before = file.shared->pointers[file.views % 3].fetch_add(etypes);
  return MPI_SUCCESS;
}
inline int read_shared_pointer(File& file, int64_t* etypes) {
  return add_to_shared_pointer(file, 0, etypes);
}
// Sets the pointer of the current view, or of the one after it (`later` 1).
inline int set_shared_pointer(File& file, int64_t etypes, uint32_t later = 0) {
  if (file.shared == nullptr) [[unlikely]]
    return shared_file::set_pointer(file, (file.views + later) % 3, etypes);
  file.shared->pointers[(file.views + later) % 3] = etypes;
  return MPI_SUCCESS;
}

}  // namespace mpiio
