// Segment files: locates and maps a pool's segments.
#pragma once

#include <string>

#include "media/media.h"
#include "pool/core/pool.h"

namespace cairn::pool {

// Rounds down to whole chunks.
inline uint64_t whole_chunks(uint64_t bytes) {
  return bytes / format::chunk_size * format::chunk_size;
}

std::string segment_name(uint32_t number);
std::string segment_path(const std::string& pool, uint32_t number);

// The way in which a pool's segments are stored to.
struct Manner {
  media::Description medium;
  persist::Granularity granularity = persist::Granularity::none;
  size_t stream_min = 0;
};
// Takes over a stored granularity, if it is a known one.
void set_granularity(uint64_t stored, Manner* manner);
// Returns the manner that the pool's creator put into the superblock.
Manner manner_of(const Pool& pool);

// Returns ENOSPC if so many more bytes of a pool in memory exceed a memory limit of a cgroup above
// this process. The kernel creates such a file, and then kills the process that fills it.
Status check_cgroup(const std::string& path, const media::Description& medium, uint64_t bytes);

// Maps segment `number` from `fd`, which it takes over. The caller counts the segment when it can
// be used.
Status map_segment(Pool& pool, uint32_t number, int fd, const Manner& manner);
// Unmaps a segment that has not been counted.
void unmap_segment(Pool& pool, uint32_t number);

}  // namespace cairn::pool
