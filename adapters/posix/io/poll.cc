// Waiting for descriptors. A Cairn file is always ready, as regular files are. The kernel sees an
// O_PATH descriptor and would call it invalid.
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/core/user_memory.h"
#include "posix/fd/table.h"
#include "posix/io/calls.h"
#include "posix/io/open.h"
#include "posix/path/result.h"

namespace posix {

static bool any_covered(const struct pollfd* fds, nfds_t count) {
  if (table::covered_fds.load(std::memory_order_relaxed) == 0) return false;
  // The kernel refuses a list that is too long or cannot be read.
  if (count > static_cast<nfds_t>(table::kMost) ||
      !user_memory::is_readable(fds, count * sizeof *fds))
    return false;
  for (nfds_t i = 0; i < count; ++i) {
    if (table::is_covered(fds[i].fd)) return true;
  }
  return false;
}

// Asks the kernel about the other descriptors, without waiting if one of ours is ready, and adds
// the results of ours.
static int poll_mixed(struct pollfd* fds, nfds_t count, const struct timespec* timeout,
                      const sigset_t* mask) {
  auto* others = static_cast<struct pollfd*>(malloc(count * sizeof(struct pollfd)));
  if (others == nullptr) return fail(-ENOMEM);
  bool ready = false;
  constexpr short kAlways =
      POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM;  // NOLINT(google-runtime-int): pollfd's
  for (nfds_t i = 0; i < count; ++i) {
    others[i] = fds[i];
    if (!table::is_covered(fds[i].fd)) continue;
    others[i].fd = -1;
    ready = ready || (fds[i].events & kAlways) != 0;
  }
  struct timespec at_once = {0, 0};
  int got = real::ppoll(others, count, ready ? &at_once : timeout, mask);
  if (got >= 0) {
    got = 0;
    for (nfds_t i = 0; i < count; ++i) {
      table::Use use(fds[i].fd);
      others[i].fd = fds[i].fd;
      if (use) {
        auto says = is_path(use) ? POLLNVAL : fds[i].events & kAlways;
        others[i].revents = static_cast<decltype(others[i].revents)>(says);
      }
      if (others[i].revents != 0) ++got;
    }
    if (user_memory::write(fds, others, count * sizeof *fds) < 0) got = fail(-EFAULT);
  }
  free(others);
  return got;
}

// A set of descriptors as select has it, of any length.
struct Set {
  fd_set* bits;
  bool is_readable(int count) const {
    const auto words = (static_cast<size_t>(count) + 63) / 64;
    return bits == nullptr || user_memory::is_readable(bits, words * sizeof(uint64_t));
  }
  bool has(int fd) const { return bits != nullptr && (word(fd) >> (fd % 64) & 1) != 0; }
  void clear(int fd) { word(fd) &= ~(uint64_t{1} << (fd % 64)); }
  void set(int fd) { word(fd) |= uint64_t{1} << (fd % 64); }
  uint64_t& word(int fd) const { return reinterpret_cast<uint64_t*>(bits)[fd / 64]; }
};

static bool any_covered(int count, Set a, Set b, Set c) {
  if (table::covered_fds.load(std::memory_order_relaxed) == 0 || count <= 0) return false;
  const int end = table::highest.load() + 1;
  if (count > end) count = end;
  if (!a.is_readable(count) || !b.is_readable(count) || !c.is_readable(count)) return false;
  for (int fd = 0; fd < count; ++fd) {
    if ((a.has(fd) || b.has(fd) || c.has(fd)) && table::is_covered(fd)) return true;
  }
  return false;
}

static int select_mixed(int count, Set readers, Set writers, Set others,
                        const struct timespec* timeout, const sigset_t* mask) {
  // Our descriptors that are asked for; they leave the sets while the kernel looks at them.
  auto* asked = static_cast<unsigned char*>(calloc(static_cast<size_t>(count), 1));
  if (asked == nullptr) return fail(-ENOMEM);
  bool ready = false;
  for (int fd = 0; fd < count; ++fd) {
    if (!table::is_covered(fd)) continue;
    if (readers.has(fd)) asked[fd] |= 1, readers.clear(fd);
    if (writers.has(fd)) asked[fd] |= 2, writers.clear(fd);
    if (others.has(fd)) others.clear(fd);
    ready = ready || asked[fd] != 0;
  }
  struct timespec at_once = {0, 0};
  int got = real::pselect(count, readers.bits, writers.bits, others.bits,
                          ready ? &at_once : timeout, mask);
  for (int fd = 0; got >= 0 && fd < count; ++fd) {
    if ((asked[fd] & 1) != 0) readers.set(fd), ++got;
    if ((asked[fd] & 2) != 0) writers.set(fd), ++got;
  }
  free(asked);
  return got;
}

static int64_t now_us() {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1000000} + now.tv_nsec / 1000;
}

// Returns 0 or a negative errno. The kernel checks the time before the descriptors.
static int check(const struct timespec* timeout) {
  struct timespec given;
  if (timeout == nullptr) return 0;
  if (int error = user_memory::read(&given, timeout); error < 0) return error;
  const bool is_time = given.tv_sec >= 0 && given.tv_nsec >= 0 && given.tv_nsec < 1000000000;
  return is_time ? 0 : -EINVAL;
}

// Returns true if an epoll takes this descriptor of the kernel's.
static bool can_wait_for(int fd) {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {};
  const bool can = real::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0 || errno != EPERM;
  if (epoll >= 0) real::close(epoll);
  return can;
}

// Returns false for O_PATH, too.
static bool is_open(const table::Use& use, int fd) {
  if (use) return !is_path(use);
  const int before = errno;
  const int flags = real::fcntl(fd, F_GETFL, nullptr);
  errno = before;
  return flags >= 0 && (flags & O_PATH) == 0;
}

namespace serve {

int poll(struct pollfd* fds, nfds_t count, int timeout) {
  if (!any_covered(fds, count)) return real::poll(fds, count, timeout);
  struct timespec wait = {timeout / 1000, timeout % 1000 * 1000000};
  return poll_mixed(fds, count, timeout < 0 ? nullptr : &wait, nullptr);
}

int ppoll(struct pollfd* fds, nfds_t count, const struct timespec* timeout, const sigset_t* mask) {
  if (!any_covered(fds, count)) return real::ppoll(fds, count, timeout, mask);
  if (int error = check(timeout); error < 0) return fail(error);
  return poll_mixed(fds, count, timeout, mask);
}

int select(int count, fd_set* readers, fd_set* writers, fd_set* others, struct timeval* timeout) {
  if (!any_covered(count, {readers}, {writers}, {others}))
    return real::select(count, readers, writers, others, timeout);
  if (timeout == nullptr)
    return select_mixed(count, {readers}, {writers}, {others}, nullptr, nullptr);
  struct timeval given;
  if (int error = user_memory::read(&given, timeout); error < 0) return fail(error);
  if (given.tv_sec < 0 || given.tv_usec < 0) return fail(-EINVAL);
  given = {given.tv_sec + given.tv_usec / 1000000, given.tv_usec % 1000000};
  struct timespec wait = {given.tv_sec, given.tv_usec * 1000};
  int64_t before = now_us();
  int got = select_mixed(count, {readers}, {writers}, {others}, &wait, nullptr);
  int64_t left = given.tv_sec * int64_t{1000000} + given.tv_usec - (now_us() - before);
  if (left < 0) left = 0;
  given = {left / 1000000, left % 1000000};
  user_memory::write(timeout, given);  // Linux ignores an error here, too
  return got;
}

int pselect(int count, fd_set* readers, fd_set* writers, fd_set* others,
            const struct timespec* timeout, const sigset_t* mask) {
  if (!any_covered(count, {readers}, {writers}, {others}))
    return real::pselect(count, readers, writers, others, timeout, mask);
  if (int error = check(timeout); error < 0) return fail(error);
  return select_mixed(count, {readers}, {writers}, {others}, timeout, mask);
}

int epoll_ctl(int epoll, int operation, int fd, struct epoll_event* event) {
  table::Use on(epoll), of(fd);
  if (!on && !of) return real::epoll_ctl(epoll, operation, fd, event);
  // The checks follow the kernel's order. It cannot make them: it knows our descriptors as O_PATH.
  if (operation != EPOLL_CTL_DEL && !user_memory::is_readable(event, sizeof *event))
    return fail(-EFAULT);
  if (!is_open(on, epoll) || !is_open(of, fd)) return fail(-EBADF);
  if (of || !can_wait_for(fd)) return fail(-EPERM);
  return fail(-EINVAL);  // a file of ours is not an epoll
}

}  // namespace serve
}  // namespace posix
