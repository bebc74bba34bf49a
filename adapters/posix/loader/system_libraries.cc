#include "posix/loader/system_libraries.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "posix/core/calls.h"
#include "posix/loader/elf.h"

namespace posix {
namespace {

constexpr char kCache[] = "/etc/ld.so.cache";
constexpr char kMagic[] = "glibc-ld.so.cache1.1";
constexpr size_t kMostBytes = 16 << 20;

// glibc's format, unchanged since 2.2, except that older versions have another one before it.
struct Head {
  char magic[sizeof kMagic - 1];
  uint32_t count;
  uint32_t string_bytes;
  uint32_t unused[5];
};

struct CachedLibrary {
  int32_t flags;
  uint32_t name;  // both are offsets in the file
  uint32_t path;
  uint32_t system;
  uint64_t processor;
};

// Returns true if the library is for this machine: the cache also has libraries for others.
bool is_usable(const char* path) {
  const int fd = real::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
  Elf elf;
  const bool usable = fd >= 0 && elf.read(fd);
  if (fd >= 0) real::close(fd);
  return usable;
}

}  // namespace

SystemLibraries::~SystemLibraries() { free(cache_); }

void SystemLibraries::read_cache() {
  is_read_ = true;
  const int fd = real::open(kCache, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
  struct stat st;
  size_t bytes = 0;
  if (fd >= 0 && real::fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
      static_cast<size_t>(st.st_size) < kMostBytes) {
    bytes = static_cast<size_t>(st.st_size);
    cache_ = static_cast<char*>(malloc(bytes + 1));
  }
  const ssize_t got = cache_ == nullptr ? 0 : real::pread(fd, cache_, bytes, 0);
  size_ = got < 0 ? 0 : static_cast<size_t>(got);
  if (cache_ != nullptr) cache_[size_] = '\0';
  if (fd >= 0) real::close(fd);
}

const char* SystemLibraries::text_at(uint32_t offset) const {
  return offset < size_ ? cache_ + offset : "";
}

bool SystemLibraries::find_in_cache(const char* name, char* path) {
  Head head;
  if (size_ < sizeof head) return false;
  memcpy(&head, cache_, sizeof head);
  if (memcmp(head.magic, kMagic, sizeof head.magic) != 0 ||
      head.count > (size_ - sizeof head) / sizeof(CachedLibrary))
    return false;
  for (uint32_t i = 0; i < head.count; ++i) {
    CachedLibrary one;
    memcpy(&one, cache_ + sizeof head + i * sizeof one, sizeof one);
    if (one.processor == 0 && strcmp(text_at(one.name), name) == 0 &&
        snprintf(path, PATH_MAX, "%s", text_at(one.path)) < PATH_MAX && is_usable(path))
      return true;
  }
  return false;
}

bool SystemLibraries::find(const char* name, char* path) {
  if (!is_read_) read_cache();
  if (find_in_cache(name, path)) return true;
  for (const char* directory : {"/lib64", "/usr/lib64", "/lib", "/usr/lib"})
    if (snprintf(path, PATH_MAX, "%s/%s", directory, name) < PATH_MAX && is_usable(path))
      return true;
  return false;
}

}  // namespace posix
