// FIFOs and UNIX sockets of the cover. Their names, modes and times are the pool's; what goes
// through them is the kernel's, under a hidden name in the pool's directory that says which inode
// it stands for (socket_address.h for sockets).
#pragma once

#include "posix/core/engine.h"

namespace posix::fifo_socket {

// The folder of the hidden names, as a private descriptor or a negative errno.
int open_folder();
class Folder {
 public:
  Folder() : fd_(open_folder()) {}
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  // A negative errno if it could not be opened.
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

// A link beside a socket's hidden name holds the name that was given to bind. The same process and
// others are shown it, as long as the socket has a name.
inline constexpr char kGiven[] = ".given";
// The hidden name of an inode, with an addition.
void special_name(const cairn_stat& st, char* text, size_t capacity, const char* addition = "");

// open(2) on a FIFO: a descriptor of the kernel's; -errno.
int open_fifo(const cairn_stat& st, int flags);

// Is this descriptor of the kernel's a FIFO of the cover? Then its state is what the pool says, and
// what is left of it if it has lost its name.
bool is_fifo(int fd, cairn_stat* st);

// A name of this inode has been removed or replaced.
void name_removed(const cairn_stat& st);

}  // namespace posix::fifo_socket
