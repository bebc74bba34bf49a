#include "cluster/record/base_file.h"

#include <fcntl.h>

#include "tier/lower/lower.h"
#include "tier/lower/lower_base.h"

namespace cairn::cluster {

namespace sys = tier::sys;

Result<sys::Descriptor> open_covered(const std::string& directory) {
  const int64_t opened = tier::lower_base(directory, O_RDONLY);
  if (opened < 0) return sys::failed(opened, "open", directory);
  return sys::Descriptor(static_cast<int>(opened));
}

Status stat_below(const std::string& directory, const std::string& path, sys::FileStat* st) {
  CAIRN_TRY_ASSIGN(covered, open_covered(directory));
  const std::string place = directory + "/" + path;
  const int64_t opened = sys::open_in(covered.get(), path.c_str(), O_PATH | O_NOFOLLOW);
  if (opened < 0) return sys::failed(opened, "stat", place);
  const sys::Descriptor found(static_cast<int>(opened));
  const int64_t result = sys::fstat(found.get(), st);
  // Another node may get another handle of the file.
  if ((st->birth & sys::birth_is_handle) != 0 || !sys::keeps_birth(covered.get())) st->birth = 0;
  return result < 0 ? sys::failed(result, "stat", place) : Status();
}

Result<sys::Descriptor> open_base(const std::string& directory, const std::string& path,
                                  const Base& base) {
  auto covered = open_covered(directory);
  if (!covered.ok()) return covered;
  return open_base(*covered, directory, path, base);
}

Result<sys::Descriptor> open_base(const sys::Descriptor& covered, const std::string& directory,
                                  const std::string& path, const Base& base) {
  const std::string place = directory + "/" + path;
  const int64_t fd = sys::open_in(covered.get(), path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return sys::failed(fd, "open", place);
  sys::Descriptor file(static_cast<int>(fd));
  sys::FileStat st = {};
  if (const int64_t result = sys::fstat(file.get(), &st); result < 0)
    return sys::failed(result, "stat", place);
  if (!is_base(base, st)) return fail(ESTALE, "%s: was changed outside Cairn", place.c_str());
  return file;
}

bool is_base(const Base& base, const sys::FileStat& st) {
  const file::Witness remembered{0, base.inode, base.size, base.mtime, base.birth};
  // The device is not compared: it is another one on each node.
  tier::KnownCover here;
  here.device = st.st_dev;
  return base.exists && S_ISREG(st.st_mode) && tier::is_remembered(here, remembered, st);
}

Status read_base(const sys::Descriptor& file, const std::string& path, void* buffer, size_t size,
                 uint64_t offset) {
  for (size_t done = 0; done < size;) {
    const int64_t n =
        sys::pread(file.get(), static_cast<char*>(buffer) + done, size - done, offset + done);
    if (n < 0) return sys::failed(n, "read", path);
    if (n == 0) return fail(ESTALE, "%s: was truncated outside Cairn", path.c_str());
    done += static_cast<size_t>(n);
  }
  return Status();
}

}  // namespace cairn::cluster
