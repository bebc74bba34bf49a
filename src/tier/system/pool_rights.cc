#include "tier/system/pool_rights.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "tier/system/system.h"

namespace cairn::tier {
namespace {

constexpr uint32_t fuse = 0x65735546;

}  // namespace

bool pool_gives_rights(const pool::Pool& pool) {
  const int file = pool.segment[0]->fd;
  sys::FileStat st = {};
  struct statfs system = {};
  if (sys::fstat(file, &st) < 0 || sys::fstatfs(file, &system) < 0) return false;
  if (S_ISCHR(st.st_mode)) return true;  // a device: its owner counts
  const auto type = static_cast<uint32_t>(system.f_type);
  if (type == TMPFS_MAGIC || type == RAMFS_MAGIC) return true;
  return type != fuse && (system.f_flags & (ST_NOSUID | ST_NODEV)) == 0;
}

file::Attributes with_rights(const pool::Pool& pool, file::Attributes wanted) {
  if (pool_gives_rights(pool)) return wanted;
  if (!S_ISDIR(wanted.mode)) wanted.mode &= ~static_cast<uint32_t>(S_ISUID | S_ISGID);
  if (geteuid() != 0) return wanted;
  wanted.uid = keeps_owner;  // chown leaves it
  wanted.gid = keeps_owner;
  return wanted;
}

}  // namespace cairn::tier
