// stdin, stdout and stderr.
//
// The C library's own streams read and write descriptors 0 to 2 past every wrapper. So these
// variables name streams of ours from the start, which serve the numbers whatever they are, Cairn
// files or not. If a number becomes a Cairn file before that, buffered output moves to our stream.
#pragma once

#include <stdio.h>

#include <atomic>

namespace posix::streams {

// The C library's stream for each number, and ours.
extern FILE* theirs[3];
extern FILE* ours[3];
// Returns stdin, stdout or stderr.
inline FILE** variable(int fd) { return fd == 0 ? &stdin : fd == 1 ? &stdout : &stderr; }

// Returns true if the program knows `file` as the standard stream of this number.
bool is_standard(int fd, FILE* file);
// Returns the standard stream of this number, if `file` was it; else `file`.
FILE* current(int fd, FILE* file);
// Forgets a stream of ours that is being closed.
void forget(FILE* file);

// The step that runs after descriptor 0, 1 or 2 was opened, replaced or closed. install()
// (libc/install_streams.h) sets it; null: no directory is covered.
extern std::atomic<void (*)(int fd)> adopt_step;
// Runs that step for `fd`; does nothing for other descriptors.
inline void adopt_standard_fd(int fd) {
  if (fd < 0 || fd > 2) return;
  if (auto* const step = adopt_step.load(std::memory_order_acquire); step != nullptr) step(fd);
}

}  // namespace posix::streams
