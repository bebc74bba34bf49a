#include "cluster/record/directories.h"

#include <fcntl.h>

namespace cairn::cluster {
namespace {

namespace sys = tier::sys;

int64_t open_below(int top, const std::string& below, int flags) {
  return sys::open_in(top, below.empty() ? "." : below.c_str(), flags | O_DIRECTORY | O_NOFOLLOW);
}

}  // namespace

Status sync_directory(const sys::Descriptor& directory, const std::string& path) {
  if (const int64_t result = sys::fsync_directory(directory.get()); result < 0)
    return sys::failed(result, "fsync", path);
  return Status();
}

Result<sys::Descriptor> open_directory(int top, const std::string& below, const std::string& path) {
  const int64_t opened = open_below(top, below, O_RDONLY);
  if (opened < 0) return sys::failed(opened, "open", below.empty() ? path : path + "/" + below);
  return sys::Descriptor(static_cast<int>(opened));
}

Status write_whole(const sys::Descriptor& directory, const std::string& name,
                   const std::string& path, const std::vector<uint8_t>& bytes) {
  const std::string place = path + "/" + name;
  const int64_t opened =
      sys::openat(directory.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (opened < 0) return sys::failed(opened, "create", place);
  const sys::Descriptor file(static_cast<int>(opened));
  for (size_t done = 0; done < bytes.size();) {
    const int64_t n = sys::pwrite(file.get(), bytes.data() + done, bytes.size() - done, done);
    if (n < 0) return sys::failed(n, "write", place);
    done += static_cast<size_t>(n);
  }
  if (const int64_t result = sys::fsync(file.get()); result < 0)
    return sys::failed(result, "fsync", place);
  return Status();
}

}  // namespace cairn::cluster
