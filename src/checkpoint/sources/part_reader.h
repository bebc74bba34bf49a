// PartReader: reads the bytes of one part of a version, from this node's slot or from the node that
// has it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "checkpoint/store/block_check.h"
#include "checkpoint/versions/part_questions.h"

namespace cairn::checkpoint {

// A region or an extent of a rank, in the data file of its part.
struct Area {
  uint32_t rank = 0;
  bool is_extent = false;
  uint64_t offset = 0;
  uint64_t bytes = 0;  // without the list
  uint32_t list_crc = 0;
};

class PartReader {
 public:
  PartReader() = default;
  virtual ~PartReader() = default;
  PartReader(const PartReader&) = delete;
  PartReader& operator=(const PartReader&) = delete;

  // Compares blocks of an area with their checksums, in place. EUCLEAN: one differs; the text names
  // it.
  virtual Status verify(const Area& area, const std::vector<Blocks>& blocks) = 0;
  // Reads bytes of a verified area. EIO: they changed since then, or on the way.
  virtual Status read(const Area& area, uint64_t at, uint8_t* to, uint64_t size) = 0;
};

// Caches a limited number of blocks that came from other nodes.
class BlockCache {
 public:
  struct Key {
    uint32_t rank;
    bool is_extent;
    uint64_t block;
    friend bool operator<(const Key& a, const Key& b) {
      return std::tie(a.rank, a.is_extent, a.block) < std::tie(b.rank, b.is_extent, b.block);
    }
  };
  // Returns null if the block is not cached.
  const std::vector<uint8_t>* find(const Key& key);
  const std::vector<uint8_t>* put(const Key& key, std::vector<uint8_t> bytes);

 private:
  struct Entry {
    std::vector<uint8_t> bytes;
    uint64_t used = 0;
  };
  std::map<Key, Entry> entries_;
  uint64_t held_ = 0;
  uint64_t clock_ = 0;
};

std::unique_ptr<PartReader> read_here(Slot* slot, uint64_t block_bytes);
// Makes a reader that compares each block once more after it has arrived.
std::unique_ptr<PartReader> read_from(const PartClient& client, uint64_t sequence,
                                      uint64_t block_bytes, BlockCache* cache);
}  // namespace cairn::checkpoint
