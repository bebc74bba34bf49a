#include "file/space/beyond_end.h"

#include <algorithm>

namespace cairn::file {

Status zero_mapped(const FileSystem& fs, const Map& map, uint64_t from, uint64_t to) {
  while (from < to) {
    MapCursor cursor;
    CAIRN_TRY(walk(fs.pool, map, from >> format::block_shift, &cursor));
    const uint64_t cover = span_of(cursor.block ? 0 : cursor.level) << format::block_shift;
    const uint64_t next = std::min(to, (from / cover + 1) * cover);
    if (cursor.block) CAIRN_TRY(fs.pool.zero(cursor.block, from % format::block_size, next - from));
    from = next;
  }
  return fs.pool.fence();
}

}  // namespace cairn::file
