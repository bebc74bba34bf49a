// Slots: the places of a directory's names and index words, for directory.cc (look-ups) and
// directory_change.cc (changes).
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>

#include "file/inode/file_system.h"
#include "file/namespace/witness.h"
#include "format/dirent.h"

namespace cairn::file::slots {

using format::Dirent;
using format::unit_size;
using format::units_per_block;

// An upper bound for the length of any sound chain: a damaged chain ends in an error, not in a
// circle.
inline constexpr unsigned longest_chain = 1U << 16;

Status damaged_directory(const Map& directory);

// Returns the directory's block of that number; null if it has none or its map is damaged.
uint8_t* find_block(const FileSystem& fs, const Map& directory, uint64_t file_block);

inline uint8_t* block_at(const FileSystem& fs, const Map& directory, uint64_t file_block) {
  const Inode& inode = *directory.inode;
  const DirectoryBlocks* known = fs.directory_blocks.load(std::memory_order_acquire);
  if (known != nullptr && is_live(inode)) [[likely]] {
    if (uint8_t* place = known->find(directory.number, inode.generation.load(), file_block))
      return place;
  }
  return find_block(fs, directory, file_block);
}

inline Dirent* dirent_at(const FileSystem& fs, const Map& directory, uint64_t unit) {
  uint8_t* block = block_at(fs, directory, format::unit_block(unit));
  if (block == nullptr) [[unlikely]]
    return nullptr;
  return reinterpret_cast<Dirent*>(block + unit % units_per_block * unit_size);
}

inline uint64_t bucket_of(uint32_t hash, uint64_t buckets) {
  const uint64_t floor = std::bit_floor(buckets);
  const uint64_t index = hash & (2 * floor - 1);
  return index < buckets ? index : hash & (floor - 1);
}

inline Word* bucket_word(const FileSystem& fs, const Map& directory, uint64_t bucket) {
  uint8_t* block = block_at(fs, directory, format::bucket_block(bucket));
  if (block == nullptr) [[unlikely]]
    return nullptr;
  return reinterpret_cast<Word*>(block) + bucket % format::node_entries;
}

inline const char* name_of(const Dirent* dirent, uint64_t head) {
  return reinterpret_cast<const char*>(dirent) + format::dirent_name_offset(head);
}

// Returns true if the slot does not run over its block's end.
inline bool fits_block(uint64_t unit, unsigned units) {
  return units >= 1 && units <= format::max_units &&
         unit % units_per_block + units <= units_per_block;
}

// Returns how many bytes a slot has for its name, 0 if the words before the name do not fit either.
inline unsigned room_for_name(uint64_t head) {
  const auto bytes = static_cast<unsigned>(format::dirent_units(head) * unit_size);
  return bytes - std::min(bytes, format::dirent_name_offset(head));
}

// Returns true if the name does not run over its slot's end.
inline bool fits_slot(uint64_t head) { return format::dirent_length(head) <= room_for_name(head); }

// Returns true if the slot holds a witness, not only room for one.
inline bool has_witness(const Dirent& dirent, uint64_t head) {
  return (head & format::dirent_lower) != 0 && dirent.lower[1].load() != 0;
}
inline Witness witness_in(const Dirent& dirent, uint64_t head) {
  return witness_of(dirent.lower, format::dirent_lower_words(head));
}

}  // namespace cairn::file::slots
