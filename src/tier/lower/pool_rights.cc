#include "tier/lower/pool_rights.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "tier/lower/lower.h"
#include "tier/system/system.h"

namespace cairn::tier {
namespace {

constexpr uint32_t fuse = 0x65735546;

bool looks_trusted(const pool::Pool& pool) {
  const int file = pool.segment[0]->fd;
  sys::FileStat st = {};
  struct statfs system = {};
  if (sys::fstat(file, &st) < 0 || sys::fstatfs(file, &system) < 0) return false;
  if (S_ISCHR(st.st_mode)) return true;  // a device: its owner counts
  const auto type = static_cast<uint32_t>(system.f_type);
  if (type == TMPFS_MAGIC || type == RAMFS_MAGIC) return true;
  return type != fuse && (system.f_flags & (ST_NOSUID | ST_NODEV)) == 0;
}

}  // namespace

bool pool_gives_rights(file::FileSystem& fs) {
  std::atomic<int>& known = lower_of(fs).pool_gives_rights;
  if (known.load() < 0) known.store(looks_trusted(fs.pool) ? 1 : 0);
  return known.load() == 1;
}

file::Attributes with_rights(file::FileSystem& fs, file::Attributes wanted) {
  if (pool_gives_rights(fs)) return wanted;
  if (!S_ISDIR(wanted.mode)) wanted.mode &= ~static_cast<uint32_t>(S_ISUID | S_ISGID);
  if (geteuid() != 0) return wanted;
  wanted.uid = keeps_owner;  // chown leaves it
  wanted.gid = keeps_owner;
  return wanted;
}

}  // namespace cairn::tier
