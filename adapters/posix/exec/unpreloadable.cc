#include "posix/exec/unpreloadable.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/path/covered.h"
#include "posix/path/cwd.h"

namespace posix {

static bool concerns_cover(char* const* arguments) {
  if (cwd::is_covered()) return true;
  constexpr size_t kMost = 256;
  for (size_t i = 1; arguments != nullptr && arguments[0] != nullptr && i < kMost; ++i) {
    if (arguments[i] == nullptr) break;
    if (arguments[i][0] == '/' && !outside(arguments[i])) return true;
  }
  return false;
}

static bool is_go_note(int fd, const Elf64_Phdr& segment) {
  struct {
    Elf64_Nhdr head;
    char name[4];
  } note;
  for (uint64_t at = 0; at + sizeof note <= segment.p_filesz;) {
    if (real::pread(fd, &note, sizeof note, static_cast<off_t>(segment.p_offset + at)) !=
        sizeof note)
      return false;
    if (note.head.n_namesz == sizeof note.name && memcmp(note.name, "Go", 3) == 0) return true;
    at += sizeof note.head + (note.head.n_namesz + 3ULL) / 4 * 4 +
          (note.head.n_descsz + 3ULL) / 4 * 4;
  }
  return false;
}

// Returns the reason why LD_PRELOAD cannot intercept the program, or null.
static const char* reason(const char* file) {
  const int fd = real::open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);  // the file may be a FIFO
  if (fd < 0) return nullptr;
  Elf64_Ehdr head;
  Elf64_Phdr segments[32];
  const char* why = nullptr;
  constexpr size_t kSize = sizeof segments[0];
  if (real::pread(fd, &head, sizeof head, 0) == sizeof head &&
      memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64 &&
      head.e_phnum <= sizeof segments / kSize &&
      real::pread(fd, segments, head.e_phnum * kSize, static_cast<off_t>(head.e_phoff)) ==
          static_cast<ssize_t>(head.e_phnum * kSize)) {
    why = " is linked statically";
    for (size_t i = 0; i < head.e_phnum; ++i) {
      if (segments[i].p_type != PT_INTERP) continue;
      why = nullptr;
      break;
    }
    for (size_t i = 0; i < head.e_phnum; ++i)
      if (segments[i].p_type == PT_NOTE && is_go_note(fd, segments[i])) why = " is written in Go";
  }
  real::close(fd);
  return why;
}

bool would_warn(const char* file, char* const* arguments) {
  return concerns_cover(arguments) && reason(file) != nullptr;
}

void warn_if_unpreloadable(const char* file, const char* name, char* const* arguments) {
  if (!concerns_cover(arguments)) return;
  const int before = errno;
  if (const char* why = reason(file); why != nullptr)
    log(Level::kWarning, name, why,
        ": it cannot be served, and uses the directory below the cover (cairn doctor tells more)");
  errno = before;
}

}  // namespace posix
