#include "posix/loader/library_copies.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/fd/descriptor.h"

namespace posix {

static constexpr char kCopies[] = "/proc/self/fd";
static constexpr size_t kMostNumber = sizeof "/2147483647";

namespace {

// Lets the copy be as large as the program. The limit of file sizes also holds for files in memory,
// and its signal would end a program that writes no file.
class Unlimited {
 public:
  explicit Unlimited(uint64_t size) {
    struct rlimit wanted;
    if (getrlimit(RLIMIT_FSIZE, &before_) != 0 || size <= before_.rlim_cur) return;
    wanted = {before_.rlim_max, before_.rlim_max};
    raised_ = size <= wanted.rlim_max && real::setrlimit(RLIMIT_FSIZE, &wanted) == 0;
    fits_ = raised_;
  }
  ~Unlimited() {
    if (raised_) real::setrlimit(RLIMIT_FSIZE, &before_);
  }
  Unlimited(const Unlimited&) = delete;
  Unlimited& operator=(const Unlimited&) = delete;
  [[nodiscard]] bool fits() const { return fits_; }

 private:
  struct rlimit before_;
  bool raised_ = false;
  bool fits_ = true;
};

}  // namespace

int copy_to_memory(cairn_ino ino, uint64_t generation, const char* name) {
  cairn_file* file = nullptr;
  int error = cairn_open_ino(pool, ino, generation, O_RDONLY, &file);
  if (error < 0) return error;
  int memory = memfd_create(name, MFD_CLOEXEC);
  if (memory < 0) error = -errno;
  constexpr size_t kPiece = 256 * 1024;
  char* buffer = static_cast<char*>(malloc(kPiece));
  if (buffer == nullptr) error = -ENOMEM;
  cairn_stat st = {};
  if (error == 0) error = cairn_fstat(file, &st);
  const Unlimited unlimited(st.size);
  if (!unlimited.fits()) error = -EFBIG;
  for (uint64_t offset = 0; error == 0;) {
    ssize_t got = cairn_pread(file, buffer, kPiece, offset);
    if (got < 0) error = static_cast<int>(got);
    if (got <= 0) break;
    for (ssize_t put = 0; error == 0 && put < got;) {
      ssize_t wrote = real::write(memory, buffer + put, static_cast<size_t>(got - put));
      if (wrote < 0) error = -errno;
      if (wrote > 0) put += wrote;
    }
    offset += static_cast<uint64_t>(got);
  }
  free(buffer);
  cairn_close(file);
  if (error < 0 && memory >= 0) descriptor::close_private(memory);
  return error < 0 ? error : memory;
}

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

// Writes to the loader's memory, which is declared constant. Only the loader uses the name.
void give_own_name(const char* name, const char* path) {
  if (copy_of_name(name) >= 0 && strlen(path) <= strlen(name))
    memcpy(const_cast<char*>(name), path, strlen(path) + 1);
}

}  // namespace posix
