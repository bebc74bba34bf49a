#include "text/error.h"

#include <cstring>

namespace cairn::cli {

std::string library_error(int64_t negative_errno) {
  const char* detail = cairn_last_error();
  if (detail != nullptr && detail[0] != '\0') return detail;
  return std::strerror(static_cast<int>(-negative_errno));
}

std::string system_error(const std::string& path, int errno_value) {
  return path + ": " + std::strerror(errno_value);
}

int64_t check(int64_t result, const std::string& what) {
  if (result >= 0) return result;
  std::string text = library_error(result);
  if (!what.empty() && text.find(what) == std::string::npos) text = what + ": " + text;
  throw Error(exit_failed, text);
}

}  // namespace cairn::cli
