#include "pools/place_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "text/error.h"
#include "text/progress.h"

namespace cairn::cli {
namespace {

int operation_of(PlaceLock::Mode mode) {
  return mode == PlaceLock::Mode::shared ? LOCK_SH : LOCK_EX;
}

}  // namespace

std::string lock_path(const std::string& directory, const std::string& name) {
  return directory + "/.lock-" + name;
}

PlaceLock::PlaceLock(const std::string& directory, const std::string& name, Mode mode, bool wait)
    : path_(lock_path(directory, name)) {
  if (!open_file()) throw Error(exit_failed, system_error(path_, errno));
  change(mode, wait);
}

PlaceLock::~PlaceLock() {
  if (descriptor_ < 0) return;
  if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0 && is_named()) unlink(path_.c_str());
  close(descriptor_);
}

void PlaceLock::release() {
  flock(descriptor_, LOCK_UN);
  held_ = false;
}

bool PlaceLock::change(Mode mode, bool wait) {
  return take(operation_of(mode) | (wait ? 0 : LOCK_NB), [] { return true; });
}

bool PlaceLock::change(Mode mode, const std::function<bool()>& go_on) {
  return take(operation_of(mode), go_on);
}

bool PlaceLock::hold_soon() {
  constexpr int most_tries = 20;
  for (int i = 0; i < most_tries && !held_; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    change(Mode::exclusive, false);
  }
  return held_;
}

bool PlaceLock::is_first_to_note() {
  // Each caller appends a byte. The first caller's byte begins the file. If the file system is
  // full, every caller counts as the first.
  const char mark = '!';
  return write(descriptor_, &mark, 1) != 1 || lseek(descriptor_, 0, SEEK_CUR) == 1;
}

bool PlaceLock::open_file() {
  const int opened =
      open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (opened < 0) return false;
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = opened;
  return true;
}

bool PlaceLock::is_named() const {
  struct stat mine {};
  struct stat named {};
  return fstat(descriptor_, &mine) == 0 && lstat(path_.c_str(), &named) == 0 &&
         mine.st_dev == named.st_dev && mine.st_ino == named.st_ino;
}

bool PlaceLock::take(int operation, const std::function<bool()>& go_on) {
  // flock() releases the old lock before it acquires the new one.
  held_ = false;
  for (;;) {
    if (flock(descriptor_, operation) == 0) {
      if (is_named()) return held_ = true;
      if (open_file()) continue;
      // The directory has been removed with all files in it: no process needs to be kept out.
      if (errno == ENOENT) return held_ = true;
      throw Error(exit_failed, system_error(path_, errno));
    }
    if (errno == EWOULDBLOCK) return false;
    if (errno != EINTR) throw Error(exit_failed, system_error("lock beside the pools", errno));
    if (stop_signal() != 0 || !go_on()) return false;
  }
}

}  // namespace cairn::cli
