// The loader's list of the objects in this process, and their names.
#pragma once

#include <link.h>

#include <string>

namespace cairn::mpi {

// The first one; null: the loader does not tell.
const link_map* loaded_objects();
// What a library calls itself (its SONAME): its file may have been loaded by another name, as
// mpi4py does with libmpi.so. The file's name where it has none.
const char* own_name(const link_map& map);
// The last component of a path.
const char* base_name(const char* path);
// "DIR/cairn/NAME", DIR being the directory of the library that this code is in.
std::string beside_this_library(const char* name);

}  // namespace cairn::mpi
