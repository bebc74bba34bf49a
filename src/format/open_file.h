// OpenFile: an open file description (POSIX), shared by every process that inherited or adopted it
// (docs/format/open_file.md). Void after a reboot.
#pragma once

#include <cstdint>

#include "format/layout.h"

namespace cairn::format {

// state: 0-2 open_free, open_making or open_live; 3-13 lane + 1 of the maker while it is being made
// (in the same word, so that the maker is known if it dies); 14-63 generation
inline constexpr uint64_t open_free = 0;
inline constexpr uint64_t open_making = 1;
inline constexpr uint64_t open_live = 2;
inline constexpr uint64_t open_mask = 7;
constexpr uint64_t open_state(uint64_t generation, uint64_t kind, uint32_t maker_lane_plus_1 = 0) {
  return generation << 14 | static_cast<uint64_t>(maker_lane_plus_1) << 3 | kind;
}
constexpr uint64_t open_generation(uint64_t state) { return state >> 14; }
constexpr uint32_t open_maker(uint64_t state) { return (state >> 3) & 0x7ff; }

struct alignas(64) OpenFile {
  Word state;
  Word inode;
  Word inode_generation;
  Word reserved0[5];
  // stored by every process that uses the shared offset
  Word offset;
  Word flags;
  Word lock;
  Word ahead;        // what was filled ahead of the last write into a hole: ahead_note
  Word ahead_since;  // how many preallocations of the file had succeeded when `ahead` was noted
  Word reserved1[3];
  Word holder[max_lanes / 64];  // bit l: lane l holds it
};
static_assert(sizeof(OpenFile) == 256);
inline constexpr uint64_t open_files_per_block = block_size / sizeof(OpenFile);

// File blocks [from, from + blocks) are zero and were filled for writes that may come; 0: none.
inline constexpr unsigned ahead_bits = 10;
constexpr uint64_t ahead_note(uint64_t from, uint64_t blocks) {
  return blocks == 0 ? 0 : from << ahead_bits | blocks;
}
constexpr uint64_t ahead_from(uint64_t note) { return note >> ahead_bits; }
constexpr uint64_t ahead_blocks(uint64_t note) { return note & ((1ULL << ahead_bits) - 1); }
static_assert(chunk_blocks < 1ULL << ahead_bits);

// A pinned inode: mappings or views that must outlive its blocks' removal. The pin is in force
// while its byte of the lock file is locked.
struct Pin {
  Word inode;  // 0: free
  Word generation;
};
inline constexpr uint64_t pins_per_block = block_size / sizeof(Pin);

}  // namespace cairn::format
