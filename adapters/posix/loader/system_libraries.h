// Finds a library that no list of directories has, as the loader does: in the cache of ldconfig,
// and in the C library's own directories.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace posix {

class SystemLibraries {
 public:
  SystemLibraries() = default;
  ~SystemLibraries();
  SystemLibraries(const SystemLibraries&) = delete;
  SystemLibraries& operator=(const SystemLibraries&) = delete;

  // Writes the path of the library for any processor of this kind to `path`, of PATH_MAX bytes.
  bool find(const char* name, char* path);

 private:
  bool find_in_cache(const char* name, char* path);
  void read_cache();
  const char* text_at(uint32_t offset) const;

  bool is_read_ = false;
  char* cache_ = nullptr;
  size_t size_ = 0;
};

}  // namespace posix
