// The limits: what the same bytes cost without a file system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/pools.h"

namespace cairn::bench {

// Each covers [0, size) of `extents` in pieces and returns the nanoseconds.
double copy_pieces(const std::vector<Extent>& extents, const uint8_t* source, size_t piece);
double read_pieces(const std::vector<Extent>& extents, uint8_t* destination, size_t piece);
// Past the cache, a store fence after each piece.
double stream_pieces(const std::vector<Extent>& extents, const uint8_t* source, size_t piece);
// pmem_memcpy_persist of each piece; with `words`, then of one 8-byte word, from there on.
double persist_pieces(const std::vector<Extent>& extents, const uint8_t* source, size_t piece,
                      uint64_t* words);
// The same at given places, one after the other.
double copy_at(const std::vector<uint8_t*>& places, const uint8_t* source, size_t piece);
double stream_at(const std::vector<uint8_t*>& places, const uint8_t* source, size_t piece);
double read_at(const std::vector<uint8_t*>& places, uint8_t* destination, size_t piece);

// Takes the lines of `extents` out of the caches, so that who writes there next finds them in
// memory. Where the processor has no instruction for that they stay, to the limit's advantage.
void evict(const std::vector<Extent>& extents);

// Other data, for the caches to be full of before anybody is timed: who writes then pays for
// writing them back, as in the middle of a long run. Lines that were evicted are free ones, which
// take new data for nothing.
class OtherData {
 public:
  // cache: bytes of the last one.
  explicit OtherData(size_t cache);
  // Stores to twice a slice of them, those that were stored to longest ago.
  void fill_caches();

 private:
  std::vector<uint8_t> bytes_;
  size_t next_ = 0;
};

// False: built without libpmem; persist_pieces must not be called.
bool has_pmem();

// The part [from, from + size) of extents that begin at 0.
std::vector<Extent> part_of(const std::vector<Extent>& extents, size_t from, size_t size);

}  // namespace cairn::bench
