// stdin, stdout and stderr: the C library's own streams read and write descriptors 0 to 2 by
// themselves, past every wrapper. So the variables name streams of ours from the start, which serve
// whatever the numbers are, Cairn files or not. If a number becomes a Cairn file before that, what
// was buffered and not yet written goes along.
#pragma once

#include <stdio.h>

#include <atomic>

namespace posix::streams {

// Per number: the C library's stream, and ours, which serves whatever the number is.
extern FILE* theirs[3];
extern FILE* ours[3];
// stdin, stdout or stderr.
inline FILE** variable(int fd) { return fd == 0 ? &stdin : fd == 1 ? &stdout : &stderr; }

// Is `file` what the program knows as the standard stream of this number?
bool is_standard(int fd, FILE* file);
// What the program knows as that now, if `file` was it; else `file`.
FILE* current(int fd, FILE* file);
// A stream of ours is being closed.
void forget(FILE* file);

// The step that runs after descriptor 0, 1 or 2 was opened, replaced or closed. install()
// (libc/standard_landing.h) sets it; null: nothing is covered.
extern std::atomic<void (*)(int fd)> when_landed;
// Runs that step for `fd`; does nothing for other descriptors.
inline void landed(int fd) {
  if (fd < 0 || fd > 2) return;
  if (auto* const step = when_landed.load(std::memory_order_acquire); step != nullptr) step(fd);
}

}  // namespace posix::streams
