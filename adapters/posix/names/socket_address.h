// Translates addresses of UNIX sockets that are named in the cover, for the kernel and for the
// program.
#pragma once

#include <sys/socket.h>

#include "posix/core/engine.h"

namespace posix::fifo_socket {

// Replaces a hidden name by the one that was given to bind, in an address of up to `room` bytes
// that the kernel has written.
void show(struct sockaddr* address, socklen_t room, socklen_t* size);

// A socket's address. For a name in the cover it is the hidden name, which the kernel gets.
class Address {
 public:
  // Makes the name, for bind. Returns 0 or a negative errno.
  int make(int socket, const struct sockaddr* address, socklen_t size);
  // Finds the name of a socket, for connect and the like. Returns 0 or a negative errno.
  int find(int socket, const struct sockaddr* address, socklen_t size);
  // Call it after bind has succeeded.
  void made() const;
  // Removes the name after bind has failed.
  void unmake();
  ~Address();

  const struct sockaddr* address = nullptr;
  socklen_t size = 0;

 private:
  int stand_for(const cairn_stat& st);
  void remember_name(const cairn_stat& st) const;
  char path_[128];
  struct sockaddr_storage storage_;
  int directory_ = -1;
};

}  // namespace posix::fifo_socket
