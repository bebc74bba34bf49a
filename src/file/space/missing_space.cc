#include "file/space/missing_space.h"

#include <algorithm>

#include "pool/space/space.h"

namespace cairn::file {

void note_missing(FileSystem& fs, uint64_t missing_bytes) {
  fs.pool.fetch_add(fs.pool.state->full_count, 1);
  fs.pool.fetch_add(fs.pool.state->full_bytes, missing_bytes);
}

void note_no_room(FileSystem& fs, uint64_t wanted_bytes) {
  const pool::Usage usage = pool::usage(fs.pool);
  const uint64_t free = (usage.free - std::min(usage.free, usage.reserve)) * format::block_size;
  // The bytes had room, but not the nodes that name them.
  note_missing(fs, wanted_bytes > free ? wanted_bytes - free : format::block_size);
}

}  // namespace cairn::file
