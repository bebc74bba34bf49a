#include "pool/medium/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "media/devdax.h"
#include "pool/medium/device.h"
#include "pool/medium/format_io.h"
#include "pool/medium/growth.h"
#include "pool/medium/lock_file.h"
#include "pool/medium/pool_directory.h"
#include "pool/medium/segment_files.h"

namespace cairn::pool {
namespace {

// Opens a device. It is inspected before it is opened, because some devices take an open for a
// command and the path may come from a claim. The inspected device is opened, whatever has the path
// by then.
Result<int> open_device(const std::string& path, media::Access access) {
  const auto failed = [&](const char* what) {
    const int error = errno;
    return fail(error, "%s: %s: %s", path.c_str(), what, strerror(error));
  };
  const int seen = open(path.c_str(), O_PATH | O_CLOEXEC | O_NOFOLLOW);
  if (seen < 0) return failed("look at the device");
  struct stat st {};
  Status status = fstat(seen, &st) != 0 ? failed("look at the device") : Status();
  if (status.ok() && !S_ISCHR(st.st_mode))
    status = fail(EINVAL, "%s: not a dax device", path.c_str());
  if (status.ok())
    status = media::inspect_dax(st.st_rdev, path.c_str(), media::SystemRoot()).status();
  int opened = -1;
  if (status.ok()) {
    const std::string same = "/proc/self/fd/" + std::to_string(seen);
    const int flags = access == media::Access::read_write ? O_RDWR : O_RDONLY;
    opened = open(same.c_str(), flags | O_CLOEXEC | O_NONBLOCK);
    if (opened < 0) status = failed("open the device");
  }
  close(seen);
  if (!status.ok()) return status;
  return opened;
}

// Reads the manner from the first block, before the first segment is mapped; the block is not
// verified yet.
Result<Manner> first_manner(Pool& pool, int fd, bool device) {
  Manner manner;
  manner.medium.mapping_unit = format::block_size;
  if (device) {
    auto found = media::recognise_device(fd, pool.path.c_str());
    if (!found.ok()) return found.status();
    manner.medium = *found;
  }
  manner.granularity = manner.medium.granularity;
  const FirstBlocks blocks = read_first_blocks(fd, manner.medium);
  if (device && !blocks.are_ours())
    return fail(ENOENT, "%s: no pool on this device; cairn pool create %s makes one",
                pool.path.c_str(), pool.path.c_str());
  const format::Superblock& page = blocks.copy(0);
  if (page.magic.load() != format::superblock_magic) return manner;
  const uint64_t kind = page.medium.load();
  if (kind >= 1 && kind <= 4 && !device) manner.medium.kind = static_cast<media::MediumKind>(kind);
  manner.medium.large_pages = page.large_pages.load() != 0;
  manner.stream_min = page.stream_min.load();
  set_granularity(page.granularity.load(), &manner);
  return manner;
}

media::Access access_of(const Pool& pool) {
  return pool.read_only ? media::Access::read_only : media::Access::read_write;
}

Result<int> open_first_file(const Pool& pool) {
  CAIRN_TRY_ASSIGN(directory, open_pool_directory(pool.path));
  return media::open_segment(directory.descriptor(), segment_name(0).c_str(),
                             segment_path(pool.path, 0).c_str(), access_of(pool));
}

Status open_first_segment(Pool& pool, bool device) {
  auto fd = device ? open_device(pool.path, access_of(pool)) : open_first_file(pool);
  if (!fd.ok()) return fd.status();
  auto manner = first_manner(pool, *fd, device);
  if (!manner.ok()) {
    close(*fd);
    return manner.status();
  }
  struct stat st {};
  if (!device && fstat(*fd, &st) == 0) {
    pool.lock_device = st.st_dev;
    pool.lock_inode = st.st_ino;
  }
  pool.is_volatile = manner->granularity == persist::Granularity::none;
  CAIRN_TRY(map_segment(pool, 0, *fd, *manner));
  pool.segments.store(1);
  return Status();
}

}  // namespace

Result<std::unique_ptr<Pool>> open_files(const std::string& path, bool read_only) {
  const bool device = is_device(path);
  auto pool = std::make_unique<Pool>();
  pool->path = pool->home = device ? device_path(path) : path;
  pool->read_only = read_only;
  pool->lock_path = segment_path(path, 0);
  CAIRN_TRY(open_first_segment(*pool, device));
  CAIRN_TRY(read_format(*pool));
  if (device) {
    CAIRN_TRY(name_lock_file(*pool));
    CAIRN_TRY(agree_on_lock_file(*pool));
  }
  CAIRN_TRY(map_new_segments(*pool));
  pool->map_new_segments = map_new_segments;
  return pool;
}

Status sweep_files(const std::string& path) {
  if (is_device(path)) return Status();  // a device has no directory
  CAIRN_TRY_ASSIGN(pool, open_pool_directory(path));
  return sweep_directory(pool);
}

}  // namespace cairn::pool
