// Dirent: a name in a directory (docs/format/directory.md). A directory's file blocks hold slots of
// 1 to 5 units of 64 bytes. The geometry of a slot never changes once it was made, so a unit number
// stays valid as a cookie. A hash index (linear hashing) chains the live slots.
#pragma once

#include <cstdint>

#include "format/inode.h"
#include "persist/core/word.h"

namespace cairn::format {

using persist::Word;

inline constexpr uint64_t unit_size = 64;
inline constexpr uint64_t units_per_block = 64;
inline constexpr unsigned max_name = 255;
inline constexpr unsigned max_units = 6;

// head: 0-31 hash, 32-39 name length, 40-43 type (DT_...), 44-46 units, 47 live, 48 has a lower
//       witness, 49 whiteout (the name was in lower and is removed), 50 slot exists, 51 the witness
//       has all its words
inline constexpr uint64_t dirent_live = 1ULL << 47;
inline constexpr uint64_t dirent_lower = 1ULL << 48;
inline constexpr uint64_t dirent_whiteout = 1ULL << 49;
inline constexpr uint64_t dirent_slot = 1ULL << 50;
// Set only in pools with feature_witness; without it a slot holds the first short_witness words.
inline constexpr uint64_t dirent_witness = 1ULL << 51;

constexpr uint64_t dirent_head(uint32_t hash, unsigned length, unsigned type, unsigned units,
                               uint64_t flags) {
  return hash | static_cast<uint64_t>(length) << 32 | static_cast<uint64_t>(type) << 40 |
         static_cast<uint64_t>(units) << 44 | flags | dirent_slot;
}
constexpr uint32_t dirent_hash(uint64_t head) { return static_cast<uint32_t>(head); }
constexpr unsigned dirent_length(uint64_t head) { return (head >> 32) & 0xff; }
constexpr unsigned dirent_type(uint64_t head) { return (head >> 40) & 0xf; }
constexpr unsigned dirent_units(uint64_t head) { return (head >> 44) & 7; }

struct Dirent {
  Word head;
  Word inode;
  Word next;  // unit + 1 of the next in the bucket's chain or free list, 0: none
  // The witness of the file in lower, if dirent_lower is set: device, inode, size, mtime; with
  // dirent_witness also birth, ctime, owner (file/namespace/witness.h).
  Word lower[witness_words];
  // The name follows.
};

// How many words of Dirent::lower a slot with this head has.
constexpr unsigned dirent_lower_words(uint64_t head) {
  if ((head & dirent_lower) == 0) return 0;
  return (head & dirent_witness) != 0 ? witness_words : short_witness_words;
}
// At which byte of the slot the name begins: 24, 56 or 80.
constexpr unsigned dirent_name_offset(uint64_t head) { return 24 + 8 * dirent_lower_words(head); }
constexpr unsigned units_for(unsigned length, uint64_t head) {
  return (dirent_name_offset(head) + length + 63) / 64;
}
static_assert(units_for(max_name, dirent_lower | dirent_witness) <= max_units);

// Buckets: bucket b is Word b % 512 of file block bucket_block(b). Dirent units lie in file blocks
// 0..6 and 8 onwards; block 7 holds the first 512 buckets.
inline constexpr uint64_t first_buckets = 512;
constexpr uint64_t bucket_block(uint64_t bucket) {
  return bucket < first_buckets ? 7 : (1ULL << 27) + (bucket >> 9);
}
constexpr uint64_t unit_block(uint64_t unit) {
  const uint64_t block = unit / units_per_block;
  return block < 7 ? block : block + 1;
}

}  // namespace cairn::format
