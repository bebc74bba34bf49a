#include "posix/fd/standard_streams.h"

#include "posix/core/at_start.h"

namespace posix::streams {

AT_START_DATA FILE* theirs[3];
AT_START_DATA FILE* ours[3];
AT_START_DATA constinit std::atomic<void (*)(int fd)> adopt_step{nullptr};

bool is_standard(int fd, FILE* file) {
  return fd >= 0 && fd <= 2 && file != nullptr &&
         (*variable(fd) == file || theirs[fd] == file || ours[fd] == file);
}

FILE* current(int fd, FILE* file) { return is_standard(fd, file) ? *variable(fd) : file; }

void forget(FILE* file) {
  for (int fd = 0; fd <= 2; ++fd) {
    if (ours[fd] != file) continue;
    ours[fd] = nullptr;
    if (*variable(fd) == file && theirs[fd] != nullptr) *variable(fd) = theirs[fd];
    theirs[fd] = nullptr;
  }
}

}  // namespace posix::streams
