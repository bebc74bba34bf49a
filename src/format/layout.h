// The layout of a medium (docs/format/README.md): fixed-width little-endian Words only, offsets
// never pointers, zero is never a valid type.
//
//   segment 0:  superblock A | superblock B | state block | orphan heads | lanes ...
//   segment n:  segment header (one block)
//   then, in every segment: chunk table (128 B a chunk) | block records (16 B a block) | padding to
//   2 MiB | data chunks
#pragma once

#include <cstdint>

#include "format/entry.h"
#include "format/inode.h"
#include "persist/core/word.h"

namespace cairn::format {

using persist::Word;

inline constexpr uint64_t superblock_magic = 0x314e524941430a0dULL;  // "\r\nCAIRN1" read as bytes
inline constexpr uint64_t segment_magic = 0x31474553434e5243ULL;
inline constexpr uint32_t version = 1;
inline constexpr uint32_t max_segments = 128;
inline constexpr uint32_t max_lanes = 1024;
inline constexpr uint32_t seats_per_lane = 7;
inline constexpr uint64_t lane_size = 8192;
inline constexpr uint32_t orphan_shards = 64;

// Feature flags. An unknown compatible flag is ignored, an unknown read-only-compatible one allows
// looking only, an unknown incompatible one refuses the pool.
inline constexpr uint64_t known_compatible = 0;
// Page media: every inode's synced_size is kept (inode.h), and decides after a power loss.
inline constexpr uint64_t feature_synced_size = 1;
inline constexpr uint64_t known_read_only = feature_synced_size;
// A file can become lazy while others read and write it (file/space/evict.h). A program that does
// not know this takes the holes of an evicted file for zeros. Set when a pool is created, never
// afterwards: a program that does not know it could have the pool attached already.
inline constexpr uint64_t feature_evictions = 1;
// Names in lower have all words of a witness, in slots of up to six units (format/dirent.h). Set
// when a pool is created, never afterwards.
inline constexpr uint64_t feature_witness = 2;
inline constexpr uint64_t known_incompatible = feature_evictions | feature_witness;

struct SegmentEntry {
  Word blocks;      // size of the whole segment in blocks
  Word data_start;  // index of the first data block, a multiple of chunk_blocks
};
static_assert(sizeof(SegmentEntry) == 16);

// The identity of a pool. Changes only when a segment is added: B first, then A, each with a higher
// sequence; the valid one with the highest sequence counts.
struct Superblock {
  Word magic;
  Word version;
  Word features_compatible;
  Word features_read_only;
  Word features_incompatible;
  Word sequence;
  Word uuid[2];
  Word created_ns;
  Word lanes;
  Word segments;
  Word mapping_unit;        // bytes; devdax align
  Word granularity;         // persist::Granularity
  Word forced_granularity;  // 1: the creator asked for it, not the medium
  Word reserved0[4];
  Word medium;  // media::MediumKind
  Word large_pages;
  Word stream_min;  // bytes from which a copy past the cache is faster, measured at creation
  Word reserved[9];
  SegmentEntry segment[max_segments];
  Word reserved2[225];
  Word checksum;  // CRC-32C of all before
};
static_assert(sizeof(Superblock) == block_size);

struct SegmentHeader {
  Word magic;
  Word version;
  Word uuid[2];  // of the pool
  Word number;
  Word blocks;
  Word data_start;
  Word reserved[504];
  Word checksum;
};
static_assert(sizeof(SegmentHeader) == block_size);

// One process that drains in the background, and so makes room for calls that find the pool full.
struct RoomKeeper {
  Word keeper;    // number of the process, 0: none
  Word until;     // ns of the monotonic clock: until then it looks at State::room_wanted
  Word answered;  // the last such time after which it has drained what it can
  Word reserved;
};
inline constexpr unsigned most_room_keepers = 8;

// Words that change while the pool is used; each on a line of its own where processes share it.
struct alignas(64) State {
  Word clean;              // 1: detached cleanly, everything durable
  Word boot_id[2];         // of the last attach: another one means that shared memory was lost
  Word attach_generation;  // counts full recoveries and first attaches
  Word sweep;              // 1: a process died with open files; unlinked ones may wait (file/)
  Word lock_identity;      // devdax: the file of its locks (pool/medium/lock_file.h); else 0
  Word unsynced;           // page media: 1 if some file may be marked unsynced (file/data/sync.h)
  Word reserved0[1];

  Word epoch;  // reclaim epoch, starts at 1
  Word reserved1[7];
  Word rename_lock;  // directory renames, see pool/lanes/lock.h
  Word reserved2[7];
  Word attach_lock;  // first attach, last detach, grow
  Word reserved3[7];
  Word itable_blocks;  // inode table blocks that exist
  Word itable_cursor;  // where to look for free inodes next
  Word otable_blocks;
  Word otable_cursor;
  Word pin_cursor;
  Word full_count;  // calls that found the pool full, and how many bytes did not fit
  Word full_bytes;
  Word entry_mode;                // how seats are entered: decided by each first attach
  Word attached[max_lanes / 64];  // lanes that may be attached: where to look, not whether
  Inode itable;                   // the map of the inode table: 8 inodes a block
  Inode otable;                   // the map of the open-file table: 16 descriptions a block
  Inode ptable;                   // the map of the pin table
  Word release_due;               // ns of the monotonic clock: when to look for idle chunks next
  Word release_never;             // 1: memory that is free stays with the pool
  Word refused_count;  // calls that failed as the medium had no room for more of the pool
  Word refused_by;     // why, the last time: short_of_file_system and so on
  Word evict_lock;     // of the process that looks for files to evict
  Word evictions;      // counts them; changed together with the file, and the rename lock held
  Word keeper_until;   // as RoomKeeper::until, of a keeper that has no such words yet
  Word room_wanted;    // when a call last found the pool full and asked the keeper for room
  Word room_answered;  // as RoomKeeper::answered, by a keeper that has no such words
  Word name_changes;   // counts names that move, are linked or leave a whiteout: for drains
  Word homes_left;     // counts those of them that leave bytes in lower under their old name
  RoomKeeper room_keeper[most_room_keepers];
  Word reserved5[512 - 5 * 8 - 16 - 3 * 64 - 11 - 4 * most_room_keepers];
};
static_assert(sizeof(State) == block_size);

// State::refused_by
inline constexpr uint64_t short_of_file_system = 1;
inline constexpr uint64_t short_of_quota = 2;
inline constexpr uint64_t short_of_memory = 3;
inline constexpr uint64_t short_of_cgroup = 4;

// State::entry_mode
inline constexpr uint64_t entry_locked = 1;  // with a full fence of one's own
inline constexpr uint64_t entry_light = 2;  // a process that reads the seats makes all others fence

// Heads of the lists of inodes whose blocks wait to be freed, sharded by lane.
struct alignas(64) OrphanShard {
  Word lock;
  Word head;  // inode number, 0: empty
  Word reserved[6];
};
static_assert(sizeof(OrphanShard) == 64);

// One chunk of 512 blocks.
struct alignas(64) Chunk {
  Word state;     // low byte: chunk_untouched and so on
  Word owner;     // lock word of the lane that allocates here first; a hint
  Word freed_at;  // ns of the monotonic clock when its last block was freed; a hint
  Word releases;  // how often its memory went back to the system
  Word reserved[4];
  Word free[8];  // bit set: free. Taking clears bits, freeing sets them (atomic)
};
static_assert(sizeof(Chunk) == 128);

inline constexpr uint64_t chunk_untouched = 0;
inline constexpr uint64_t chunk_initialising = 1;
inline constexpr uint64_t chunk_open = 2;
// The chunk's memory is being returned to the system. No inode owns a block of it. Its blocks may
// or may not be zero or backed by memory.
inline constexpr uint64_t chunk_releasing = 3;

// The slots of the chunk table that lie before the data are not chunks. Slot i holds hints about
// the chunks [256 i, 256 (i + 1)), one bit each; all of them may be wrong, and the chunks' own
// words decide.
inline constexpr uint64_t chunks_per_hints = 256;
struct alignas(64) ChunkHints {
  Word reserved[2];
  Word opened;       // slot 0: chunks from here on were never touched
  Word backed;       // slot 0: 1 if all of the segment is backed by memory
  Word released[4];  // untouched again
  Word whole[4];     // open, all blocks free
  Word room[4];      // open, some blocks free
};
static_assert(sizeof(ChunkHints) == sizeof(Chunk));

// A block record names the owner of a block. The block of an open chunk whose record is 0 was never
// used: it is free, and zero.
//   word 0: 0-2 state, 3-5 level, 6 known zero (free blocks), 7-16 references, 17-27 lane + 1 that
//           took it, 28-63 inode
//   word 1: first file block
struct BlockRecord {
  Word owner;
  Word file_block;
};
static_assert(sizeof(BlockRecord) == 16);

inline constexpr uint64_t record_free = 1;
inline constexpr uint64_t record_used = 2;
inline constexpr uint64_t record_known_zero = 1ULL << 6;
inline constexpr unsigned level_itable = 5;
inline constexpr unsigned level_xattr = 6;

constexpr uint64_t record_of(uint64_t inode, unsigned level, uint32_t lane) {
  return record_used | static_cast<uint64_t>(level) << 3 | 1ULL << 7 |
         static_cast<uint64_t>(lane + 1) << 17 | inode << 28;
}
constexpr uint64_t record_state(uint64_t owner) { return owner & 7; }
constexpr bool record_is_free(uint64_t owner) {
  return owner == 0 || record_state(owner) == record_free;
}
constexpr bool record_is_zero(uint64_t owner) {
  return owner == 0 || (record_state(owner) == record_free && (owner & record_known_zero) != 0);
}
constexpr unsigned record_level(uint64_t owner) { return (owner >> 3) & 7; }
constexpr uint64_t record_inode(uint64_t owner) { return owner >> 28; }

inline constexpr uint64_t superblock_a_block = 0;
inline constexpr uint64_t superblock_b_block = 1;
inline constexpr uint64_t state_block = 2;
inline constexpr uint64_t orphan_block = 3;
inline constexpr uint64_t lanes_block = 4;

// The parts of a segment, all in bytes from its start.
struct SegmentLayout {
  uint64_t blocks = 0;
  uint64_t chunk_table = 0;
  uint64_t records = 0;
  uint64_t data_start = 0;  // in blocks
  uint64_t chunks = 0;
};

// The layout that a segment of `blocks` (a multiple of chunk_blocks) has; `lanes` 0 but for segment
// 0.
SegmentLayout layout_of(uint64_t blocks, uint32_t lanes);

}  // namespace cairn::format
