#include "pool/attach_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cairn::pool {

Result<AttachLock> lock_attach(const Pool& pool) {
  const char* path = pool.lock_path.c_str();
  const int descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return fail(errno, "%s: lock file: %s", path, strerror(errno));
  const Status status = media::wait_for_lock(descriptor, attach_lock_byte);
  if (status.ok()) return AttachLock(descriptor);
  close(descriptor);
  return annotate(status, "%s", path);
}

void AttachLock::release() {
  if (descriptor_ < 0) return;
  const int saved = errno;
  media::unlock(descriptor_, attach_lock_byte);
  close(descriptor_);
  errno = saved;
  descriptor_ = -1;
}

Result<bool> anybody_attached(int descriptor) {
  return media::is_held(descriptor, lane_lock_byte(0), format::max_lanes);
}

Result<bool> anybody_attached(const std::string& lock_path) {
  const int fd = open(lock_path.c_str(), O_RDWR | O_CLOEXEC);
  // The lock file of a pool on a device is made by the first who attaches in this boot.
  if (fd < 0 && errno == ENOENT) return false;
  if (fd < 0) return fail(errno, "%s: %s", lock_path.c_str(), strerror(errno));
  auto held = anybody_attached(fd);
  close(fd);
  return held;
}

int open_lock_file(const Pool& pool) {
  return open(pool.lock_path.c_str(), (pool.read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC);
}

void close_lock_file(int descriptor) {
  if (descriptor >= 0) close(descriptor);
}

}  // namespace cairn::pool
