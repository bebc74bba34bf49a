// Addresses of UNIX sockets that are named in the cover, for the kernel and for the program.
#pragma once

#include <sys/socket.h>

#include "posix/core/engine.h"

namespace posix::fifo_socket {

// An address that the kernel has filled in, up to `room` bytes: instead of a hidden name, the one
// that was given to bind.
void show(struct sockaddr* address, socklen_t room, socklen_t* size);

// A socket's address: if it is a name in the cover, what the kernel is to be given instead.
class Address {
 public:
  // For bind: makes the name. 0 or a negative errno.
  int make(int socket, const struct sockaddr* address, socklen_t size);
  // For connect and the like: the name must be a socket's.
  int find(int socket, const struct sockaddr* address, socklen_t size);
  // bind has succeeded.
  void made() const;
  // bind failed: removes the name.
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
