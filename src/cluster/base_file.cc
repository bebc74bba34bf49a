#include "cluster/base_file.h"

#include <fcntl.h>

namespace cairn::cluster {

namespace sys = tier::sys;

Result<sys::Descriptor> open_base(const std::string& directory, const std::string& path,
                                  const Base& base) {
  const std::string place = directory + "/" + path;
  const int64_t fd = sys::openat(AT_FDCWD, place.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return sys::failed(fd, "open", place);
  sys::Descriptor file(static_cast<int>(fd));
  struct stat st = {};
  if (const int64_t result = sys::fstat(file.get(), &st); result < 0)
    return sys::failed(result, "stat", place);
  if (!S_ISREG(st.st_mode) || st.st_ino != base.inode ||
      static_cast<uint64_t>(st.st_size) != base.size || sys::mtime_of(st) != base.mtime)
    return fail(ESTALE, "%s: was changed behind our back", place.c_str());
  return file;
}

Status read_base(const sys::Descriptor& file, const std::string& path, void* buffer, size_t size,
                 uint64_t offset) {
  for (size_t done = 0; done < size;) {
    const int64_t n =
        sys::pread(file.get(), static_cast<char*>(buffer) + done, size - done, offset + done);
    if (n < 0) return sys::failed(n, "read", path);
    if (n == 0) return fail(ESTALE, "%s: was cut behind our back", path.c_str());
    done += static_cast<size_t>(n);
  }
  return Status();
}

}  // namespace cairn::cluster
