#include "cluster/mpi/loader/load.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cluster/mpi/loader/loaded_objects.h"

namespace cairn::mpi {
namespace {

// The path of a library that this process has loaded already; "": it has not.
std::string path_of_loaded(const std::string& own) {
  for (const link_map* map = loaded_objects(); map != nullptr; map = map->l_next)
    if (own == own_name(*map)) return map->l_name;
  return "";
}

// A program that libcairn.a is linked to does not lie beside the transport.
std::string path_of_file(const std::string& name) {
  std::string path = beside_this_library(name.c_str());
  if (::access(path.c_str(), F_OK) == 0) return path;
  const std::string installed = std::string(CAIRN_LIBDIR "/cairn/") + name;
  return ::access(installed.c_str(), F_OK) == 0 ? installed : path;
}

}  // namespace

std::string why_not_loaded(const std::string& path) {
  const char* reason = dlerror();
  if (::access(path.c_str(), F_OK) != 0)
    return path + ": was not built: build Cairn again with this MPI's mpicc in PATH";
  return reason == nullptr ? path : reason;
}

const Module* load_transport(const LoadedMpi& mpi, int* error, std::string* why) {
  const std::string name = std::string("libcairn_mpi_") + mpi.abi + ".so";
  std::string path = path_of_loaded(name);
  if (path.empty()) path = path_of_file(name);
  *error = ENOPKG;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    *why = why_not_loaded(path);
    return nullptr;
  }
  const auto module_of = reinterpret_cast<ModuleOf>(dlsym(library, "cairn_mpi_module"));
  const Module* module = module_of == nullptr ? nullptr : module_of();
  if (module != nullptr && module->size == sizeof(Module) &&
      std::strcmp(module->version, CAIRN_VERSION) == 0)
    return module;
  *error = ELIBBAD;
  *why = path + ": the transport of Cairn " + (module == nullptr ? "?" : module->version) +
         " does not fit Cairn " CAIRN_VERSION ": use one version in a process";
  return nullptr;
}

}  // namespace cairn::mpi
