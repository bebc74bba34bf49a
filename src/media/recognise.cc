// Recognises what a path is, and what a pool on it may rely on.
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "media/devdax.h"
#include "media/media.h"
#include "media/pmem2.h"

#ifndef STATX_ATTR_DAX
#define STATX_ATTR_DAX 0x00200000
#endif

namespace cairn::media {
namespace {

using persist::Granularity;

constexpr size_t probe_size = size_t{2} << 20;

class ProbeDescriptor {
 public:
  explicit ProbeDescriptor(int value) : value_(value) {}
  ~ProbeDescriptor() {
    if (value_ >= 0) close(value_);
  }
  ProbeDescriptor(const ProbeDescriptor&) = delete;
  ProbeDescriptor& operator=(const ProbeDescriptor&) = delete;
  [[nodiscard]] int value() const { return value_; }

 private:
  int value_;
};

Result<Description> describe_dax(const char* path, dev_t number, const SystemRoot& root) {
  CAIRN_TRY_ASSIGN(device, inspect_dax(number, path, root));
  Description medium;
  medium.kind = MediumKind::devdax;
  medium.granularity = device.cache_is_safe ? Granularity::byte : Granularity::cache_line;
  medium.large_pages = device.align >= probe_size;
  medium.mapping_unit = device.align;
  medium.size = device.size;
  medium.file_system = "devdax";
  return medium;
}

Result<Description> describe_device(const char* path, dev_t number, const SystemRoot& root) {
  CAIRN_TRY_ASSIGN(medium, describe_dax(path, number, root));
  ProbeDescriptor descriptor(open(path, O_RDWR | O_CLOEXEC));
  if (descriptor.value() < 0) {
    int error = errno;
    const char* hint =
        error == EACCES || error == EPERM
            ? "permission denied; give your user or group the device (chown, udev rule)"
        : error == EBUSY ? "in use by another process; list it with: fuser -v"
                         : std::strerror(error);
    return fail(error, "%s: open the dax device: %s", path, hint);
  }
  medium.granularity = pmem2_granularity(descriptor.value(), medium.granularity);
  // A page granularity from libpmem2 is corrected: msync does nothing on a dax device.
  if (medium.granularity == Granularity::page) medium.granularity = Granularity::cache_line;
  return medium;
}

// The kind of files made in `directory`, found with a nameless file there.
enum class Dax : uint8_t { no, without_sync, yes };

Dax probe_dax(int descriptor) {
  struct statx attributes;
  if (statx(descriptor, "", AT_EMPTY_PATH, 0, &attributes) != 0 ||
      (attributes.stx_attributes & STATX_ATTR_DAX) == 0) {
    return Dax::no;
  }
  void* page =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE | MAP_SYNC, descriptor, 0);
  if (page == MAP_FAILED) return Dax::without_sync;
  munmap(page, 4096);
  return Dax::yes;
}

void describe_dax_file(int descriptor, Description& medium) {
  Dax dax = probe_dax(descriptor);
  if (dax == Dax::without_sync) {
    medium.notice =
        "the file system is dax but refuses MAP_SYNC (as virtio-pmem does): used as a plain file, "
        "written back by msync";
  }
  if (dax != Dax::yes) return;
  medium.kind = MediumKind::fsdax;
  medium.granularity = pmem2_granularity(descriptor, Granularity::cache_line);
  if (medium.granularity == Granularity::page) {
    medium.kind = MediumKind::file;
    medium.notice = "libpmem2 finds page granularity on this dax file: written back by msync";
  }
}

void describe_tmpfs(const struct stat& info, const SystemRoot& root, Description& medium) {
  medium.kind = MediumKind::tmpfs;
  medium.granularity = Granularity::none;
  medium.is_volatile = true;
  std::vector<Mount> mounts = parse_mountinfo(read_text(root.path("/proc/self/mountinfo")));
  const Mount* mount = find_mount(mounts, info.st_dev);
  std::string huge = mount != nullptr ? mount_option(*mount, "huge") : std::string();
  medium.large_pages = huge == "always" || huge == "within_size";
  // The administrator may forbid what the mount asks for, or force what it does not.
  std::string policy = read_line(root.path("/sys/kernel/mm/transparent_hugepage/shmem_enabled"));
  if (policy.find("[deny]") != std::string::npos) medium.large_pages = false;
  if (policy.find("[force]") != std::string::npos) medium.large_pages = true;
}

// Opens a segment file, or for a directory a nameless file in it, if one can be made.
int open_probe(const char* path, bool directory) {
  if (!directory) return open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
  int descriptor = open(path, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
  if (descriptor >= 0 && fallocate(descriptor, 0, 0, probe_size) != 0) {
    (void)!ftruncate(descriptor, probe_size);
  }
  return descriptor;
}

Status refuse_file_system(const char* path, const struct statfs& info) {
  auto magic = static_cast<uint64_t>(info.f_type);
  if (const char* name = network_file_system(magic); name != nullptr) {
    return fail(
        EOPNOTSUPP,
        "%s: on a network file system (%s): a pool needs memory or a disk of this node; use "
        "for example /dev/shm",
        path, name);
  }
  if (magic == HUGETLBFS_MAGIC) {
    return fail(EOPNOTSUPP,
                "%s: hugetlbfs has no write call; mount a tmpfs with -o huge=always instead", path);
  }
  if (magic == PROC_SUPER_MAGIC || magic == SYSFS_MAGIC) {
    return fail(EOPNOTSUPP, "%s: not a place for files", path);
  }
  // The bit is that of statvfs' ST_RDONLY, which statfs has without a name.
  if ((info.f_flags & 1) != 0) return fail(EROFS, "%s: the file system is mounted read-only", path);
  return Status();
}

Result<Description> describe_files(const char* path, const struct stat& info,
                                   const SystemRoot& root) {
  struct statfs system;
  if (statfs(path, &system) != 0) {
    int error = errno;
    return fail(error, "%s: which file system: %s", path, std::strerror(error));
  }
  CAIRN_TRY(refuse_file_system(path, system));
  bool directory = S_ISDIR(info.st_mode);
  Description medium;
  medium.size = directory
                    ? static_cast<uint64_t>(system.f_bavail) * static_cast<uint64_t>(system.f_bsize)
                    : static_cast<uint64_t>(info.st_size);
  auto magic = static_cast<uint64_t>(system.f_type);
  if (magic == TMPFS_MAGIC) {
    medium.file_system = "tmpfs";
    describe_tmpfs(info, root, medium);
    return medium;
  }
  if (magic == RAMFS_MAGIC) {
    medium.file_system = "ramfs";
    medium.kind = MediumKind::tmpfs;
    medium.granularity = Granularity::none;
    medium.is_volatile = true;
    medium.notice =
        "ramfs knows no limit: only the size given to the pool keeps it from taking all memory";
    return medium;
  }
  std::vector<Mount> mounts = parse_mountinfo(read_text(root.path("/proc/self/mountinfo")));
  const Mount* mount = find_mount(mounts, info.st_dev);
  medium.file_system = mount != nullptr ? mount->type : "file";
  ProbeDescriptor probe(open_probe(path, directory));
  if (probe.value() >= 0) describe_dax_file(probe.value(), medium);
  return medium;
}

}  // namespace

const char* name_of(MediumKind kind) {
  switch (kind) {
    case MediumKind::devdax:
      return "devdax";
    case MediumKind::fsdax:
      return "fsdax";
    case MediumKind::tmpfs:
      return "tmpfs";
    case MediumKind::file:
      return "file";
  }
  return "?";
}

Result<Description> recognise_device(int descriptor, const char* path, const SystemRoot& root) {
  struct stat info;
  if (fstat(descriptor, &info) != 0) {
    int error = errno;
    return fail(error, "%s: %s", path, std::strerror(error));
  }
  return describe_dax(path, info.st_rdev, root);
}

Result<Description> recognise(const char* path, const SystemRoot& root) {
  struct stat info;
  if (stat(path, &info) != 0) {
    int error = errno;
    return fail(error, "%s: %s", path, std::strerror(error));
  }
  if (S_ISCHR(info.st_mode)) return describe_device(path, info.st_rdev, root);
  if (S_ISBLK(info.st_mode)) return refuse_block_device(info.st_rdev, path, root);
  if (!S_ISDIR(info.st_mode) && !S_ISREG(info.st_mode)) {
    return fail(EINVAL, "%s: neither a directory, a file nor a dax device", path);
  }
  if (S_ISDIR(info.st_mode) && access(path, R_OK | W_OK | X_OK) != 0) {
    int error = errno;
    return fail(error, "%s: %s; a pool needs a directory that you may write in", path,
                error == EROFS ? "read-only file system" : std::strerror(error));
  }
  return describe_files(path, info, root);
}

}  // namespace cairn::media
