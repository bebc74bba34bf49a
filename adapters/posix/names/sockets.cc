// Sockets that are named in the cover, and descriptors sent through sockets. The receiver
// recognises a descriptor only if its link names the file. It uses the file only if the pool's user
// has made the link and no other user has sent it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/core/user_memory.h"
#include "posix/credentials/pool_owner.h"
#include "posix/fd/descriptor.h"
#include "posix/fd/table.h"
#include "posix/io/open.h"
#include "posix/names/calls.h"
#include "posix/names/socket_address.h"
#include "posix/path/covered.h"
#include "posix/path/result.h"

namespace posix {

// If false, the kernel gets the message as it is, and returns EFAULT or an error that it finds
// earlier.
static bool can_read(const struct msghdr* message) {
  return message != nullptr && user_memory::is_readable(message, sizeof *message);
}

// Returns the header of a message in a list, at an address that may be invalid.
static const struct msghdr* header_in(const struct mmsghdr* messages, unsigned i) {
  static_assert(offsetof(struct mmsghdr, msg_hdr) == 0);
  const auto place = reinterpret_cast<uintptr_t>(messages) + i * sizeof(struct mmsghdr);
  return reinterpret_cast<const struct msghdr*>(place);
}

// Calls `each` with every descriptor that a message carries.
template <typename Each>
static void descriptors_in(const struct msghdr* message, Each each) {
  auto* header = const_cast<struct msghdr*>(message);
  for (struct cmsghdr* part = CMSG_FIRSTHDR(header); part != nullptr;
       part = CMSG_NXTHDR(header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) each(CMSG_DATA(part) + i * sizeof(int));
  }
}

static int number_at(const unsigned char* place) {
  int fd;
  memcpy(&fd, place, sizeof fd);
  return fd;
}

constexpr uid_t kUnknown = static_cast<uid_t>(-1);

// Returns the user who has connected the other end, or kUnknown if it is not connected to one
// process.
static uid_t user_at_other_end(int socket) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  const int before = errno;
  const bool known = real::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  errno = before;
  return known && size == sizeof peer ? peer.uid : kUnknown;
}

// Returns the user whom the message names, if the program has asked for that (SO_PASSCRED).
static uid_t user_in(const struct msghdr* message) {
  auto* header = const_cast<struct msghdr*>(message);
  for (struct cmsghdr* part = CMSG_FIRSTHDR(header); part != nullptr;
       part = CMSG_NXTHDR(header, part)) {
    struct ucred sender;
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS ||
        part->cmsg_len < CMSG_LEN(sizeof sender))
      continue;
    memcpy(&sender, CMSG_DATA(part), sizeof sender);
    return sender.uid;
  }
  return kUnknown;
}

// Returns true if another user has sent the descriptor. That user may have received it from a
// process of ours. It stays a descriptor of the kernel's and does not stand for a file.
static bool is_from_another_user(int socket, const struct msghdr* message) {
  for (const uid_t user : {user_at_other_end(socket), user_in(message)}) {
    if (user == kUnknown || pool_owner::is_trusted(user)) continue;
    char text[16];
    snprintf(text, sizeof text, "%u", user);
    log_few("a descriptor that names a covered file is not used as that file: it was sent by user ",
            text);
    return true;
  }
  return false;
}

static void adopt(int fd, int socket, const struct msghdr* message) {
  cairn_file_id id;
  if (!descriptor::read_name(fd, &id) || !descriptor::lies_beside_ours(fd) ||
      is_from_another_user(socket, message))
    return;
  Entry* entry = adopt_file(id, "a file received through a socket is lost: ");
  if (entry == nullptr) return;
  table::enter(fd, entry);
  table::drop(entry);
}

// Refuses a covered file. The kernel sees an O_PATH descriptor and would call it closed.
static int no_socket(int fd) {
  table::Use use(fd);
  return use ? fail(is_path(use) ? -EBADF : -ENOTSOCK) : 0;
}

namespace serve {

int listen(int socket, int most) {
  return no_socket(socket) != 0 ? -1 : real::listen(socket, most);
}
int shutdown(int socket, int how) {
  return no_socket(socket) != 0 ? -1 : real::shutdown(socket, how);
}
ssize_t send(int socket, const void* buffer, size_t size, int flags) {
  return no_socket(socket) != 0 ? -1 : real::send(socket, buffer, size, flags);
}
ssize_t recv(int socket, void* buffer, size_t size, int flags) {
  return no_socket(socket) != 0 ? -1 : real::recv(socket, buffer, size, flags);
}
int getsockopt(int socket, int level, int name, void* value, socklen_t* size) {
  return no_socket(socket) != 0 ? -1 : real::getsockopt(socket, level, name, value, size);
}
int setsockopt(int socket, int level, int name, const void* value, socklen_t size) {
  return no_socket(socket) != 0 ? -1 : real::setsockopt(socket, level, name, value, size);
}

int bind(int socket, const struct sockaddr* address, socklen_t size) {
  if (no_socket(socket) != 0) return -1;
  fifo_socket::Address to;
  int error = to.make(socket, address, size);
  if (error < 0) return fail(error);
  int bound = real::bind(socket, to.address, to.size);
  if (bound == 0) {
    to.made();
  } else {
    error = errno;
    to.unmake();
    errno = error;
  }
  return bound;
}

int connect(int socket, const struct sockaddr* address, socklen_t size) {
  if (table::Use use(socket); use) {
    // connect(2) copies the address before it looks for a socket.
    if (is_path(use)) return fail(-EBADF);
    if (size > sizeof(struct sockaddr_storage)) return fail(-EINVAL);
    return fail(user_memory::is_readable(address, size) ? -ENOTSOCK : -EFAULT);
  }
  fifo_socket::Address to;
  int error = to.find(socket, address, size);
  return error < 0 ? fail(error) : real::connect(socket, to.address, to.size);
}

ssize_t sendto(int socket, const void* buffer, size_t size, int flags,
               const struct sockaddr* address, socklen_t length) {
  if (no_socket(socket) != 0) return -1;
  fifo_socket::Address to;
  int error = to.find(socket, address, length);
  if (error < 0) return fail(error);
  return real::sendto(socket, buffer, size, flags, to.address, to.size);
}

static ssize_t send_named(int socket, const struct msghdr* message, int flags);

ssize_t sendmsg(int socket, const struct msghdr* message, int flags) {
  if (no_socket(socket) != 0) return -1;
  if (!active() || !can_read(message)) return real::sendmsg(socket, message, flags);
  if (message->msg_name == nullptr) return send_named(socket, message, flags);
  fifo_socket::Address to;
  int error =
      to.find(socket, static_cast<const struct sockaddr*>(message->msg_name), message->msg_namelen);
  if (error < 0) return fail(error);
  struct msghdr addressed = *message;
  addressed.msg_name = const_cast<struct sockaddr*>(to.address);
  addressed.msg_namelen = to.size;
  return send_named(socket, &addressed, flags);
}

// Makes the link as the pool's user, if this process can become that user: receivers recognise no
// other.
static int make_named(cairn_file* file) {
  const pool_owner::Acting as_owner;
  return descriptor::make_named(file);
}

static ssize_t send_named(int socket, const struct msghdr* message, int flags) {
  if (message->msg_controllen == 0 || table::covered_fds.load() == 0 ||
      !user_memory::is_readable(message->msg_control, message->msg_controllen))
    return real::sendmsg(socket, message, flags);
  bool any = false;
  descriptors_in(message, [&](const unsigned char* place) {
    any = any || table::is_covered(number_at(place));
  });
  if (!any) return real::sendmsg(socket, message, flags);

  // Sends the message with named descriptors in place of ours. The sender must keep the description
  // open until the receiver has adopted it.
  struct msghdr named = *message;
  named.msg_control = malloc(message->msg_controllen);
  if (named.msg_control == nullptr) return fail(-ENOMEM);
  memcpy(named.msg_control, message->msg_control, message->msg_controllen);
  int made[253];  // SCM_MAX_FD
  size_t count = 0;
  descriptors_in(&named, [&](unsigned char* place) {
    table::Use use(number_at(place));
    if (!use || count >= 253) return;
    const int fd = make_named(use->file);
    if (fd < 0) return;
    made[count++] = fd;
    memcpy(place, &fd, sizeof fd);
  });
  ssize_t sent = real::sendmsg(socket, &named, flags);
  int before = errno;
  while (count > 0) real::close(made[--count]);
  free(named.msg_control);
  errno = before;
  return sent;
}

constexpr unsigned kMostMessages = 1024;  // UIO_MAXIOV: the kernel takes no more

// Sends several messages one after the other, as soon as one needs a replacement. The kernel could
// send them in one call.
int sendmmsg(int socket, struct mmsghdr* messages, unsigned count, int flags) {
  if (!active()) return real::sendmmsg(socket, messages, count, flags);
  if (no_socket(socket) != 0) return -1;
  if (count > kMostMessages) count = kMostMessages;
  bool ours = false;
  for (unsigned i = 0; i < count && !ours && can_read(header_in(messages, i)); ++i) {
    const struct msghdr& message = messages[i].msg_hdr;
    ours = message.msg_name != nullptr || message.msg_controllen > 0;
  }
  if (!ours) return real::sendmmsg(socket, messages, count, flags);
  unsigned sent = 0;
  for (; sent < count; ++sent) {
    int before = errno;
    ssize_t length = serve::sendmsg(socket, header_in(messages, sent), flags);
    if (length < 0 && sent == 0) return -1;
    if (length < 0) {
      errno = before;  // the next call returns it
      break;
    }
    const auto told = static_cast<unsigned>(length);
    if (user_memory::write(&messages[sent].msg_len, told) < 0)
      return sent > 0 ? static_cast<int>(sent) : fail(-EFAULT);
  }
  return static_cast<int>(sent);
}

static void received(int socket, struct msghdr* message, socklen_t room) {
  fifo_socket::show(static_cast<struct sockaddr*>(message->msg_name), room, &message->msg_namelen);
  if (message->msg_controllen == 0 || !active()) return;
  descriptors_in(message, [&](const unsigned char* place) {
    forget_stale_entry(number_at(place));
    adopt(number_at(place), socket, message);
  });
}

// The kernel writes the whole hidden name here: it may be longer than the program's buffer.
ssize_t recvmsg(int socket, struct msghdr* message, int flags) {
  if (no_socket(socket) != 0) return -1;
  if (!active() || !can_read(message)) return real::recvmsg(socket, message, flags);
  struct sockaddr_storage space;
  void* name = message->msg_name;
  socklen_t room = message->msg_namelen;
  bool named = name != nullptr && room < sizeof space && user_memory::is_readable(name, room);
  if (named) message->msg_name = &space, message->msg_namelen = sizeof space;
  ssize_t got = real::recvmsg(socket, message, flags);
  if (got >= 0) received(socket, message, named ? sizeof space : room);
  if (!named) return got;
  message->msg_name = name;
  if (got < 0) {
    message->msg_namelen = room;
  } else if (user_memory::write(name, &space,
                                message->msg_namelen < room ? message->msg_namelen : room) < 0) {
    return fail(-EFAULT);
  }
  return got;
}

int recvmmsg(int socket, struct mmsghdr* messages, unsigned count, int flags,
             struct timespec* timeout) {
  if (no_socket(socket) != 0) return -1;
  if (!active() || !can_read(header_in(messages, 0)))
    return real::recvmmsg(socket, messages, count, flags, timeout);
  if (count > kMostMessages) count = kMostMessages;
  socklen_t rooms[kMostMessages];
  for (unsigned i = 0; i < count; ++i) {
    // The kernel stops at a message that it cannot read, too.
    if (!can_read(header_in(messages, i))) count = i;
    if (i < count) rooms[i] = messages[i].msg_hdr.msg_namelen;
  }
  int got = real::recvmmsg(socket, messages, count, flags, timeout);
  for (unsigned i = 0; i < count && static_cast<int>(i) < got; ++i)
    received(socket, &messages[i].msg_hdr, rooms[i]);
  return got;
}

// Makes a call that returns an address. The kernel writes it into a buffer of ours, because a
// hidden name may be longer than the program's.
template <typename Call>
static auto shown(struct sockaddr* address, socklen_t* size, Call call) {
  socklen_t room;
  if (!active() || address == nullptr || user_memory::read(&room, size) < 0 || room > INT_MAX)
    return call(address, size);
  struct sockaddr_storage space;
  if (!user_memory::is_readable(address, room < sizeof space ? room : sizeof space))
    return call(address, size);
  auto* whole = reinterpret_cast<struct sockaddr*>(&space);
  socklen_t length = sizeof space;
  auto done = call(whole, &length);
  if (done < 0) return done;
  fifo_socket::show(whole, sizeof space, &length);
  if (user_memory::write(address, whole, length < room ? length : room) < 0 ||
      user_memory::write(size, length) < 0)
    return static_cast<decltype(done)>(fail(-EFAULT));
  return done;
}

int getsockname(int socket, struct sockaddr* address, socklen_t* size) {
  if (no_socket(socket) != 0) return -1;
  return shown(address, size, [&](auto... to) { return real::getsockname(socket, to...); });
}

int getpeername(int socket, struct sockaddr* address, socklen_t* size) {
  if (no_socket(socket) != 0) return -1;
  return shown(address, size, [&](auto... to) { return real::getpeername(socket, to...); });
}

int accept(int socket, struct sockaddr* address, socklen_t* size) {
  if (no_socket(socket) != 0) return -1;
  return shown(address, size,
               [&](auto... to) { return forget_stale_entry(real::accept(socket, to...)); });
}

int accept4(int socket, struct sockaddr* address, socklen_t* size, int flags) {
  if (no_socket(socket) != 0) return -1;
  return shown(address, size,
               [&](auto... to) { return forget_stale_entry(real::accept4(socket, to..., flags)); });
}

ssize_t recvfrom(int socket, void* buffer, size_t size, int flags, struct sockaddr* address,
                 socklen_t* length) {
  if (no_socket(socket) != 0) return -1;
  return shown(address, length,
               [&](auto... to) { return real::recvfrom(socket, buffer, size, flags, to...); });
}

}  // namespace serve
}  // namespace posix
