#include "tier/cover/nesting.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "format/layout.h"
#include "tier/claim/claim.h"
#include "tier/lower/lower.h"
#include "tier/lower/lower_base.h"
#include "tier/record/record.h"
#include "tier/system/system.h"

namespace cairn::tier {
namespace {

bool is_below(const std::string& path, const std::string& ancestor) {
  return path.size() > ancestor.size() && path.compare(0, ancestor.size(), ancestor) == 0 &&
         (ancestor == "/" || path[ancestor.size()] == '/');
}

// Is this directory a pool? Only if no other user can write to it, because such a user could put in
// a file with the name of a segment.
bool is_pool(const std::string& directory) {
  constexpr uint32_t open_to_others = S_IWGRP | S_IWOTH;
  sys::FileStat above = {};
  const sys::Descriptor base(static_cast<int>(lower_base(directory)));
  if (!base.ok() || sys::fstat(base.get(), &above) < 0 || (above.st_mode & open_to_others) != 0)
    return false;
  const int64_t fd = sys::openat(base.get(), "segment.0", O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return false;
  const sys::Descriptor file(static_cast<int>(fd));
  sys::FileStat st = {};
  if (sys::fstat(file.get(), &st) < 0 || st.st_uid != above.st_uid) return false;
  uint64_t magic = 0;
  return sys::pread(file.get(), &magic, sizeof magic, 0) == sizeof magic &&
         magic == format::superblock_magic;
}

// Refuses a path below a pool or below a covered directory.
Status refuse_below(const std::string& path) {
  for (std::string above = path;;) {
    if (is_pool(above)) return fail(ELOOP, "%s lies in the pool %s", path.c_str(), above.c_str());
    if (above != path && is_claimed_above(above))
      return fail(ELOOP, "%s lies in %s, which is covered itself (it holds %s)", path.c_str(),
                  above.c_str(), claim_file);
    const size_t slash = above.rfind('/');
    if (slash == std::string::npos || above == "/") return Status();
    above.resize(slash == 0 ? 1 : slash);
  }
}

}  // namespace

Status refuse_nested(file::FileSystem& fs, const std::string& path) {
  CAIRN_TRY(refuse_below(path));
  std::string pool;
  if (sys::real_path(fs.pool.path.c_str(), 0, &pool) == 0 && is_below(pool, path))
    return fail(ELOOP, "%s holds the pool %s", path.c_str(), pool.c_str());
  return for_each_record(fs, [&](const std::string&, const CoverRecord& record) {
    if (is_below(record.path, path) || is_below(path, record.path))
      return fail(ELOOP, "%s: %s is covered, and covers do not nest", path.c_str(),
                  record.path.c_str());
    return Status();
  });
}

Status refuse_elsewhere(const Cover& cover, const std::string& path) {
  CAIRN_TRY(refuse_below(path));
  if (!is_claimed(path)) return Status();
  // The cover's own path may hold a claim of this pool, which is no obstacle.
  if (path == cover.path) {
    CAIRN_TRY_ASSIGN(others, other_claims(*cover.fs, path));
    if (others.empty()) return Status();
  }
  return fail(ELOOP, "%s: cannot be drained to, because it is covered itself (it holds %s)",
              path.c_str(), claim_file);
}

}  // namespace cairn::tier
