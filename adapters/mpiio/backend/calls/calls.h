// The calls as they come from the program (calls.def): each serves a Cairn file or calls the MPI.
#pragma once

#include "mpiio/backend/base/handlers.h"
#include "mpiio/backend/base/real.h"
#include "mpiio/backend/file/file.h"

namespace mpiio {

// Returns true if the name leads to a covered file; `*path` then opens a descriptor of it.
bool is_covered(const char* filename, std::string* path);

// The calls on Cairn's files, with counts of any size. Each returns an error class; the caller
// passes it to the file's error handler. A call on a file has the file before its own parameters.
namespace serve {
int File_open(MPI_Comm comm, const std::string& path, int amode, MPI_Info info, MPI_File* opened);
int File_close(File& file, MPI_File* closed);
int File_delete(const std::string& path);

#define LIST(...) __VA_ARGS__
#define PLAIN(name, parameters, arguments)
#define CALL(name, parameters, arguments) int name(File& file, LIST parameters);
#define LARGE CALL
#define SMALL PLAIN
#include "mpiio/calls.def"
#undef LIST
#undef PLAIN
#undef CALL
#undef LARGE
#undef SMALL

template <typename Extent>  // MPI_Aint, where that is not MPI_Count
int File_get_type_extent(File& file, MPI_File fh, MPI_Datatype datatype, Extent* extent) {
  MPI_Count bytes = 0;
  const int code = File_get_type_extent(file, fh, datatype, &bytes);
  *extent = static_cast<Extent>(bytes);
  return code;
}
}  // namespace serve

}  // namespace mpiio
