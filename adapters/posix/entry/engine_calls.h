// Serves the pool's code in this process: its calls reach the C library, and its descriptors are
// private (descriptor.h).
#pragma once

#include <errno.h>
#include <pthread.h>

#include <string_view>
#include <type_traits>

#include "posix/credentials/pool_owner.h"
#include "posix/fd/descriptor.h"

namespace posix::engine_calls {

// Disables cancellation: the engine holds locks during its system calls.
class Uncancelled {
 public:
  Uncancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~Uncancelled() { pthread_setcancelstate(before_, nullptr); }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

 private:
  int before_;
};

// Tells which of the intercepted calls give descriptors to the engine, or take them.
constexpr bool opens(std::string_view name) {
  return name == "open" || name == "open64" || name == "openat" || name == "openat64" ||
         name == "creat" || name == "mkostemp" || name == "mkstemp" || name == "dup" ||
         name == "__open_2" || name == "__open64_2" || name == "__openat_2" ||
         name == "__openat64_2";
}
constexpr bool closes(std::string_view name) { return name == "close"; }
constexpr bool is_numbered(std::string_view name) { return name == "syscall"; }

// Makes a call of the engine by number, with a free descriptor if needed. The engine uses such
// calls on the directory below, and closes the descriptors that they open.
template <typename Call>
auto with_room(Call call) {
  auto result = call();
  if (__builtin_expect(result != -1 || errno != EMFILE, 1)) {
    descriptor::refill();
    return result;
  }
  descriptor::Room room;
  return call();
}

// Returns the first text among a call's arguments, or null.
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
    return descriptor::open_private(
        [path, call] { return pool_owner::open_for_engine(path, call); });
  } else if constexpr (kNumbered) {
    return with_room(call);
  } else if constexpr (kCloses) {
    auto closed = call();
    descriptor::refill();
    return closed;
  } else {
    return call();
  }
}
template <bool kCloses, typename... Arguments>
void engine_closes(Arguments... arguments) {
  if constexpr (kCloses) {
    pool_owner::closing(arguments...);
    descriptor::forget_private(arguments...);
  }
}

}  // namespace posix::engine_calls
