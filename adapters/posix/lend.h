// What the POSIX adapter lends to the other adapters in its library: files that it can open. A process attaches a
// pool once, whoever serves it.
//
// A table of functions rather than declarations: who uses it may be a module that is loaded later (mpiio/host.h).
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cairn/cairn.h"

namespace posix {

// Results are as in cairn.h: 0 or a count, or a negative errno.
struct Lent {
  // The open file of a descriptor, with a reference of its own (`close`); null if it is no Cairn file.
  cairn_file* (*file_of)(int fd);
  // Does the path lead to what a covered directory holds, or could hold?
  bool (*covers)(const char* path);
  int (*close)(cairn_file* file);
  ssize_t (*pread)(cairn_file* file, void* buffer, size_t size, uint64_t offset);
  ssize_t (*pwrite)(cairn_file* file, const void* buffer, size_t size, uint64_t offset);
  int (*stat)(cairn_file* file, cairn_stat* st);
  int (*truncate)(cairn_file* file, uint64_t size);
  int (*allocate)(cairn_file* file, int mode, uint64_t offset, uint64_t size);
  int (*sync)(cairn_file* file);
};

const Lent& lend();

}  // namespace posix
