// A pool that a program makes for itself. The mark beside it, PATH.PROGRAM, has the number of the
// pool's inode: a run after one that was killed removes what that one has left, but no pool of
// another program or user.
#pragma once

#include <cairn/cairn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

namespace bench {

class MarkedPool {
 public:
  MarkedPool(std::string path, const std::string& program)
      : path_(std::move(path)), mark_(path_ + "." + program) {}

  // Makes the pool, anew if there is one of an earlier run. Returns what is wrong with it, or "".
  // For one process.
  [[nodiscard]] std::string make(uint64_t bytes) const {
    struct stat found {};
    if (lstat(path_.c_str(), &found) == 0) {
      if (!S_ISDIR(found.st_mode) || found.st_uid != geteuid() || !is_marked(found.st_ino))
        return "is there, and not from an earlier run of this program: remove it, or give another "
               "directory";
      if (cairn_pool_remove(path_.c_str()) < 0) return failed("removing an earlier run's pool");
    }
    cairn_pool_options options = {};
    options.struct_size = sizeof options;
    options.size = bytes;
    if (cairn_pool_create(path_.c_str(), &options) < 0) return failed("creating it");
    return mark();
  }

  // Removes mark and pool.
  [[nodiscard]] std::string remove() const {
    if (unlink(mark_.c_str()) != 0) return failed(mark_ + ": remove", std::strerror(errno));
    return cairn_pool_remove(path_.c_str()) < 0 ? failed("removing it") : "";
  }

 private:
  [[nodiscard]] bool is_marked(ino_t inode) const {
    struct stat found {};
    ino_t marked = 0;
    const int fd = open(mark_.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    const bool is_own = fd >= 0 && fstat(fd, &found) == 0 && S_ISREG(found.st_mode) &&
                        found.st_uid == geteuid() &&
                        read(fd, &marked, sizeof marked) == sizeof marked;
    if (fd >= 0) close(fd);
    return is_own && marked == inode;
  }

  [[nodiscard]] std::string mark() const {
    struct stat made {};
    const int fd = open(mark_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    const bool is_done = fd >= 0 && lstat(path_.c_str(), &made) == 0 &&
                         write(fd, &made.st_ino, sizeof made.st_ino) == sizeof made.st_ino;
    const std::string wrong = is_done ? "" : failed(mark_ + ": write", std::strerror(errno));
    if (fd >= 0) close(fd);
    return wrong;
  }

  static std::string failed(const std::string& what, const char* why = cairn_last_error()) {
    return what + " failed: " + why;
  }

  std::string path_;
  std::string mark_;
};

}  // namespace bench
