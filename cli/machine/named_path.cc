#include "machine/named_path.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "machine/data_file.h"
#include "text/error.h"

namespace cairn::cli {
namespace {

constexpr int most_links = 40;  // as many as the kernel follows

std::string current_directory() {
  char* const here = getcwd(nullptr, 0);
  if (here == nullptr) throw Error(exit_failed, system_error("the current directory", errno));
  std::string path = here;
  std::free(here);
  return path == "/" ? "" : path;
}

// A user namespace that does not know root shows root's files as another user's.
uid_t owner_of_root_directory() {
  struct stat st {};
  return lstat("/", &st) == 0 ? st.st_uid : 0;
}

bool is_of_other(const struct stat& link) {
  return link.st_uid != geteuid() && link.st_uid != 0 && link.st_uid != owner_of_root_directory();
}

// The file or link itself. Its descriptor is negative if it cannot be reached.
DataFile look_at(const std::string& path) {
  return {open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC), path};
}

std::string target_of(const DataFile& link) {
  char target[PATH_MAX];
  const ssize_t length = readlinkat(link.descriptor(), "", target, sizeof target);
  if (length < 0) throw Error(exit_failed, system_error(link.path(), errno));
  return {target, static_cast<size_t>(length)};
}

class Walk {
 public:
  explicit Walk(const std::string& path) : at_(path.starts_with("/") ? "" : current_directory()) {
    put_before(path);
  }
  std::string go() {
    while (!ahead_.empty()) {
      const std::string next = at_ + "/" + ahead_.back();
      if (!step(next)) return rest();
    }
    return at_.empty() ? "/" : at_;
  }

 private:
  // The components of `path` come next.
  void put_before(const std::string& path) {
    const std::filesystem::path all = path;
    const std::vector<std::string> parts(all.begin(), all.end());
    ahead_.insert(ahead_.end(), parts.rbegin(), parts.rend());
  }
  // False: the path goes no further.
  bool step(const std::string& next) {
    const std::string part = ahead_.back();
    if (part == "/") at_.clear();
    if (part == "..") at_.erase(std::min(at_.rfind('/'), at_.size()));
    if (part == "/" || part == ".." || part == "." || part.empty()) {
      ahead_.pop_back();
      return true;
    }
    const DataFile file = look_at(next);
    if (file.descriptor() < 0) return false;
    const struct stat st = file.status();
    if (S_ISLNK(st.st_mode)) {
      follow(file, st);
      return true;
    }
    if (!S_ISDIR(st.st_mode) && ahead_.size() > 1) return false;
    ahead_.pop_back();
    at_ = next;
    return true;
  }
  void follow(const DataFile& link, const struct stat& st) {
    if (is_of_other(st))
      fail(
          "{}: is a symbolic link that belongs to user {}, and is not followed; name the pool or "
          "directory itself",
          link.path(), st.st_uid);
    if (++links_ > most_links) throw Error(exit_failed, system_error(link.path(), ELOOP));
    ahead_.pop_back();
    put_before(target_of(link));
  }
  [[nodiscard]] std::string rest() const {
    std::string path = at_;
    for (auto part = ahead_.rbegin(); part != ahead_.rend(); ++part) path += "/" + *part;
    return path;
  }

  std::string at_;                  // without links; "": the root directory
  std::vector<std::string> ahead_;  // components, the next one last
  int links_ = 0;
};

}  // namespace

std::string named_path(const std::string& path) { return path.empty() ? "" : Walk(path).go(); }

bool is_link_of_other(const std::string& path) {
  const DataFile file = look_at(path);
  if (file.descriptor() < 0) return false;
  const struct stat st = file.status();
  return S_ISLNK(st.st_mode) && is_of_other(st);
}

}  // namespace cairn::cli
