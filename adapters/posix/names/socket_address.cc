#include "posix/names/socket_address.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "posix/core/calls.h"
#include "posix/core/user_memory.h"
#include "posix/credentials/permission.h"
#include "posix/fd/descriptor.h"
#include "posix/names/calls.h"
#include "posix/path/covered.h"
#include "posix/path/fifo_socket.h"
#include "posix/path/lookup.h"

namespace posix::fifo_socket {

// Reads the path in a UNIX address. Returns false if it is not a path, or surely not covered.
static bool path_in(const struct sockaddr* address, socklen_t size, char (&path)[128]) {
  constexpr size_t kPath = offsetof(struct sockaddr_un, sun_path);
  if (address == nullptr || size <= kPath || !active()) return false;
  size_t length = size - kPath;
  if (length > sizeof(sockaddr_un::sun_path)) return false;
  if (!user_memory::is_readable(address, size) || address->sa_family != AF_UNIX) return false;
  memcpy(path, reinterpret_cast<const struct sockaddr_un*>(address)->sun_path, length);
  path[length] = '\0';
  return path[0] != '\0' && !outside(path);
}

// For a socket of another family, the kernel refuses the address before it looks up the name.
static bool is_local(int socket) {
  int domain = 0;
  socklen_t size = sizeof domain;
  const int before = errno;
  const bool is_known = real::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0;
  errno = before;
  return is_known && domain == AF_UNIX;
}

// A name in an address has at most 107 bytes, so the folder is named by its descriptor.
constexpr char kFolder[] = "/proc/self/fd/";

int Address::stand_for(const cairn_stat& st) {
  directory_ = open_folder();
  if (directory_ < 0) return directory_;
  char name[64];
  special_name(st, name, sizeof name);
  auto* un = reinterpret_cast<struct sockaddr_un*>(&storage_);
  un->sun_family = AF_UNIX;
  snprintf(un->sun_path, sizeof un->sun_path, "%s%d/%s", kFolder, directory_, name);
  address = reinterpret_cast<const struct sockaddr*>(un);
  size = static_cast<socklen_t>(offsetof(struct sockaddr_un, sun_path) + strlen(un->sun_path) + 1);
  return 0;
}

void Address::remember_name(const cairn_stat& st) const {
  int before = errno;
  char name[64 + sizeof kGiven];
  special_name(st, name, sizeof name, kGiven);
  real::symlinkat(path_, directory_, name);
  errno = before;
}

void Address::made() const {
  if (directory_ < 0) return;
  int before = errno;
  // The pool has decided who may connect. No other user can enter the folder.
  real::chmod(reinterpret_cast<const struct sockaddr_un*>(address)->sun_path, 0777);
  errno = before;
}

void show(struct sockaddr* address, socklen_t room, socklen_t* size) {
  constexpr size_t kPath = offsetof(struct sockaddr_un, sun_path);
  constexpr size_t kMost = sizeof(sockaddr_un::sun_path);
  if (address == nullptr || !active() || *size <= kPath || *size > room ||
      *size > kPath + kMost + 1 || address->sa_family != AF_UNIX)
    return;
  char hidden[kMost + 2];
  memcpy(hidden, reinterpret_cast<const char*>(address) + kPath, *size - kPath);
  hidden[*size - kPath] = '\0';
  if (strncmp(hidden, kFolder, sizeof kFolder - 1) != 0) return;
  char name[sizeof hidden + sizeof kGiven];
  snprintf(name, sizeof name, "%s%s", strrchr(hidden, '/') + 1, kGiven);
  if (strncmp(name, "special.", 8) != 0) return;
  int before = errno;
  const Folder folder;
  char given[kPath + kMost + 1] = {};
  ssize_t length = folder.fd() < 0 ? -1 : real::readlinkat(folder.fd(), name, given + kPath, kMost);
  errno = before;
  if (length <= 0) return;
  memcpy(given, address, kPath);
  *size = static_cast<socklen_t>(kPath + static_cast<size_t>(length) + 1);
  memcpy(address, given, *size < room ? *size : room);
}

Address::~Address() {
  if (directory_ >= 0) descriptor::close_private(directory_);
}

int Address::make(int socket, const struct sockaddr* asked, socklen_t length) {
  address = asked;
  size = length;
  if (!path_in(asked, length, path_) || !is_local(socket)) return 0;
  Found found;
  int error = posix::find(AT_FDCWD, path_, CAIRN_NOFOLLOW, &found);
  if (error < 0 || found.outside()) return error;
  if (found.exists) return -EADDRINUSE;
  if (serve::mknod(path_, S_IFSOCK | 0777, 0) != 0) return errno == EEXIST ? -EADDRINUSE : -errno;
  error = find_existing(AT_FDCWD, path_, CAIRN_NOFOLLOW, &found);
  if (error < 0 || (error = stand_for(found.st)) < 0) return error;
  remember_name(found.st);
  return 0;
}

void Address::unmake() {
  if (directory_ >= 0) serve::unlink(path_);
}

int Address::find(int socket, const struct sockaddr* asked, socklen_t length) {
  address = asked;
  size = length;
  if (!path_in(asked, length, path_) || !is_local(socket)) return 0;
  Found found;
  int error = find_existing(AT_FDCWD, path_, 0, &found);
  if (error < 0 || found.outside()) return error;
  if (!S_ISSOCK(found.st.mode)) return -ECONNREFUSED;
  if ((error = permitted(found.st, W_OK)) < 0) return error;
  if ((error = stand_for(found.st)) < 0) return error;
  // A socket that was bound before the directory was covered lies where it was.
  struct stat st;
  if (real::stat(reinterpret_cast<const struct sockaddr_un*>(address)->sun_path, &st) != 0) {
    address = asked;
    size = length;
  }
  return 0;
}

}  // namespace posix::fifo_socket
