#include "base/bounded_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace cairn {
namespace {

Status failed(int error, const std::string& path) {
  return fail(error, "%s: %s", path.c_str(), std::strerror(error));
}

Status check_file(int descriptor, const std::string& path) {
  struct stat st = {};
  if (fstat(descriptor, &st) != 0) return failed(errno, path);
  if (!S_ISREG(st.st_mode)) return fail(EINVAL, "%s: not a regular file", path.c_str());
  if (st.st_uid != geteuid() && st.st_uid != 0)
    return fail(EPERM, "%s: belongs to user %u; it must belong to you or to root", path.c_str(),
                st.st_uid);
  constexpr unsigned writable_by_others = 022;
  if ((st.st_mode & writable_by_others) != 0)
    return fail(EPERM, "%s: others can write to it (mode %04o); run chmod go-w on it", path.c_str(),
                st.st_mode & 07777U);
  return Status();
}

// Reads up to `most_bytes`; 0 or an errno.
int read_up_to(int descriptor, size_t most_bytes, std::string* text) {
  char buffer[4096];
  while (text->size() < most_bytes) {
    const ssize_t n = read(descriptor, buffer, std::min(sizeof buffer, most_bytes - text->size()));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) break;
    text->append(buffer, static_cast<size_t>(n));
  }
  return 0;
}

}  // namespace

Result<std::string> read_trusted_file(const std::string& path, size_t most_bytes) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0) return failed(errno, path);
  std::string text;
  Status status = check_file(descriptor, path);
  if (status.ok()) {
    // A file may grow while it is read.
    if (const int error = read_up_to(descriptor, most_bytes + 1, &text); error != 0)
      status = failed(error, path);
    else if (text.size() > most_bytes)
      status = fail(EFBIG, "%s: larger than %zu bytes, the maximum", path.c_str(), most_bytes);
  }
  close(descriptor);
  if (!status.ok()) return status;
  return text;
}

}  // namespace cairn
