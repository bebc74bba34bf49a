#include "posix/loader/library_copies.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "posix/core/calls.h"
#include "posix/core/process.h"
#include "posix/fd/descriptor.h"

namespace posix {

static constexpr char kCopies[] = "/proc/self/fd";
static constexpr size_t kMostNumber = sizeof "/2147483647";

int changed_copy(const Found& found, const uint64_t* dropped, size_t count) {
  constexpr int64_t kIgnored = 0x60000001;  // a tag that no loader knows
  const int copy = copy_to_memory(found.st.ino, found.st.generation, found.name);
  for (size_t i = 0; copy >= 0 && i < count; ++i) {
    if (real::pwrite(copy, &kIgnored, sizeof kIgnored, static_cast<off_t>(dropped[i])) < 0) {
      const int error = -errno;
      descriptor::close_private(copy);
      return error;
    }
  }
  return copy;
}

size_t room_for_name(const char* path) {
  constexpr size_t kMostTurn = 2 * 8 * sizeof(unsigned);  // two characters for each bit
  return sizeof kCopies + kMostTurn + kMostNumber + strlen(path);
}

void name_for_loader(int copy, unsigned turn, const char* path, char* name) {
  const char* least = name + strlen(path);
  memcpy(name, kCopies, sizeof kCopies - 1);
  char* end = name + sizeof kCopies - 1;
  for (; turn != 0 || end < least; turn >>= 1) {
    *end++ = '/';
    if ((turn & 1) != 0) *end++ = '.';
  }
  snprintf(end, kMostNumber, "/%d", copy);
}

int copy_of_name(const char* name) {
  if (strncmp(name, kCopies, sizeof kCopies - 1) != 0) return -1;
  const char* number = name + sizeof kCopies - 1;
  number += strspn(number, "/.");
  char* end;
  const long copy = strtol(number, &end, 10);  // NOLINT(google-runtime-int): what strtol gives
  return end == number || *end != '\0' ? -1 : static_cast<int>(copy);
}

// The loader's own memory, which it says nobody may write to; nobody but it has an interest in what
// stands there.
void give_own_name(const char* name, const char* path) {
  if (copy_of_name(name) >= 0 && strlen(path) <= strlen(name))
    memcpy(const_cast<char*>(name), path, strlen(path) + 1);
}

}  // namespace posix
