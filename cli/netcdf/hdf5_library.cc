#include "netcdf/hdf5_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "text/error.h"

namespace cairn::cli {
namespace {

// Debian's serial build has a name of its own.
constexpr const char* names[] = {
    "libhdf5_serial.so.103", "libhdf5_serial.so.310", "libhdf5_serial.so.320",
    "libhdf5.so.103",        "libhdf5.so.200",        "libhdf5.so.310",
    "libhdf5.so.320",        "libhdf5_serial.so",     "libhdf5.so",
};

void* load() {
  // No other process uses the file, and some file systems have no locks.
  setenv("HDF5_USE_FILE_LOCKING", "FALSE", 0);
  if (const char* const named = std::getenv("CAIRN_HDF5"); named != nullptr && named[0] != 0) {
    if (named[0] != '/' && std::strchr(named, '/') != nullptr)
      fail("CAIRN_HDF5: '{}': expected an absolute path, or a name that the loader finds", named);
    if (void* const library = dlopen(named, RTLD_NOW | RTLD_LOCAL)) return library;
    fail("CAIRN_HDF5: {}", dlerror());
  }
  for (const char* const name : names)
    if (void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  fail("libhdf5 is missing: install it (Debian: libhdf5-103-1), or name it in CAIRN_HDF5");
}

void* find(void* library, const char* name) {
  void* const address = dlsym(library, name);
  if (address == nullptr) fail("libhdf5: has no {}: HDF5 1.10 or later is needed", name);
  return address;
}

struct ErrorRecord {  // H5E_error2_t of HDF5 1
  Hid library, major, minor;
  unsigned line;
  const char *function, *file, *description;
};

Herr note_error(unsigned, const void* record, void* context) {
  const auto* const error = static_cast<const ErrorRecord*>(record);
  if (error->description != nullptr) *static_cast<std::string*>(context) = error->description;
  return 0;
}

}  // namespace

const Hdf5& Hdf5::get() {
  static const Hdf5 library;
  return library;
}

Hdf5::Hdf5() {
  void* const library = load();
#define CAIRN_H5_FIND(name, result, parameters) \
  name = reinterpret_cast<result(*) parameters>(find(library, "H5" #name));
  CAIRN_H5_CALLS(CAIRN_H5_FIND)
#undef CAIRN_H5_FIND
  unsigned minor = 0;
  unsigned release = 0;
  if (open() < 0 || get_libversion(&major_, &minor, &release) < 0)
    fail("libhdf5: cannot be used here");
  if (major_ == 1 && minor < 10)
    fail("libhdf5: is {}.{}.{}; 1.10 or later is needed", major_, minor, release);
  Eset_auto2(h5_default, nullptr, nullptr);
#define CAIRN_H5_FIND(name) name = *static_cast<const Hid*>(find(library, "H5" #name "_g"));
  CAIRN_H5_IDS(CAIRN_H5_FIND)
#undef CAIRN_H5_FIND
}

void Hdf5::failed(const std::string& what) const {
  constexpr int downward = 1;  // the last record is the cause, which is reported
  std::string text;
  if (major_ == 1) Ewalk2(h5_default, downward, reinterpret_cast<void*>(&note_error), &text);
  fail("{}: {}", what, text.empty() ? "HDF5 failed" : "HDF5: " + text);
}

}  // namespace cairn::cli
