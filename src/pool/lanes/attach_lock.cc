#include "pool/lanes/attach_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cairn::pool {
namespace {

bool is_file(int descriptor, uint64_t device, uint64_t inode) {
  struct stat st {};
  return fstat(descriptor, &st) == 0 && st.st_dev == device && st.st_ino == inode;
}

}  // namespace

Result<AttachLock> lock_attach(const std::string& lock_path, const std::string& path_for_messages) {
  const char* path = lock_path.c_str();
  for (;;) {
    const int descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0)
      return fail(errno, "%s: lock file: %s", path_for_messages.c_str(), strerror(errno));
    AttachLock lock(descriptor);
    const Status status = media::wait_for_lock(descriptor, attach_lock_byte);
    if (!status.ok()) return annotate(status, "%s", path_for_messages.c_str());
    // A process that removes a pool removes its name under this lock.
    struct stat named {};
    if (lstat(path, &named) == 0 && is_file(descriptor, named.st_dev, named.st_ino)) return lock;
  }
}

Result<AttachLock> lock_attach(const Pool& pool) {
  auto lock = lock_attach(pool.lock_path, pool.lock_path);
  if (lock.ok() && pool.lock_inode != 0 &&
      !is_file(lock->descriptor(), pool.lock_device, pool.lock_inode))
    return fail(ENOENT, "%s: the pool has been removed, and another one has its name",
                pool.path.c_str());
  return lock;
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
  // The lock file of a pool on a device is made by the first process that attaches in this boot.
  if (fd < 0 && errno == ENOENT) return false;
  if (fd < 0) return fail(errno, "%s: %s", lock_path.c_str(), strerror(errno));
  auto held = anybody_attached(fd);
  close(fd);
  return held;
}

Status check_unused(const AttachLock& lock, const std::string& path, const MayGo& may_go) {
  auto attached = anybody_attached(lock.descriptor());
  if (!attached.ok()) return attached.status();
  if (*attached) return fail(EBUSY, "%s: processes are attached to this pool", path.c_str());
  return !may_go || may_go() ? Status() : fail(ECANCELED, "%s: is still needed", path.c_str());
}

int open_lock_file(const Pool& pool) {
  const int flags = (pool.read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NOFOLLOW;
  const int descriptor = open(pool.lock_path.c_str(), flags);
  // The locks of another pool would make all lanes of this one look free.
  const bool is_another = descriptor >= 0 && pool.lock_inode != 0 &&
                          !is_file(descriptor, pool.lock_device, pool.lock_inode);
  if (!is_another) return descriptor;
  close(descriptor);
  return -1;
}

void close_lock_file(int descriptor) {
  if (descriptor >= 0) close(descriptor);
}

}  // namespace cairn::pool
