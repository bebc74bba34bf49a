// DirectoryBlocks: a cache of the directory blocks that this process has found mapped.
//
// A directory is never cut: while it lives, its file blocks stay where they are. So an address that
// was found once under (number, generation) is valid while the inode has that generation and is
// live, checked inside the SeatGuard; the look-up then walks no map. One thread at a time fills an
// entry, and readers take no lock: a reader that meets a writer walks the map.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "file/map/map.h"

namespace cairn::file {

class DirectoryBlocks {
 public:
  // Returns null if the block is not cached.
  [[nodiscard]] uint8_t* find(uint64_t number, uint64_t generation, uint64_t file_block) const {
    const CachedBlock& entry = entries_[index_of(number, file_block)];
    const uint32_t version = entry.version.load(std::memory_order_acquire);
    const bool matches = entry.number.load(std::memory_order_relaxed) == number &&
                         entry.generation.load(std::memory_order_relaxed) == generation &&
                         entry.file_block.load(std::memory_order_relaxed) == file_block;
    uint8_t* const place = entry.place.load(std::memory_order_relaxed);
    persist::read_barrier();
    const bool whole =
        (version & 1) == 0 && entry.version.load(std::memory_order_relaxed) == version;
    return matches && whole ? place : nullptr;
  }

  void remember(uint64_t number, uint64_t generation, uint64_t file_block, uint8_t* place) {
    CachedBlock& entry = entries_[index_of(number, file_block)];
    uint32_t version = entry.version.load(std::memory_order_relaxed);
    if ((version & 1) != 0 || !entry.version.compare_exchange_strong(version, version + 1)) return;
    entry.number.store(number, std::memory_order_relaxed);
    entry.generation.store(generation, std::memory_order_relaxed);
    entry.file_block.store(file_block, std::memory_order_relaxed);
    entry.place.store(place, std::memory_order_relaxed);
    entry.version.store(version + 2, std::memory_order_release);
  }

 private:
  struct CachedBlock {
    std::atomic<uint32_t> version{0};  // odd: being filled
    std::atomic<uint64_t> number{0};   // no directory has number 0
    std::atomic<uint64_t> generation{0};
    std::atomic<uint64_t> file_block{0};
    std::atomic<uint8_t*> place{nullptr};
  };
  static constexpr unsigned index_bits = 8;
  static size_t index_of(uint64_t number, uint64_t file_block) {
    return ((number * 0x9e3779b97f4a7c15ULL + file_block * 0xc2b2ae3d27d4eb4fULL) >>
            (64 - index_bits));
  }
  std::array<CachedBlock, size_t{1} << index_bits> entries_{};
};

}  // namespace cairn::file
