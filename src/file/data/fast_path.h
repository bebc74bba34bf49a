// Fast path for reads and writes of mapped blocks whose location is cached (run_cache.h). It is
// inline; everything else is a tail call that receives the state.
//
// The cost that counts here is stores. They leave the core in order, so a call's own bookkeeping
// stores (registers saved, results passed through memory) queue up behind the line that the piece
// before is still waiting for. They also take the places of the next pieces: with 32 of them beside
// the 8 of a 256 byte piece, an EPYC needs 1.4 times as long.
#pragma once

#include "file/data/access.h"
#include "file/data/run_cache.h"
#include "file/inode/attributes.h"
#include "pool/lanes/seats.h"

namespace cairn::file {

// Performs any read or write that the fast path cannot do: takes a seat first, or asks another
// node.
Result<size_t> read_slow(File& file, void* buffer, size_t size, uint64_t offset);
Result<size_t> write_slow(File& file, const void* buffer, size_t size, uint64_t offset);
// Performs any read of the pool's own bytes, inside the seat, which it leaves.
Result<size_t> read_in_seat(File& file, LocalSeat* seat, void* buffer, size_t size,
                            uint64_t offset);
// Performs any write of the pool's own bytes, announced by the seat, which it leaves. Checks the
// write first, writes mapped blocks and fills holes (write_mapped), and makes room if the pool is
// full (retry_after_enospc).
Result<size_t> write_in_seat(File& file, LocalSeat* seat, const uint8_t* source, uint64_t size,
                             uint64_t offset);

[[gnu::always_inline]] inline Result<size_t> read_fast(File& file, void* buffer, size_t size,
                                                       uint64_t offset) {
  LocalSeat* const own = pool::cached_seat(file.pool_serial);
  if (!file.reads_fast || own == nullptr || is_lazy(file)) [[unlikely]]
    return read_slow(file, buffer, size, offset);
  pool::PlainSeat seat(own);
  const CachedRun known = recall(*own, file, offset);
  // A read of size 0 takes the slow path.
  if (size - 1 >= known.size || known.warm == nullptr || offset + size > file.inode->size.load() ||
      !file.was_read.load(std::memory_order_relaxed)) [[unlikely]]
    return read_in_seat(file, seat.hand_over(), buffer, size, offset);
  persist::Region::read_warm(buffer, known.warm, size,
                             next_in_sequence(*own, known.warm, size, offset));
  return size;
}

[[gnu::always_inline]] inline Result<size_t> write_fast(File& file, const void* buffer, size_t size,
                                                        uint64_t offset) {
  LocalSeat* const own = pool::cached_seat(file.pool_serial);
  if (!file.writes_fast || own == nullptr || is_lazy(file)) [[unlikely]]
    return write_slow(file, buffer, size, offset);
  pool::PlainSeat seat(own, file.number);
  const CachedRun known = recall(*own, file, offset);
  if (size - 1 >= known.size || known.warm == nullptr || offset + size > file.inode->size.load() ||
      size > known.region->copy_warm_max()) [[unlikely]]
    return write_in_seat(file, seat.hand_over(), static_cast<const uint8_t*>(buffer), size, offset);
  prefetch_overwrite(*own, known.warm, size, offset);
  known.region->copy_warm(known.at, buffer, size);
  touch_modified(file);
  return size;
}

}  // namespace cairn::file
