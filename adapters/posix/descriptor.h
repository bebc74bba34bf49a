// Kernel descriptors of our making.
//
// A Cairn descriptor is a genuine kernel descriptor, O_PATH|O_NOFOLLOW on a symbolic link of ours: dup,
// fcntl, close, fork and exec work on it in the kernel, and a data call on it that did not come through
// us gets EBADF. The link is removed as soon as it is open; its text can still be read from the
// descriptor. All descriptors of a process are duplicates of one (one system call each). Where
// another process is to recognise one that comes through a socket, one is sent in its place whose link names
// pool, slot and generation; after exec, a list says which is which (handover.cc).
//
// Private descriptors belong to the engine and to us. They lie at high numbers and are invisible to the
// program's close, close_range, dup2 and the like. A program that has used up its descriptors may still lock, map
// and exec its files: see Room.
#pragma once

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sys/resource.h>

#include <string_view>
#include <type_traits>

#include "posix/engine.h"
#include "posix/pool_owner.h"

namespace posix::descriptor {

// A descriptor for a Cairn file, not in the table yet; -errno. `least` as in F_DUPFD.
int make(bool close_on_exec, int least = 0);

// One whose link names `file`; -errno. Close-on-exec, at a high number.
int make_named(cairn_file* file);
// What a descriptor of make_named() names; false for every other.
bool read_name(int fd, cairn_file_id* id);
// Was it made here, by this process or another of the pool?
bool is_ours(int fd);

// A removed, empty directory; private. -errno.
int guard_directory();

// Moves a descriptor to a high number and makes it private; keeps close-on-exec.
int keep_private(int fd);
// ... but not now: closing the low number would do harm (locks.cc).
extern __thread bool stay_low;
int close_private(int fd);
void forget_private(int fd);

// Room for descriptors of ours while it lives, where the program has left none: the limit is raised as far as it goes,
// or as many as are needed of those that were kept for this are closed.
class Room {
 public:
  explicit Room(int count = 1);
  ~Room();
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

 private:
  Inside inside_;
  struct rlimit limit_;
  bool raised_ = false;
};
// Keeps some, after one of ours has been closed.
void refill();

// Private, with room made if it must be. `call` opens.
template <typename Call>
int open_private(Call call) {
  int before = errno;
  int fd = call();
  if (__builtin_expect(fd >= 0 || errno != EMFILE, 1)) return keep_private(fd);
  Room room;
  fd = keep_private(call());
  if (fd >= 0) errno = before;
  return fd;
}

// The engine holds locks: its system calls are no places to be cancelled at.
class Uncancelled {
 public:
  Uncancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~Uncancelled() { pthread_setcancelstate(before_, nullptr); }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

 private:
  int before_;
};

// Which of the intercepted calls give descriptors to the engine, or take them.
constexpr bool opens(std::string_view name) {
  return name == "open" || name == "open64" || name == "openat" || name == "openat64" ||
         name == "creat" || name == "mkostemp" || name == "mkstemp" || name == "dup" ||
         name == "__open_2" || name == "__open64_2" || name == "__openat_2" ||
         name == "__openat64_2";
}
constexpr bool closes(std::string_view name) { return name == "close"; }
constexpr bool is_numbered(std::string_view name) { return name == "syscall"; }

// By number the engine works on the directory below. What it opens there it closes again, or looks after itself.
template <typename Call>
auto with_room(Call call) {
  auto result = call();
  if (__builtin_expect(result != -1 || errno != EMFILE, 1)) {
    refill();
    return result;
  }
  Room room;
  return call();
}

// The first text among a call's arguments; null: there is none.
template <typename... Arguments>
constexpr const char* path_among(Arguments... arguments) {
  const char* path = nullptr;
  [[maybe_unused]] const auto look = [&path](auto argument) {
    if constexpr (std::is_same_v<decltype(argument), const char*>) {
      if (path == nullptr) path = argument;
    }
  };
  (look(arguments), ...);
  return path;
}

template <bool kOpens, bool kCloses, bool kNumbered, typename Call>
auto engine_does([[maybe_unused]] const char* path, Call call) {
  if constexpr (kOpens) {
    return open_private([path, call] { return pool_owner::open_for_engine(path, call); });
  } else if constexpr (kNumbered) {
    return with_room(call);
  } else if constexpr (kCloses) {
    auto closed = call();
    refill();
    return closed;
  } else {
    return call();
  }
}
template <bool kCloses, typename... Arguments>
void engine_closes(Arguments... arguments) {
  if constexpr (kCloses) {
    pool_owner::closing(arguments...);
    forget_private(arguments...);
  }
}

}  // namespace posix::descriptor
