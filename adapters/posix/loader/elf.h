// Reads what an ELF file asks of the loader: libraries that it needs, and directories to search.
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

  // Reads a file in the pool, or one of the system's. Returns false if it is not an ELF file for
  // this machine, or has no dynamic section.
  bool read(cairn_ino ino, uint64_t generation);
  bool read(int fd);

  // Reads the name of the n-th needed library, and the place of its entry in the file. Returns
  // false after the last one.
  bool needed(size_t n, char* name, size_t capacity, uint64_t* at) const;
  // Reads the interpreter (PT_INTERP). Returns false if there is none.
  bool interpreter(char* buffer, size_t capacity) const;
  // Reads a text of the dynamic section: DT_SONAME, DT_RPATH, DT_RUNPATH. Writes "" if there is
  // none.
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
