#include "cluster/mpi/loader/loaded_objects.h"

#include <dlfcn.h>

#include <cinttypes>
#include <climits>
#include <cstdint>
#include <cstdio>
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

namespace {

// The file that this code was loaded from; "" if that is unknown. The dynamic loader has the path
// as it was given: relative to some earlier working directory, or, of a program, argv[0]. What lies
// there now may be another user's, so the kernel is asked then.
std::string own_file() {
  const auto address = reinterpret_cast<uintptr_t>(&own_file);
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(address), &here) != 0 && here.dli_fname[0] == '/')
    return here.dli_fname;
  std::FILE* const maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return "";
  std::string path;
  char line[PATH_MAX + 128];
  while (path.empty() && std::fgets(line, sizeof line, maps) != nullptr) {
    uintptr_t begin = 0;
    uintptr_t end = 0;
    const bool is_here = std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &begin, &end) == 2 &&
                         address >= begin && address < end;
    const char* const slash = is_here ? std::strchr(line, '/') : nullptr;
    if (slash != nullptr) path.assign(slash, std::strcspn(slash, "\n"));
  }
  std::fclose(maps);
  return path;
}

}  // namespace

std::string beside_this_library(const char* name) {
  const std::string own = own_file();
  return own.empty() ? "" : own.substr(0, own.rfind('/')) + "/cairn/" + name;
}

}  // namespace cairn::mpi
