// FIFOs and UNIX sockets of the cover. The pool has their names, modes and times. The kernel
// transports their bytes, under a hidden name in the pool's directory that tells the inode
// (socket_address.h for sockets).
#pragma once

#include "posix/core/engine.h"

namespace posix::fifo_socket {

// Opens the folder of the hidden names. Returns a private descriptor or a negative errno.
int open_folder();
class Folder {
 public:
  Folder() : fd_(open_folder()) {}
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  // Returns the folder's descriptor, or a negative errno if it could not be opened.
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

// A link beside a socket's hidden name holds the name that was given to bind. All processes are
// shown that name as long as the socket has one.
inline constexpr char kGiven[] = ".given";
// Writes the hidden name of an inode, followed by `addition`.
void special_name(const cairn_stat& st, char* text, size_t capacity, const char* addition = "");

// Opens a FIFO as open(2) does. Returns a descriptor of the kernel's, or a negative errno.
int open_fifo(const cairn_stat& st, int flags);

// Returns true if this descriptor of the kernel's is a FIFO of the cover. `st` is its state in the
// pool; after the FIFO has lost its name, the part of it that the kernel knows.
bool is_fifo(int fd, cairn_stat* st);

// Removes the hidden name, if the name that was removed or replaced was the last one.
void name_removed(const cairn_stat& st);

}  // namespace posix::fifo_socket
