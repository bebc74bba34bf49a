// Files in /dev/shm through which the ranks of a node share memory. One rank makes the file, tells
// the others its name, and all map it; the last one removes the name, so that nothing stays behind
// when the job ends, however it ends.
//
// A maker that is killed earlier leaves the file. It holds a lock on it for as long as it lives, so
// that the next maker of the same user knows the files of dead ones, and removes them.
//
// All users share /dev/shm: a file is used or removed by what its descriptor says of owner and
// type.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace cairn::mpi {

// As one rank tells it to the others.
struct SharedMemoryName {
  char path[64] = "";  // "": there is no file
  dev_t device = 0;
  ino_t inode = 0;
};

// A descriptor of a new, empty file, which is locked until it is closed and no longer mapped; -1
// and errno.
int make_shared_memory(SharedMemoryName* name);
// A descriptor of that file, which has at least `size` bytes; -1 and errno. ESTALE: another file
// has the name.
int open_shared_memory(const SharedMemoryName& name, int flags, size_t size);
void remove_shared_memory(const SharedMemoryName& name);

}  // namespace cairn::mpi
