#include "posix/libc/freopen.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace posix::streams {

namespace {

// glibc's layout (libio.h, fopen and fopencookie). Behind each FILE lies its table of functions.
// Lock and wide data follow in a stream of fopen, cookie and functions in one of fopencookie. All
// of it is unchanged since 2.1, except that newer versions scramble the functions by the process's
// key.
struct Lock {
  int lock;
  int count;
  void* owner;
};

struct Opened {
  FILE file;
  const void* table;
  Lock lock;
  char wide[64];  // the first bytes
};

struct Cookie {
  FILE file;
  const void* table;
  void* cookie;
  uintptr_t functions[4];
};

// A turned stream of fopen. Its lock moves to the place of the wide data, which streams of bytes
// lack.
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
