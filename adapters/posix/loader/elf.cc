#include "posix/loader/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"

namespace posix {
namespace {

// No file has more; a damaged one may claim any number.
constexpr size_t kMostSegments = 4096;
constexpr uint64_t kMostDynamicBytes = 1 << 20;

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
#elif defined(__riscv)
constexpr uint16_t kMachine = EM_RISCV;
#else
constexpr uint16_t kMachine = EM_PPC64;
#endif

}  // namespace

Elf::~Elf() {
  free(segments_);
  free(entries_);
  if (file_ != nullptr) cairn_close(file_);
}

size_t Elf::bytes(uint64_t offset, void* buffer, size_t size) const {
  const ssize_t got = file_ != nullptr ? cairn_pread(file_, buffer, size, offset)
                                       : real::pread(fd_, buffer, size, static_cast<off_t>(offset));
  return got < 0 ? 0 : static_cast<size_t>(got);
}

bool Elf::read(cairn_ino ino, uint64_t generation) {
  return cairn_open_ino(pool, ino, generation, O_RDONLY, &file_) == 0 && parse();
}

bool Elf::read(int fd) {
  fd_ = fd;
  return parse();
}

bool Elf::offset_of(uint64_t address, uint64_t* offset) const {
  for (size_t i = 0; i < segment_count_; ++i) {
    const Elf64_Phdr& segment = segments_[i];
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr ||
        address - segment.p_vaddr >= segment.p_filesz)
      continue;
    *offset = segment.p_offset + (address - segment.p_vaddr);
    return true;
  }
  return false;
}

bool Elf::parse() {
  Elf64_Ehdr head;
  if (bytes(0, &head, sizeof head) != sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine != kMachine ||
      head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum == 0 || head.e_phnum > kMostSegments)
    return false;
  const size_t size = head.e_phnum * sizeof(Elf64_Phdr);
  segments_ = static_cast<Elf64_Phdr*>(malloc(size));
  if (segments_ == nullptr || bytes(head.e_phoff, segments_, size) != size) return false;
  segment_count_ = head.e_phnum;
  const Elf64_Phdr* dynamic = nullptr;
  for (size_t i = 0; i < segment_count_; ++i)
    if (segments_[i].p_type == PT_DYNAMIC) dynamic = &segments_[i];
  if (dynamic == nullptr || dynamic->p_filesz > kMostDynamicBytes) return false;
  entries_ = static_cast<Elf64_Dyn*>(malloc(dynamic->p_filesz + 1));
  if (entries_ == nullptr) return false;
  entries_at_ = dynamic->p_offset;
  entry_count_ = bytes(entries_at_, entries_, dynamic->p_filesz) / sizeof(Elf64_Dyn);
  bool has_strings = false;
  for (size_t i = 0; i < entry_count_ && !has_strings; ++i)
    has_strings = entries_[i].d_tag == DT_STRTAB && offset_of(entries_[i].d_un.d_ptr, &strings_at_);
  return has_strings;
}

bool Elf::string(uint64_t at, char* buffer, size_t capacity) const {
  const size_t got = bytes(strings_at_ + at, buffer, capacity);
  return memchr(buffer, '\0', got) != nullptr;
}

bool Elf::needed(size_t n, char* name, size_t capacity, uint64_t* at) const {
  for (size_t i = 0; i < entry_count_ && entries_[i].d_tag != DT_NULL; ++i) {
    if (entries_[i].d_tag != DT_NEEDED || n-- > 0) continue;
    *at = entries_at_ + i * sizeof(Elf64_Dyn);
    if (!string(entries_[i].d_un.d_val, name, capacity)) name[0] = '\0';
    return true;
  }
  return false;
}

bool Elf::interpreter(char* buffer, size_t capacity) const {
  for (size_t i = 0; i < segment_count_; ++i) {
    const Elf64_Phdr& segment = segments_[i];
    if (segment.p_type != PT_INTERP) continue;
    const size_t size = segment.p_filesz < capacity ? segment.p_filesz : capacity;
    return memchr(buffer, '\0', bytes(segment.p_offset, buffer, size)) != nullptr;
  }
  return false;
}

bool Elf::text(int64_t tag, char* buffer, size_t capacity) const {
  buffer[0] = '\0';
  for (size_t i = 0; i < entry_count_ && entries_[i].d_tag != DT_NULL; ++i) {
    if (entries_[i].d_tag != tag) continue;
    if (string(entries_[i].d_un.d_val, buffer, capacity)) return true;
    buffer[0] = '\0';
    return false;
  }
  return false;
}

}  // namespace posix
