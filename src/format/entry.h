// Entry: one 8-byte page-table entry of a file's map (docs/format/map.md).
//
//   bits  0-2   kind            0 hole, 1 block, 2 leaf (2 MiB), 3 node
//         3-5   tier            0: the pool's own medium
//         6     not yet durable page media: the block was not written back yet
//         7     unwritten       reserved: reads as zeros
//         8     frozen          reserved: snapshots, seal
//         9     shared          reserved: the block has more than one owner
//        10-23  check           14 bits over (inode, first file block, level, address)
//        24-51  block index inside the segment
//        52-63  segment
#pragma once

#include <cstdint>

namespace cairn::format {

inline constexpr uint64_t block_size = 4096;
inline constexpr unsigned block_shift = 12;
inline constexpr uint64_t chunk_blocks = 512;
inline constexpr uint64_t chunk_size = chunk_blocks * block_size;
inline constexpr unsigned node_shift = 9;
inline constexpr uint64_t node_entries = 1U << node_shift;

inline constexpr uint64_t max_segment_blocks = 1ULL << 28;

// A block of the pool: segment and index, as they stand in bits 24-63 of an entry.
struct BlockRef {
  uint64_t value = 0;  // segment << 28 | index; 0 is never handed out (it is the superblock)

  static constexpr BlockRef make(uint64_t segment, uint64_t index) {
    return {segment << 28 | index};
  }
  [[nodiscard]] constexpr uint32_t segment() const { return static_cast<uint32_t>(value >> 28); }
  [[nodiscard]] constexpr uint64_t index() const { return value & (max_segment_blocks - 1); }
  [[nodiscard]] constexpr BlockRef plus(uint64_t blocks) const { return {value + blocks}; }
  constexpr explicit operator bool() const { return value != 0; }
  friend constexpr bool operator==(BlockRef, BlockRef) = default;
};

enum class Kind : uint8_t { hole = 0, block = 1, leaf = 2, node = 3 };

struct Entry {
  uint64_t value = 0;

  static constexpr uint64_t not_yet_durable = 1ULL << 6;
  static constexpr uint64_t marks = 0x3f8;  // bits 3-9

  static constexpr uint64_t check_of(uint64_t inode, uint64_t file_block, unsigned level,
                                     BlockRef block) {
    uint64_t h = (inode * 0x9e3779b97f4a7c15ULL) ^ (file_block + 0x632be59bd9b4e019ULL) ^
                 (block.value << 20) ^ (static_cast<uint64_t>(level) << 61);
    h *= 0xff51afd7ed558ccdULL;
    return h >> 50;  // 14 bits
  }
  // `file_block` is the first file block that the entry covers; `level` 0 names data.
  static constexpr Entry make(Kind kind, BlockRef block, uint64_t inode, uint64_t file_block,
                              unsigned level) {
    return {static_cast<uint64_t>(kind) | check_of(inode, file_block, level, block) << 10 |
            block.value << 24};
  }
  [[nodiscard]] constexpr Kind kind() const { return static_cast<Kind>(value & 7); }
  [[nodiscard]] constexpr BlockRef block() const { return {value >> 24}; }
  [[nodiscard]] constexpr uint64_t check() const { return (value >> 10) & 0x3fff; }
  // Whether this entry says what `other`, which bears no marks, says.
  [[nodiscard]] constexpr bool says(Entry other) const { return (value & ~marks) == other.value; }
  [[nodiscard]] constexpr bool belongs_to(uint64_t inode, uint64_t file_block,
                                          unsigned level) const {
    return check() == check_of(inode, file_block, level, block());
  }
  constexpr explicit operator bool() const { return value != 0; }
  friend constexpr bool operator==(Entry, Entry) = default;
};

}  // namespace cairn::format
