// The short way of a read and of a write: bytes that are mapped, where is remembered. It is inline, and all that is not
// on it is called last, with its state handed over.
//
// What counts here is stores. They leave the core in order, so those of a call's own bookkeeping (registers saved,
// results passed through memory) queue up behind the line that the piece before is still waiting for, and take the
// places of the next pieces: with 32 of them beside the 8 of a 256 byte piece, an EPYC needs 1.4 times as long.
#pragma once

#include "file/access.h"
#include "file/attributes.h"
#include "file/run_cache.h"
#include "pool/seats.h"

namespace cairn::file {

// Reading what is not a readable file's own bytes: the directory's, or an error.
Result<size_t> read_elsewhere(File& file, void* buffer, size_t size, uint64_t offset);
// Writing what is not this pool's own, and may be made so.
Result<size_t> write_elsewhere(File& file, const void* buffer, size_t size, uint64_t offset);
// Any read, inside the seat; leaves it.
Result<size_t> read_long_way(File& file, LocalSeat* seat, void* buffer, size_t size,
                             uint64_t offset);
// The same of a write, announced by the seat.
Result<size_t> write_long_way(File& file, LocalSeat* seat, const uint8_t* source, uint64_t size,
                              uint64_t offset);

[[gnu::always_inline]] inline Result<size_t> read_short_way(File& file, void* buffer, size_t size,
                                                            uint64_t offset) {
  if (!file.readable || file.directory || is_lazy(file)) [[unlikely]]
    return read_elsewhere(file, buffer, size, offset);
  pool::SeatGuard seat(file.fs->pool);
  if (!seat.ok()) [[unlikely]]
    return pool::no_seat(file.fs->pool);
  const Known known = recall(*seat, file, offset);
  // Size 0 takes the long way.
  if (size - 1 >= known.size || known.warm == nullptr || offset + size > file.inode->size.load() ||
      !file.was_read.load(std::memory_order_relaxed)) [[unlikely]]
    return read_long_way(file, seat.hand_over(), buffer, size, offset);
  persist::Region::read_warm(buffer, known.warm, size,
                             next_in_sequence(*seat, known.warm, size, offset));
  return size;
}

[[gnu::always_inline]] inline Result<size_t> write_short_way(File& file, const void* buffer,
                                                             size_t size, uint64_t offset) {
  CAIRN_TRY(check_write(file, offset, size));
  if (size == 0) [[unlikely]]
    return size_t{0};
  if (is_lazy(file)) [[unlikely]]
    return write_elsewhere(file, buffer, size, offset);
  pool::SeatGuard seat(file.fs->pool, file.number);
  if (!seat.ok()) [[unlikely]]
    return pool::no_seat(file.fs->pool);
  const auto* source = static_cast<const uint8_t*>(buffer);
  const Known known = recall(*seat, file, offset);
  // On durable media much more waits for the memory than this.
  if (size > known.size || known.warm == nullptr || offset + size > file.inode->size.load() ||
      !file.fs->pool.is_volatile) [[unlikely]]
    return write_long_way(file, seat.hand_over(), source, size, offset);
  prefetch_overwrite(*seat, known.warm, size, offset);
  if (!known.region->copy_warm(known.at, source, size).ok()) [[unlikely]]
    return write_long_way(file, seat.hand_over(), source, size, offset);
  touch_modified(file);
  return size;
}

}  // namespace cairn::file
