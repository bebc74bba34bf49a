#include "cluster/mpi/loader/loaded_objects.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstring>

namespace cairn::mpi {

const link_map* loaded_objects() {
  link_map* map = nullptr;
  void* self = dlopen(nullptr, RTLD_LAZY);
  return self != nullptr && dlinfo(self, RTLD_DI_LINKMAP, &map) == 0 ? map : nullptr;
}

const char* base_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

const char* own_name(const link_map& map) {
  const char* strings = nullptr;
  const ElfW(Dyn)* name = nullptr;
  for (const ElfW(Dyn)* one = map.l_ld; one != nullptr && one->d_tag != DT_NULL; ++one) {
    if (one->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(one->d_un.d_ptr);
    if (one->d_tag == DT_SONAME) name = one;
  }
  // The loader does not adjust the addresses in the kernel's own object (vdso).
  if (map.l_name[0] == '\0' || strings == nullptr || name == nullptr) return base_name(map.l_name);
  return reinterpret_cast<uintptr_t>(strings) < map.l_addr ? base_name(map.l_name)
                                                           : strings + name->d_un.d_val;
}

std::string beside_this_library(const char* name) {
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&beside_this_library), &here) == 0) return "";
  const char* file = base_name(here.dli_fname);
  return std::string(here.dli_fname, static_cast<size_t>(file - here.dli_fname)) + "cairn/" + name;
}

}  // namespace cairn::mpi
