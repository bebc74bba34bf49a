// mkstemp and its family: the C library's own open the file by an internal function.
#include <string.h>
#include <sys/random.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/io/calls.h"
#include "posix/names/calls.h"
#include "posix/path/covered.h"
#include "posix/path/result.h"

namespace posix {

constexpr int kAttempts = 1000;

// Returns the six X before the suffix at the end of the name, or null if it has none.
static char* pattern_of(char* name, int suffix) {
  size_t length = strlen(name);
  if (suffix < 0 || length < static_cast<size_t>(suffix) + 6) return nullptr;
  char* pattern = name + length - static_cast<size_t>(suffix) - 6;
  return strncmp(pattern, "XXXXXX", 6) == 0 ? pattern : nullptr;
}

static void fill(char* pattern) {
  static const char kLetters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  uint64_t bits = 0;
  if (getrandom(&bits, sizeof bits, 0) != sizeof bits) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    bits =
        static_cast<uint64_t>(now.tv_nsec) * 6364136223846793005U + static_cast<uint64_t>(getpid());
  }
  for (int i = 0; i < 6; ++i, bits /= 62) pattern[i] = kLetters[bits % 62];
}

// Tries names until `make` succeeds, or fails for another reason than that the name is taken.
template <typename Make>
static int try_names(char* name, int suffix, Make make) {
  char* pattern = pattern_of(name, suffix);
  if (pattern == nullptr) return fail(-EINVAL);
  int before = errno;
  for (int i = 0; i < kAttempts; ++i) {
    fill(pattern);
    int made = make();
    if (made >= 0) {
      errno = before;
      return made;
    }
    if (errno != EEXIST) return -1;
  }
  return fail(-EEXIST);
}

namespace serve {

int mkostemps(char* name, int suffix, int flags) {
  if (outside(name)) return real::mkostemps(name, suffix, flags);
  flags &= ~O_ACCMODE;
  return try_names(name, suffix,
                   [&] { return serve::open(name, O_RDWR | O_CREAT | O_EXCL | flags, 0600); });
}

int mkstemp(char* name) {
  if (outside(name)) return real::mkstemp(name);
  return serve::mkostemps(name, 0, 0);
}

char* mkdtemp(char* name) {
  if (outside(name)) return real::mkdtemp(name);
  return try_names(name, 0, [&] { return serve::mkdir(name, 0700); }) < 0 ? nullptr : name;
}

}  // namespace serve
}  // namespace posix
