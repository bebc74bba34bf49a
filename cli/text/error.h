// Error is thrown by a command that cannot go on. The exit codes of `cairn` are here too.
//
// Inside cli/ errors are exceptions; main turns each into one line on stderr. The text names the
// path and the cause; the printing function puts the command's name in front.
#pragma once

#include <cairn/cairn.h>
#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace cairn::cli {

// Documented in `cairn help`; scripts rely on them.
inline constexpr int exit_ok = 0;
inline constexpr int exit_failed = 1;            // the command could not do its work
inline constexpr int exit_usage = 2;             // the command line or the configuration is wrong
inline constexpr int exit_not_executable = 126;  // run: as the shell
inline constexpr int exit_not_found = 127;       // run: as the shell
inline constexpr int exit_signal = 128;          // plus the signal's number

class Error : public std::runtime_error {
 public:
  Error(int exit_code, const std::string& text) : std::runtime_error(text), exit_code_(exit_code) {}
  [[nodiscard]] int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

template <typename... Arguments>
[[noreturn]] void fail(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw Error(exit_failed, fmt::format(format, std::forward<Arguments>(arguments)...));
}

template <typename... Arguments>
[[noreturn]] void usage_error(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw Error(exit_usage, fmt::format(format, std::forward<Arguments>(arguments)...));
}

// The library's one line about the last failure; the errno text if it left none.
std::string library_error(int64_t negative_errno);
// "PATH: cause" for the errno of a failed system call.
std::string system_error(const std::string& path, int errno_value);

// Passes a result of the library on, or throws its failure. `what` is put in front if the library's
// line does not name it already.
int64_t check(int64_t result, const std::string& what = "");

}  // namespace cairn::cli
