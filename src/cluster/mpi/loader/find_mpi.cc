#include "cluster/mpi/loader/find_mpi.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <cstring>
#include <mutex>

#include "cluster/mpi/loader/loaded_objects.h"

namespace cairn::mpi {
namespace {

// The name of its library says which ABI an MPI means to have, its own word whether it is one that
// was tried.
struct KnownMpi {
  const char* library;  // how its file's name starts
  const char* says;     // MPI_Get_library_version, somewhere
  const char* abi;
};
constexpr KnownMpi known[] = {
    {"libmpi_abi.so.", "", "mpiabi"},   {"libmpi.so.40", "Open MPI", "openmpi"},
    {"libmpi.so.12", "MPICH", "mpich"}, {"libmpich.so.12", "MPICH", "mpich"},
    {"libmpi.so.20", "", nullptr},
};

// No MPI says more: it is the highest MPI_MAX_LIBRARY_VERSION_STRING there is.
char says[8192];
LoadedMpi found;

bool open_mpi(const char* path) {
  found.handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
  if (found.handle == nullptr) return false;
  found.says = says;
  auto ask = reinterpret_cast<int (*)(char*, int*)>(dlsym(found.handle, "MPI_Get_library_version"));
  int length = 0;
  if (ask != nullptr) ask(says, &length);
  return true;
}

}  // namespace

// An MPI of the standard ABI that rests on another MPI comes before that one in the list.
const LoadedMpi& find_mpi() {
  static std::mutex finding;
  const std::lock_guard guard(finding);
  for (const link_map* map = found.handle == nullptr ? loaded_objects() : nullptr; map != nullptr;
       map = map->l_next) {
    const char* file = own_name(*map);
    for (const KnownMpi& one : known) {
      if (std::strncmp(file, one.library, std::strlen(one.library)) != 0 || !open_mpi(map->l_name))
        continue;
      if (std::strstr(says, one.says) != nullptr) found.abi = one.abi;
      return found;
    }
  }
  return found;
}

}  // namespace cairn::mpi
