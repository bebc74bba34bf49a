// What an ELF file asks of the loader: the libraries that it needs, and where to look for them.
#pragma once

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "posix/core/engine.h"

namespace posix {

class Elf {
 public:
  Elf() = default;
  ~Elf();
  Elf(const Elf&) = delete;
  Elf& operator=(const Elf&) = delete;

  // Reads a file in the pool, or one of the system's. False: it is none of this machine's kind that
  // asks for anything.
  bool read(cairn_ino ino, uint64_t generation);
  bool read(int fd);

  // The n-th library that it needs, and where in the file this is said. False: there are no more.
  bool needed(size_t n, char* name, size_t capacity, uint64_t* at) const;
  // What the kernel starts with it: PT_INTERP. False: nothing.
  bool interpreter(char* buffer, size_t capacity) const;
  // A text of the dynamic section: DT_SONAME, DT_RPATH, DT_RUNPATH. "" if there is none.
  bool text(int64_t tag, char* buffer, size_t capacity) const;

 private:
  bool parse();
  size_t bytes(uint64_t offset, void* buffer, size_t size) const;
  bool offset_of(uint64_t address, uint64_t* offset) const;
  bool string(uint64_t at, char* buffer, size_t capacity) const;

  cairn_file* file_ = nullptr;
  int fd_ = -1;
  Elf64_Phdr* segments_ = nullptr;
  size_t segment_count_ = 0;
  Elf64_Dyn* entries_ = nullptr;
  size_t entry_count_ = 0;
  uint64_t entries_at_ = 0;
  uint64_t strings_at_ = 0;
};

}  // namespace posix
