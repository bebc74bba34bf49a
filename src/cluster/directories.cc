#include "cluster/directories.h"

#include <fcntl.h>

#include "tier/system.h"

namespace cairn::cluster {

namespace sys = tier::sys;

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

Status sync_directory(const std::string& path) {
  const int64_t fd = sys::openat(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY);
  if (fd < 0) return sys::failed(fd, "open", path);
  const sys::Descriptor directory(static_cast<int>(fd));
  if (const int64_t result = sys::fsync_directory(directory.get()); result < 0)
    return sys::failed(result, "fsync", path);
  return Status();
}

Status make_directories(const std::string& top, const std::string& wanted) {
  for (size_t slash = top.size(); slash != std::string::npos && slash < wanted.size();) {
    slash = wanted.find('/', slash + 1);
    const std::string above = wanted.substr(0, slash);
    const int64_t made = sys::mkdirat(AT_FDCWD, above.c_str(), 0777);
    if (made < 0 && made != -EEXIST) return sys::failed(made, "mkdir", above);
    if (made == 0) CAIRN_TRY(sync_directory(parent_of(above)));
  }
  return Status();
}

Status write_whole(const std::string& path, const std::vector<uint8_t>& bytes, uint32_t mode) {
  const int64_t fd =
      sys::openat(AT_FDCWD, path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  if (fd < 0) return sys::failed(fd, "create", path);
  const sys::Descriptor file(static_cast<int>(fd));
  for (size_t done = 0; done < bytes.size();) {
    const int64_t n = sys::pwrite(file.get(), bytes.data() + done, bytes.size() - done, done);
    if (n < 0) return sys::failed(n, "write", path);
    done += static_cast<size_t>(n);
  }
  if (const int64_t result = sys::fsync(file.get()); result < 0)
    return sys::failed(result, "fsync", path);
  return Status();
}

}  // namespace cairn::cluster
