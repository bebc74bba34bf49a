// The shared file pointer: in memory that the ranks map, or kept by a node's server where they are
// on several nodes.
#pragma once

#include "mpiio/backend/file/file.h"
#include "mpiio/backend/file/nodes.h"

namespace mpiio {

// Each a class of errors. That of the view in force:
inline int add_to_shared_pointer(File& file, int64_t etypes, int64_t* before) {
  if (file.shared == nullptr) [[unlikely]]
    return nodes::add_to_pointer(file, file.views % 3, etypes, before);
  *before = file.shared->pointers[file.views % 3].fetch_add(etypes);
  return MPI_SUCCESS;
}
inline int read_shared_pointer(File& file, int64_t* etypes) {
  return add_to_shared_pointer(file, 0, etypes);
}
// Of the view in force, or of the one after it (1).
inline int set_shared_pointer(File& file, int64_t etypes, uint32_t later = 0) {
  if (file.shared == nullptr) [[unlikely]]
    return nodes::set_pointer(file, (file.views + later) % 3, etypes);
  file.shared->pointers[(file.views + later) % 3] = etypes;
  return MPI_SUCCESS;
}

}  // namespace mpiio
