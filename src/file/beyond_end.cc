#include "file/beyond_end.h"

#include <algorithm>

namespace cairn::file {

Status zero_mapped(const FileSystem& fs, const Map& map, uint64_t from, uint64_t to) {
  while (from < to) {
    Spot spot;
    CAIRN_TRY(walk(fs.pool, map, from >> format::block_shift, &spot));
    const uint64_t cover = span_of(spot.block ? 0 : spot.level) << format::block_shift;
    const uint64_t next = std::min(to, (from / cover + 1) * cover);
    if (spot.block) CAIRN_TRY(fs.pool.zero(spot.block, from % format::block_size, next - from));
    from = next;
  }
  return fs.pool.fence();
}

}  // namespace cairn::file
