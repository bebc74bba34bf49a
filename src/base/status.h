// Status: the result of every operation inside Cairn.
//
// A Status is one int: zero, or a positive errno value as POSIX defines it. It is cheap enough for
// the data path. The function that decides what the error is puts path, offset and cause, once,
// into a per-thread detail text: `return fail(ENOSPC, "...", ...)`. The C API hands that text to
// the caller as cairn_last_error().
//
// Nothing in src/ throws: the code is preloaded into strangers' programs.
#pragma once

#include <cerrno>
#include <cstdint>
#include <utility>

namespace cairn {

class [[nodiscard]] Status {
 public:
  constexpr Status() = default;
  constexpr explicit Status(int errno_value) : code_(errno_value) {}

  [[nodiscard]] constexpr bool ok() const { return code_ == 0; }
  constexpr explicit operator bool() const { return ok(); }
  // The positive errno value, or 0.
  [[nodiscard]] constexpr int code() const { return code_; }
  friend constexpr bool operator==(Status a, Status b) { return a.code_ == b.code_; }

  // Marks the rare place where a failure changes nothing; say why beside it.
  constexpr void ignore() const {}

 private:
  int code_ = 0;
};

// Builds a failure and records its detail text for this thread: printf form, printable, at most
// detail_capacity - 1 bytes. Async-signal-safe apart from floating point, which is not used.
[[gnu::format(printf, 2, 3)]] Status fail(int errno_value, const char* format, ...);

// Puts "format: " in front of the detail text that is there, and returns `cause` unchanged: for a
// caller that knows the path while its callee knew the cause.
[[gnu::format(printf, 2, 3)]] Status annotate(Status cause, const char* format, ...);

inline constexpr int detail_capacity = 512;
// The detail of the last failure on this thread; never null. Valid until the next failure.
const char* last_detail();
void clear_detail();

// A value or a failure. T must be default constructible (all of ours are).
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Status failure) : status_(failure) {}   // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return status_.ok(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] Status status() const { return status_; }
  [[nodiscard]] int code() const { return status_.code(); }
  T& operator*() { return value_; }
  const T& operator*() const { return value_; }
  T* operator->() { return &value_; }
  const T* operator->() const { return &value_; }

 private:
  T value_{};
  Status status_;
};

// Returns from the enclosing function when `expression` is a failed Status.
#define CAIRN_TRY(expression)                                                                   \
  do {                                                                                          \
    if (::cairn::Status cairn_try_status_ = (expression); !cairn_try_status_.ok()) [[unlikely]] \
      return cairn_try_status_;                                                                 \
  } while (false)

// Declares `name` with the value of a Result, or returns its failure.
#define CAIRN_TRY_ASSIGN(name, expression)    \
  auto cairn_result_##name = (expression);    \
  if (!cairn_result_##name.ok()) [[unlikely]] \
    return cairn_result_##name.status();      \
  auto name = std::move(*cairn_result_##name)

}  // namespace cairn
