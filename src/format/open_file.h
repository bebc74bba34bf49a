// OpenFile: an open file description (POSIX), shared by every process that inherited or adopted it
// (docs/format/open_file.md). Void after a reboot.
#pragma once

#include <cstdint>

#include "format/layout.h"

namespace cairn::format {

// state: generation << 3 | open_free, open_making (by the lane in `maker`), open_live
inline constexpr uint64_t open_free = 0;
inline constexpr uint64_t open_making = 1;
inline constexpr uint64_t open_live = 2;
inline constexpr uint64_t open_mask = 7;

struct alignas(64) OpenFile {
  Word state;
  Word inode;
  Word inode_generation;
  Word maker;   // lane + 1 while it is being made
  Word reserved0[4];
  // stored by everyone who uses the shared offset
  Word offset;
  Word flags;
  Word lock;
  Word reserved1[5];
  Word holder[max_lanes / 64];  // bit l: lane l holds it
};
static_assert(sizeof(OpenFile) == 256);
inline constexpr uint64_t open_files_per_block = block_size / sizeof(OpenFile);

// A pinned inode: mappings or views that must outlive its blocks' removal. The pin is in force while
// its byte of the lock file is locked.
struct Pin {
  Word inode;  // 0: free
  Word generation;
};
inline constexpr uint64_t pins_per_block = block_size / sizeof(Pin);

}  // namespace cairn::format
