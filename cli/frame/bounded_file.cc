#include "frame/bounded_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "text/units.h"

namespace cairn::cli {
namespace {

class Opened {
 public:
  explicit Opened(const std::string& path)
      : descriptor_(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)),
        error_(descriptor_ < 0 ? errno : 0) {
    if (error_ == 0 && fstat(descriptor_, &status) != 0) error_ = errno;
  }
  ~Opened() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] bool is_regular() const { return error_ == 0 && S_ISREG(status.st_mode); }
  // Reads up to `most_bytes`; 0 or an errno.
  int read_up_to(uint64_t most_bytes, std::string* text) const {
    char buffer[4096];
    while (text->size() < most_bytes) {
      const size_t wanted = std::min<uint64_t>(sizeof buffer, most_bytes - text->size());
      const ssize_t n = read(descriptor_, buffer, wanted);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return errno;
      if (n == 0) break;
      text->append(buffer, static_cast<size_t>(n));
    }
    return 0;
  }
  struct stat status {};

 private:
  int descriptor_;
  int error_;
};

// Says why a file of this owner and mode does not count; "" if it does.
std::string distrusted(const struct stat& st) {
  constexpr unsigned writable_by_others = 022;
  if (st.st_uid != geteuid() && st.st_uid != 0)
    return fmt::format("belongs to user {}; it must belong to you or to root", st.st_uid);
  if ((st.st_mode & writable_by_others) != 0)
    return fmt::format("others can write to it (mode {:04o}); run chmod go-w on it",
                       st.st_mode & 07777);
  return "";
}

}  // namespace

BoundedFile read_bounded(const std::string& path, uint64_t most_bytes, Owners owners) {
  BoundedFile file;
  const Opened opened(path);
  if (opened.error() != 0) {
    file.problem = fmt::format("cannot be read: {}", std::strerror(opened.error()));
  } else if (!opened.is_regular()) {
    file.problem = fmt::format("not a regular file, but {} of user {}",
                               S_ISDIR(opened.status.st_mode)    ? "a directory"
                               : S_ISFIFO(opened.status.st_mode) ? "a FIFO"
                                                                 : "a device",
                               opened.status.st_uid);
  } else if (owners == Owners::trusted) {
    file.problem = distrusted(opened.status);
  }
  if (!file.problem.empty()) return file;
  // A file may grow while it is read, and some files of the kernel do not tell their size.
  if (const int error = opened.read_up_to(most_bytes + 1, &file.text); error != 0)
    file.problem = fmt::format("cannot be read: {}", std::strerror(error));
  else if (file.text.size() > most_bytes)
    file.problem = fmt::format("larger than {}, the maximum", format_size(most_bytes));
  return file;
}

std::string read_beginning(const std::string& path, uint64_t most_bytes) {
  const Opened opened(path);
  std::string text;
  if (opened.is_regular() && opened.read_up_to(most_bytes, &text) != 0) text.clear();
  return text;
}

}  // namespace cairn::cli
