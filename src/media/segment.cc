// Segment files: creating, opening, reserving and mapping them.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "media/devdax.h"
#include "media/media.h"

namespace cairn::media {
namespace {

constexpr uint64_t mebibyte = uint64_t{1} << 20;
constexpr size_t alignment = 2 * mebibyte;
// tmpfs rolls a whole fallocate back when a signal arrives, and profilers send one every few
// milliseconds: small pieces get through.
constexpr uint64_t reserve_piece = 16 * mebibyte;

Status system_failure(const char* path, const char* what) {
  int error = errno;
  return fail(error, "%s: %s: %s", path, what, std::strerror(error));
}

// Reserves on file systems that cannot: writes the bytes that it reads, so nothing changes.
Status reserve_by_writing(int descriptor, uint64_t offset, uint64_t size) {
  for (uint64_t at = offset; at < offset + size; at += 4096) {
    uint8_t byte = 0;
    auto position = static_cast<off_t>(at);
    if (pread(descriptor, &byte, 1, position) < 0 || pwrite(descriptor, &byte, 1, position) != 1) {
      int error = errno;
      return fail(error, "reserve at offset %llu: %s", static_cast<unsigned long long>(at),
                  std::strerror(error));
    }
  }
  return Status();
}

const char* reserve_hint(int error) {
  if (error == ENOSPC) return "the file system is full";
  if (error == EDQUOT) return "your quota is used up";
  if (error == ENOMEM) return "the machine or its cgroup has no memory left";
  if (error == EFBIG) return "beyond the file size limit (ulimit -f)";
  return std::strerror(error);
}

const char* map_hint(int error, MediumKind kind) {
  if (kind == MediumKind::fsdax && error == EOPNOTSUPP) {
    return "the file system refused MAP_SYNC, so stores could be lost with its own metadata; mount "
           "it with -o dax=always on a persistent-memory device (virtio-pmem cannot do it), or "
           "use a directory on another medium";
  }
  if (kind == MediumKind::devdax && error == EINVAL) {
    return "offset and size must be multiples of the device's alignment";
  }
  if (error == EBUSY) return "in use by another process; list it with: fuser -v";
  if (error == ENOMEM) return "no address space left (ulimit -v) or too many mappings";
  if (error == EACCES || error == EPERM) return "opened without the right to write, or sealed";
  return std::strerror(error);
}

}  // namespace

Result<int> create_segment(const char* path, uint64_t size) {
  return create_segment(AT_FDCWD, path, path, size);
}

Result<int> create_segment(int directory, const char* name, const char* path, uint64_t size) {
  int descriptor =
      openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) return system_failure(path, "create segment");
  // An odd umask must not remove the owner's own rights.
  if (fchmod(descriptor, 0600) == 0 && ftruncate(descriptor, static_cast<off_t>(size)) == 0) {
    return descriptor;
  }
  Status status = system_failure(path, "set the segment's size");
  close(descriptor);
  unlinkat(directory, name, 0);
  return status;
}

Result<int> open_segment(const char* path, Access access, SegmentOwner owner) {
  return open_segment(AT_FDCWD, path, path, access, owner);
}

Result<int> open_segment(int directory, const char* name, const char* path, Access access,
                         SegmentOwner owner) {
  int flags = access == Access::read_write ? O_RDWR : O_RDONLY;
  // The open does not block: a FIFO by that name must be refused, not waited for.
  int descriptor = openat(directory, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) {
    int error = errno;
    const char* hint = error == EBUSY    ? "in use by another process; list it with: fuser -v"
                       : error == EROFS  ? "read-only file system; open it for reading only"
                       : error == ELOOP  ? "a symbolic link; give the file itself"
                       : error == EACCES ? "permission denied; a pool is private to its user"
                                         : std::strerror(error);
    return fail(error, "%s: open segment: %s", path, hint);
  }
  struct stat info;
  Status status;
  if (fstat(descriptor, &info) != 0) {
    status = system_failure(path, "look at the segment");
  } else if (S_ISREG(info.st_mode)) {
    if (owner == SegmentOwner::me && info.st_uid != geteuid()) {
      status = fail(EPERM, "%s: belongs to user %u, not to you (%u): a pool is private to its user",
                    path, info.st_uid, geteuid());
    } else if (owner == SegmentOwner::me && (info.st_mode & 0022) != 0) {
      status = fail(EPERM,
                    "%s: others may write it (mode %04o): chmod 600 it if you trust what is in it",
                    path, info.st_mode & 07777);
    }
  } else if (!S_ISCHR(info.st_mode)) {
    status = fail(EINVAL, "%s: neither a regular file nor a dax device", path);
  }
  if (status.ok()) return descriptor;
  close(descriptor);
  return status;
}

Result<uint64_t> segment_size(int descriptor, const SystemRoot& root) {
  struct stat info;
  if (fstat(descriptor, &info) != 0) return system_failure("segment", "look at it");
  if (!S_ISCHR(info.st_mode)) return static_cast<uint64_t>(info.st_size);
  CAIRN_TRY_ASSIGN(device, inspect_dax(info.st_rdev, "segment", root));
  return device.size;
}

Status reserve(int descriptor, uint64_t offset, uint64_t size) {
  struct stat info;
  if (fstat(descriptor, &info) != 0) return system_failure("segment", "look at it");
  if (S_ISCHR(info.st_mode)) return Status();
  uint64_t end = offset + size;
  while (offset < end) {
    uint64_t piece = std::min(end - offset, reserve_piece);
    if (fallocate(descriptor, 0, static_cast<off_t>(offset), static_cast<off_t>(piece)) != 0) {
      int error = errno;
      if (error == EINTR) continue;
      if (error == EOPNOTSUPP) {
        CAIRN_TRY(reserve_by_writing(descriptor, offset, piece));
      } else {
        return fail(error, "reserve %llu MiB at offset %llu MiB of the segment: %s",
                    static_cast<unsigned long long>(size / mebibyte),
                    static_cast<unsigned long long>(offset / mebibyte), reserve_hint(error));
      }
    }
    offset += piece;
  }
  return Status();
}

Status release(int descriptor, uint64_t offset, uint64_t size) {
  while (fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                   static_cast<off_t>(offset), static_cast<off_t>(size)) != 0) {
    if (errno != EINTR) return system_failure("segment", "give room back");
  }
  return Status();
}

Result<Mapping> map(int descriptor, const Description& medium, uint64_t offset, uint64_t size,
                    Access access) {
  if (size == 0 || offset % medium.mapping_unit != 0 || size % medium.mapping_unit != 0) {
    return fail(EINVAL,
                "map %llu bytes at offset %llu of a %s medium: not multiples of its %llu bytes",
                static_cast<unsigned long long>(size), static_cast<unsigned long long>(offset),
                name_of(medium.kind), static_cast<unsigned long long>(medium.mapping_unit));
  }
  const int protection = PROT_READ | (access == Access::read_write ? PROT_WRITE : 0);
  const int flags = medium.kind == MediumKind::fsdax ? MAP_SHARED_VALIDATE | MAP_SYNC : MAP_SHARED;
  const auto map_at = [&](void* base, int fixed) {
    return mmap(base, size, protection, flags | fixed, descriptor, static_cast<off_t>(offset));
  };
  // The range is aligned to large pages, which can be mapped only if address and offset agree
  // modulo their size. The kernel usually does that; if not, more address space is taken than
  // needed, and the ends are returned.
  const bool large = medium.large_pages || medium.mapping_unit > 4096;
  const size_t unit = large ? std::max<size_t>(alignment, medium.mapping_unit) : 4096;
  void* mapped = map_at(nullptr, 0);
  const auto failed = [&] {
    int error = errno;
    return fail(error, "map %llu MiB of the segment (%s): %s",
                static_cast<unsigned long long>(size / mebibyte), name_of(medium.kind),
                map_hint(error, medium.kind));
  };
  if (mapped == MAP_FAILED) return failed();
  if ((reinterpret_cast<uintptr_t>(mapped) - offset) % unit != 0) {
    munmap(mapped, size);
    void* room =
        mmap(nullptr, size + unit, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return system_failure("segment", "find address space");
    auto* begin = static_cast<uint8_t*>(room);
    const size_t skip = (offset % unit + unit - reinterpret_cast<uintptr_t>(begin) % unit) % unit;
    mapped = map_at(begin + skip, MAP_FIXED);
    if (mapped == MAP_FAILED) {
      const Status status = failed();
      munmap(room, size + unit);
      return status;
    }
    if (skip > 0) munmap(begin, skip);
    if (const size_t rest = unit - skip; rest > 0)
      munmap(begin + skip + ((size + 4095) & ~size_t{4095}), rest & ~size_t{4095});
  }
  // A core file with a pool in it is of no use and fills the disk. Best effort.
  (void)madvise(mapped, size, MADV_DONTDUMP);
  return Mapping{static_cast<uint8_t*>(mapped), size};
}

void unmap(Mapping& mapping) {
  if (mapping.base != nullptr) munmap(mapping.base, mapping.size);
  mapping = Mapping();
}

Status remove_segment(const char* path) {
  if (unlink(path) == 0) return Status();
  return system_failure(path, "remove segment");
}

}  // namespace cairn::media
