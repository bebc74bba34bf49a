#include "tier/system/temp_file.h"

#include <fcntl.h>
#include <stdio.h>  // NOLINT: RENAME_NOREPLACE
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "file/data/io.h"
#include "tier/system/system.h"

namespace cairn::tier {
namespace {

constexpr size_t piece = 1 << 20;
// The kernel copies more at a time: file systems that share blocks, or copy on a server, are slowed
// down by small pieces.
constexpr size_t kernel_piece = 8 << 20;

Status failed_at(int64_t result, const char* what, const std::string& path, uint64_t offset) {
  const std::string where = std::string(what) + " at offset " + std::to_string(offset);
  return sys::failed(result, where.c_str(), path);
}

}  // namespace

CheckedCopy::CheckedCopy(int to, const std::string& path,
                         std::function<bool(uint64_t bytes)> advance)
    : to_(to), path_(path), advance_(std::move(advance)) {}

Status CheckedCopy::write(size_t size, uint64_t offset) {
  for (size_t written = 0; written < size;) {
    const int64_t w = sys::pwrite(to_, buffer_.data() + written, size - written, offset + written);
    if (w < 0) return failed_at(w, "write", path_, offset + written);
    written += static_cast<size_t>(w);
  }
  const int64_t r = sys::pread(to_, back_.data(), size, offset);
  if (r < 0) return failed_at(r, "reading back", path_, offset);
  if (static_cast<size_t>(r) != size || std::memcmp(buffer_.data(), back_.data(), size) != 0)
    return fail(EIO, "%s: what was written does not read back the same, near offset %llu",
                path_.c_str(), static_cast<unsigned long long>(offset));
  const int64_t result = cache_.wrote(to_, size);
  return result < 0 ? failed_at(result, "fdatasync", path_, offset) : Status();
}

Result<uint64_t> CheckedCopy::copy(const Read& read, uint64_t offset, uint64_t end) {
  if (const size_t wanted = std::min<uint64_t>(piece, end - offset); buffer_.size() < wanted) {
    buffer_.resize(wanted);
    back_.resize(wanted);
  }
  while (offset < end) {
    auto n = read(buffer_.data(), std::min<uint64_t>(buffer_.size(), end - offset), offset);
    if (!n.ok()) return n.status();
    if (*n == 0) break;
    CAIRN_TRY(write(*n, offset));
    offset += *n;
    if (!advance_(*n)) return stopped();
  }
  return offset;
}

Status CheckedCopy::stopped() const { return fail(ECANCELED, "%s: stopped", path_.c_str()); }

Result<uint64_t> CheckedCopy::from_pool(file::File& from, uint64_t offset, uint64_t end) {
  const Read read = [&](void* buffer, size_t size, uint64_t at) {
    return file::read_at(from, buffer, size, at);
  };
  return copy(read, offset, end);
}

Result<uint64_t> CheckedCopy::copy_through(int from, uint64_t offset, uint64_t end) {
  const Read read = [&](void* buffer, size_t size, uint64_t at) -> Result<size_t> {
    const int64_t n = sys::pread(from, buffer, size, at);
    if (n < 0) return failed_at(n, "read", path_, at);
    return static_cast<size_t>(n);
  };
  return copy(read, offset, end);
}

Result<uint64_t> CheckedCopy::copy_in_kernel(int from, uint64_t offset, uint64_t end) {
  while (offset < end) {
    const size_t size = std::min<uint64_t>(kernel_piece, end - offset);
    const int64_t n = sys::copy_file_range(from, offset, to_, offset, size);
    // The kernel or the file system cannot do it, or the other way returns the error.
    if (n <= 0) return copy_through(from, offset, end);
    if (const int64_t result = cache_.wrote(to_, static_cast<uint64_t>(n)); result < 0)
      return failed_at(result, "fdatasync", path_, offset);
    offset += static_cast<uint64_t>(n);
    if (!advance_(static_cast<uint64_t>(n))) return stopped();
  }
  return offset;
}

namespace {

// Calls copy(begin, end) for each range of data, as long as it copies all of it.
template <typename Copy>
Result<uint64_t> for_each_range(int from, uint64_t offset, uint64_t end, const Copy& copy) {
  uint64_t begin = 0;
  uint64_t stop = 0;
  while (next_data(from, offset, end, &begin, &stop)) {
    auto copied = copy(begin, std::min(stop, end));
    if (!copied.ok() || *copied < std::min(stop, end)) return copied;
    offset = *copied;
  }
  return end;
}

}  // namespace

Result<uint64_t> CheckedCopy::from_lower(int from, uint64_t offset, uint64_t end) {
  return for_each_range(from, offset, end, [&](uint64_t begin, uint64_t stop) {
    return copy_through(from, begin, stop);
  });
}

Result<uint64_t> CheckedCopy::within_lower(int from, uint64_t offset, uint64_t end) {
  return for_each_range(from, offset, end, [&](uint64_t begin, uint64_t stop) {
    return copy_in_kernel(from, begin, stop);
  });
}

Result<uint32_t> give_owner(int fd, uint32_t uid, uint32_t gid, uint32_t permissions,
                            const std::string& path) {
  sys::FileStat st = {};
  if (const int64_t result = sys::fstat(fd, &st); result < 0)
    return sys::failed(result, "stat", path);
  if (st.st_uid == uid && st.st_gid == gid) return permissions;
  // EINVAL: a user namespace does not know the owner.
  const auto is_refused = [](int64_t result) { return result == -EPERM || result == -EINVAL; };
  int64_t result = sys::fchownat(fd, "", uid, gid);
  if (result >= 0) return permissions;
  if (!is_refused(result)) return sys::failed(result, "chown", path);
  // Another owner must not lend its rights to a program. The bits of a directory do not do that.
  if (!S_ISDIR(st.st_mode)) permissions &= ~static_cast<uint32_t>(S_ISUID | S_ISGID);
  if (st.st_gid == gid) return permissions;
  constexpr uint32_t same = UINT32_MAX;
  result = sys::fchownat(fd, "", same, gid);
  if (result < 0 && !is_refused(result)) return sys::failed(result, "chown", path);
  if (result >= 0) return permissions;
  // The file has another group, which may do no more than all other users.
  return permissions & (~static_cast<uint32_t>(S_IRWXG) | (permissions & S_IRWXO) << 3);
}

Status set_mode_and_times(int fd, uint32_t permissions, uint64_t atime, uint64_t mtime,
                          const std::string& path) {
  if (const int64_t result = sys::fchmod(fd, permissions); result < 0)
    return sys::failed(result, "chmod", path);
  if (const int64_t result = sys::utimensat(fd, nullptr, atime, mtime); result < 0)
    return sys::failed(result, "times", path);
  return Status();
}

bool next_data(int fd, uint64_t offset, uint64_t size, uint64_t* from, uint64_t* to) {
  if (offset >= size) return false;
  const int64_t data = sys::lseek(fd, static_cast<int64_t>(offset), SEEK_DATA);
  if (data == -ENXIO) return false;
  if (data < 0) {  // this file system does not show holes
    *from = offset;
    *to = size;
    return true;
  }
  const int64_t hole = sys::lseek(fd, data, SEEK_HOLE);
  *from = static_cast<uint64_t>(data);
  *to = hole < 0 ? size : std::min<uint64_t>(size, static_cast<uint64_t>(hole));
  return *from < *to;
}

int64_t rename_to_free(int from, const std::string& temp_name, int to, const char* name) {
  int64_t result = sys::renameat2(from, temp_name.c_str(), to, name, RENAME_NOREPLACE);
  if (result != -EINVAL && result != -ENOSYS) return result;
  // This file system lacks RENAME_NOREPLACE. A link does not replace a file either.
  result = sys::linkat(from, temp_name.c_str(), to, name);
  if (result == 0) return sys::unlinkat(from, temp_name.c_str(), 0);
  if (result == -EEXIST) return result;
  sys::FileStat st = {};
  if (sys::lstatat(to, name, &st) == 0) return -EEXIST;
  return sys::renameat2(from, temp_name.c_str(), to, name, 0);
}

}  // namespace cairn::tier
