#include "posix/libc/freopen.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace posix::streams {

namespace {

// glibc's (libio.h, fopen and fopencookie): behind each FILE stands its table of functions; behind
// that, in a stream of fopen, lock and wide data, in one of fopencookie, cookie and functions. All
// of it is unchanged since 2.1, but that newer ones scramble the functions, by the process's key.
struct Lock {
  int lock;
  int count;
  void* owner;
};

struct Opened {
  FILE file;
  const void* table;
  Lock lock;
  char wide[64];  // and more
};

struct Cookie {
  FILE file;
  const void* table;
  void* cookie;
  uintptr_t functions[4];
};

// What a stream of fopen becomes; its lock goes to where the wide data were, which streams of bytes
// have not.
struct Turned {
  Cookie cookie;
  Lock lock;
};

static_assert(sizeof(Turned) <= sizeof(Opened));

}  // namespace

bool can_turn(const FILE* file) {
  const auto* opened = reinterpret_cast<const Opened*>(file);
  return static_cast<const void*>(file->_lock) == &opened->lock &&
         static_cast<const void*>(file->_wide_data) == opened->wide;
}

void turn(FILE* file, FILE* donor, void* cookie) {
  auto* turned = reinterpret_cast<Turned*>(file);
  auto* from = reinterpret_cast<Cookie*>(donor);
  file->_flags = donor->_flags;
  file->_flags2 = donor->_flags2;
  file->_fileno = donor->_fileno;
  file->_offset = donor->_offset;
  file->_codecvt = donor->_codecvt;
  file->_wide_data = donor->_wide_data;
  file->_mode = donor->_mode;
  turned->lock = {};
  file->_lock = &turned->lock;
  turned->cookie.cookie = cookie;
  memcpy(turned->cookie.functions, from->functions, sizeof from->functions);
  turned->cookie.table = from->table;
  from->cookie = nullptr;
}

}  // namespace posix::streams
