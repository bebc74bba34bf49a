#include "pool/medium/growth.h"

#include <algorithm>
#include <mutex>

#include "pool/medium/format_io.h"
#include "pool/medium/pool_directory.h"
#include "pool/medium/segment_files.h"
#include "pool/space/space.h"

namespace cairn::pool {
namespace {

Status check_size(const Pool& pool, uint32_t number) {
  Segment& segment = *pool.segment[number];
  const uint64_t blocks = pool.superblock().segment[number].blocks.load();
  if (blocks > segment.blocks)
    return fail(EUCLEAN, "%s: segment %u is cut off: %llu of %llu bytes are there",
                pool.path.c_str(), number,
                static_cast<unsigned long long>(segment.blocks) * format::block_size,
                static_cast<unsigned long long>(blocks) * format::block_size);
  segment.blocks = blocks;
  return Status();
}

// Returns the directory of the first segment. ENOENT if another one has its name by now.
Result<Directory> directory_of(const Pool& pool) {
  CAIRN_TRY_ASSIGN(directory, open_pool_directory(pool.path));
  struct stat named {};
  struct stat mapped {};
  if (directory.look(segment_name(0), &named) && fstat(pool.segment[0]->fd, &mapped) == 0 &&
      named.st_dev == mapped.st_dev && named.st_ino == mapped.st_ino)
    return directory;
  return fail(ENOENT, "%s: the pool has been removed, and another directory has its name",
              pool.path.c_str());
}

Status map_further(Pool& pool, const Directory& directory, uint32_t number) {
  auto fd = media::open_segment(
      directory.descriptor(), segment_name(number).c_str(), segment_path(pool.path, number).c_str(),
      pool.read_only ? media::Access::read_only : media::Access::read_write);
  if (!fd.ok()) return fd.status();
  CAIRN_TRY(map_segment(pool, number, *fd, manner_of(pool)));
  Status status = check_size(pool, number);
  if (status.ok()) {
    lay_out(*pool.segment[number], 0);
    status = check_segment_header(pool, number);
  }
  if (status.ok()) {
    pool.segments.store(number + 1, std::memory_order_release);
  } else {
    unmap_segment(pool, number);
  }
  return status;
}

Status fill_in(Pool& pool, const Directory& directory, uint32_t number) {
  Segment& segment = *pool.segment[number];
  lay_out(segment, 0);
  if (segment.reserve)
    CAIRN_TRY(segment.reserve(
        0, static_cast<uint64_t>(reinterpret_cast<uint8_t*>(segment.record) - segment.base)));
  if (!pool.is_volatile) CAIRN_TRY(directory.sync());
  return publish_segment(pool, number);
}

}  // namespace

Status map_new_segments(Pool& pool) {
  const uint64_t count =
      std::min<uint64_t>(pool.superblock().segments.load(), format::max_segments);
  if (pool.segments.load() >= count) return Status();
  CAIRN_TRY_ASSIGN(directory, directory_of(pool));
  for (uint32_t s = pool.segments.load(); s < count; ++s)
    CAIRN_TRY(map_further(pool, directory, s));
  return Status();
}

Status add_segment(Pool& pool, uint64_t bytes) {
  CAIRN_TRY(pool.see_growth());
  const std::lock_guard guard(pool.growing);
  const uint32_t number = pool.segments.load();
  if (number >= format::max_segments)
    return fail(ENOSPC, "%s: it has %u segments, the maximum", pool.path.c_str(), number);
  const Manner manner = manner_of(pool);
  if (manner.medium.kind == media::MediumKind::devdax)
    return fail(EOPNOTSUPP, "%s: a device cannot grow", pool.path.c_str());
  // The check precedes the rounding, which could wrap round.
  constexpr uint64_t most = format::max_segment_blocks * format::block_size;
  if (bytes > most)
    return fail(EFBIG, "%s: it grows by at most %llu bytes in one step, not by %llu",
                pool.path.c_str(), static_cast<unsigned long long>(most),
                static_cast<unsigned long long>(bytes));
  const uint64_t size =
      std::max<uint64_t>((bytes + format::chunk_size - 1) / format::chunk_size * format::chunk_size,
                         2 * format::chunk_size);
  auto medium = media::recognise(pool.path.c_str());
  if (medium.ok() && medium->size != 0 && size > medium->size)
    return fail(ENOSPC, "%s: %llu bytes do not fit, its file system has %llu free",
                pool.path.c_str(), static_cast<unsigned long long>(bytes),
                static_cast<unsigned long long>(medium->size));
  if (medium.ok())
    CAIRN_TRY(check_cgroup(pool.path, *medium, size + usage(pool).untouched * format::block_size));
  CAIRN_TRY_ASSIGN(directory, directory_of(pool));
  const std::string name = segment_name(number);
  // A process that died before the superblock named the file may have left it.
  directory.remove(name).ignore();
  auto fd = media::create_segment(directory.descriptor(), name.c_str(),
                                  segment_path(pool.path, number).c_str(), size);
  if (!fd.ok()) return fd.status();
  Status status = map_segment(pool, number, *fd, manner);
  if (status.ok()) {
    status = fill_in(pool, directory, number);
    if (!status.ok()) unmap_segment(pool, number);
  }
  if (!status.ok()) directory.remove(name).ignore();
  return status;
}

}  // namespace cairn::pool
