#include "cluster/directories.h"

#include <fcntl.h>

namespace cairn::cluster {
namespace {

namespace sys = tier::sys;

int64_t open_way(int top, const std::string& below, int flags) {
  return sys::open_in(top, below.empty() ? "." : below.c_str(), flags | O_DIRECTORY | O_NOFOLLOW);
}

}  // namespace

Status sync_directory(const sys::Descriptor& directory, const std::string& path) {
  if (const int64_t result = sys::fsync_directory(directory.get()); result < 0)
    return sys::failed(result, "fsync", path);
  return Status();
}

Result<sys::Descriptor> open_directory(int top, const std::string& below, const std::string& path) {
  const int64_t opened = open_way(top, below, O_RDONLY);
  if (opened < 0) return sys::failed(opened, "open", below.empty() ? path : path + "/" + below);
  return sys::Descriptor(static_cast<int>(opened));
}

Result<sys::Descriptor> make_directories(int top, const std::string& below,
                                         const std::string& path) {
  auto found = open_directory(top, below, path);
  if (found.ok() || found.code() != ENOENT) return found;
  sys::Descriptor above;
  for (size_t at = 0; at < below.size();) {
    const size_t end = std::min(below.find('/', at), below.size());
    const std::string so_far = path + "/" + below.substr(0, end);
    const std::string name = below.substr(at, end - at);
    at = end + 1;
    const int from = above.ok() ? above.get() : top;
    const int64_t made = sys::mkdirat(from, name.c_str(), 0777);
    if (made < 0 && made != -EEXIST) return sys::failed(made, "mkdir", so_far);
    if (made == 0) {
      const int64_t synced = open_way(from, "", O_RDONLY);
      if (synced < 0) return sys::failed(synced, "open", so_far);
      CAIRN_TRY(sync_directory(sys::Descriptor(static_cast<int>(synced)), so_far));
    }
    const int64_t opened = open_way(from, name, O_PATH);
    if (opened < 0) return sys::failed(opened, "open", so_far);
    above = sys::Descriptor(static_cast<int>(opened));
  }
  return open_directory(above.ok() ? above.get() : top, "", path + "/" + below);
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
