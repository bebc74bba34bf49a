// Region: one mapped piece of a medium (a pool segment), and the only door to its memory.
//
// Every store, flush and fence to pool memory goes through a Region. Three implementations stand
// behind the same contract: x86_64 (clwb, clflushopt or clflush by CPU; non-temporal copies),
// generic (portable C++), and the crash simulator, which records what reaches the medium and builds
// the images that a power loss could leave.
//
// All operations of a volatile and warm region are inline here, behind one predictable branch.
//
// Vocabulary (as libpmem2): to *flush* a range is to start its way to the persistence domain; a
// *fence* (drain) waits until everything that THIS thread flushed or copied before has arrived.
// Only fence() drains; locked instructions order, but do not drain.
//
// Contract
//  1. Word operations are atomic and immediately visible to all processes. store is a release
//     store, read-modify-writes are sequentially consistent full fences (locked instructions).
//  2. A Word operation alone makes nothing durable: flush() its range, then fence().
//  3. copy() and zero() leave their bytes as flushed: the next fence() of this thread makes them
//     durable, whether they went past the cache or were flushed line by line. Bytes of the touched
//     lines outside the range keep their values. They are visible to others no later than the next
//     Word operation or fence() of this thread (on volatile media too: a copy past the cache ends
//     with the store fence it needs).
//  4. On volatile media (Granularity::none) flush() and fence() do nothing.
//  5. On Granularity::page, flush() notes the pages and fence() writes them back (msync). A failure
//     of that is sticky and returned by every later fence() of the region. fence() writes back what
//     this thread noted in any region; drop_flushes() forgets it instead.
//  6. The data path (copy, read, Word operations, flush, fence) allocates nothing, takes no lock
//     and is async-signal-safe. On cold memory copy() and read() may make one system call (see
//     below).
//  7. Regions are opened and closed while no other thread uses them. On Granularity::page every
//     thread that flushed has fenced, or dropped its flushes, before close().
//
// First touch: on a medium with small pages, a process's first store to a page through the mapping
// costs more than copying it. So copy() and read() of a range whose chunk (2 MiB) this process has
// not warmed yet may go through the kernel (pwrite/pread on the segment's descriptor). The chunk is
// populated in one call when it has proved to be used; see first_touch.h. On media that are written
// past the page cache (cache_line, byte) only the second half of this happens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/status.h"
#include "persist/copy/prefetching_copy.h"
#include "persist/core/backend.h"
#include "persist/core/granularity.h"
#include "persist/core/shared_bytes.h"
#include "persist/core/site.h"
#include "persist/core/word.h"
#include "persist/region/file_size_limit.h"
#include "persist/region/first_touch.h"

namespace cairn::persist {

struct RegionOptions {
  void* base = nullptr;    // start of the mapping, page aligned
  size_t size = 0;         // bytes mapped
  int fd = -1;             // the segment's descriptor for kernel copies, or -1: never use them
  uint64_t fd_offset = 0;  // where `base` lies in that descriptor
  Granularity granularity = Granularity::none;
  bool large_pages = false;  // a first touch costs nothing here (devdax, huge= tmpfs)
  bool writable = true;
  // The size from which copies into volatile memory may go past the cache: the result of
  // measure_stream_min() on this machine, or 0 for the default.
  size_t stream_min = 0;
};

class Region {
 public:
  Region() = default;
  ~Region() { close(); }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  // Takes over the mapping for stores; does not own it. Picks the best backend for this CPU and
  // granularity. Allocates the first-touch table (process-private, released by close()).
  Status open(const RegionOptions& options);
  // Opens with a given backend and its state, for tests and the simulator.
  Status open(const RegionOptions& options, const Backend* backend, void* backend_state);
  void close();

  [[nodiscard]] uint8_t* base() const { return base_; }
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] Granularity granularity() const { return granularity_; }
  [[nodiscard]] bool is_volatile() const { return granularity_ == Granularity::none; }

  // --- Words: `word` must lie inside the region ---
  void store(Word& word, uint64_t value) {
    if (recorded_) [[unlikely]] {
      record(word, WordOperation::store, value, 0);
      return;
    }
    __atomic_store_n(&word.value_, value, __ATOMIC_RELEASE);
  }
  // Returns true if store() is only the store, so that store_plain() may replace it.
  [[nodiscard]] bool stores_plainly() const { return !recorded_; }
  static void store_plain(Word& word, uint64_t value) {
    __atomic_store_n(&word.value_, value, __ATOMIC_RELEASE);
  }
  // Returns true and stores `desired` if the word held `expected`, else loads it into `expected`.
  bool compare_exchange(Word& word, uint64_t& expected, uint64_t desired) {
    if (recorded_) [[unlikely]] {
      uint64_t held = record(word, WordOperation::compare_exchange, desired, expected);
      bool stored = held == expected;
      expected = held;
      return stored;
    }
    return __atomic_compare_exchange_n(&word.value_, &expected, desired, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
  }
  // The following return what the word held before.
  uint64_t exchange(Word& word, uint64_t value) {
    if (recorded_) [[unlikely]]
      return record(word, WordOperation::exchange, value, 0);
    return __atomic_exchange_n(&word.value_, value, __ATOMIC_SEQ_CST);
  }
  uint64_t fetch_add(Word& word, uint64_t value) {
    if (recorded_) [[unlikely]]
      return record(word, WordOperation::fetch_add, value, 0);
    return __atomic_fetch_add(&word.value_, value, __ATOMIC_SEQ_CST);
  }
  uint64_t fetch_or(Word& word, uint64_t bits) {
    if (recorded_) [[unlikely]]
      return record(word, WordOperation::fetch_or, bits, 0);
    return __atomic_fetch_or(&word.value_, bits, __ATOMIC_SEQ_CST);
  }
  uint64_t fetch_and(Word& word, uint64_t bits) {
    if (recorded_) [[unlikely]]
      return record(word, WordOperation::fetch_and, bits, 0);
    return __atomic_fetch_and(&word.value_, bits, __ATOMIC_SEQ_CST);
  }

  // --- bulk bytes; offsets are relative to base() ---
  // Copies `size` bytes into the region at `offset`. Fails with EIO (media error), EFAULT or ENOSPC
  // only where the kernel did the copy. source must not overlap the destination.
  Status copy(uint64_t offset, const void* source, size_t size) {
    // A short piece that reaches into a cold chunk merely faults there.
    if (size <= inline_copy_limit_ && is_warm(offset)) [[likely]] {
      const SharedBytes shared;
      copy_bytes(base_ + offset, source, size);
      return Status();
    }
    if (warmth_table_ == nullptr) [[likely]] {  // nothing to warm
      if (size >= first_touch::large_page_kernel_min && is_untouched(offset)) [[unlikely]]
        return copy_untouched(offset, source, size);
      const SharedBytes shared;
      return backend_->copy(state_, base_ + offset, source, size);
    }
    return copy_general(offset, source, size);
  }
  Status zero(uint64_t offset, size_t size) {
    if (size <= inline_copy_limit_ && is_warm(offset)) [[likely]] {
      const SharedBytes shared;
      std::memset(base_ + offset, 0, size);
      return Status();
    }
    return zero_general(offset, size);
  }
  // Returns the address from which [offset, offset + size) may be read with read_warm() from now
  // on, or null.
  [[nodiscard]] const uint8_t* warm_bytes(uint64_t offset, size_t size) const {
    return size != 0 && is_warm(offset) && is_warm(offset + size - 1) ? base_ + offset : nullptr;
  }
  // Returns the size up to which copy() to such bytes is copy_warm(); 0 on media that are not
  // volatile.
  [[nodiscard]] size_t copy_warm_max() const { return inline_copy_limit_; }
  void copy_warm(uint64_t offset, const void* source, size_t size) const {
    const SharedBytes shared;
    copy_bytes(base_ + offset, source, size);
  }
  // Reads warm bytes; `next`: the address of the probable next read, or null.
  static void read_warm(void* destination, const uint8_t* bytes, size_t size, const uint8_t* next) {
    const SharedBytes shared;
    copy_out(destination, bytes, size, next);
  }
  // Copies out of the region.
  Status read(void* destination, uint64_t offset, size_t size) const {
    if (size <= inline_read_limit && is_warm(offset)) [[likely]] {
      const SharedBytes shared;
      copy_out(destination, base_ + offset, size, nullptr);
      return Status();
    }
    return read_general(destination, offset, size);
  }

  // --- durability ---
  void flush(const void* address, size_t size, Site site = Site::here()) {
    if (must_flush_) [[unlikely]]
      backend_->flush(state_, address, size, site);
  }
  Status fence(Site site = Site::here()) {
    if (must_flush_) [[unlikely]]
      return backend_->fence(state_, site);
    return Status();
  }

  // Forgets this thread's flushes: they need not arrive with its next fence, because the whole
  // medium will be written back.
  void drop_flushes() {
    if (must_flush_ && backend_->drop != nullptr) backend_->drop(state_);
  }

  // Populates [offset, offset + size) for this process now (MADV_POPULATE_WRITE); progress bars and
  // `pool populate` call it piece by piece. EIO/ENOMEM/ENOSPC as the kernel returns.
  Status populate(uint64_t offset, size_t size);

  // Makes the chunks of [offset, offset + size) cold: their memory went back to the system, and
  // this process's mappings of it are gone.
  void forget_warmth(uint64_t offset, size_t size);

  // Notes that the chunk at `offset` has untouched pages with memory reserved for them.
  void note_untouched(uint64_t offset);

  // Records the first errno of a failed write-back, which stays; 0 while there was none.
  void note_writeback_error(int error) { state_.note_writeback_error(error); }
  [[nodiscard]] int writeback_error() const { return state_.writeback_error(); }

 private:
  // Larger reads check each chunk that they touch; the check costs them nothing.
  static constexpr size_t inline_read_limit = size_t{64} << 10;

  [[nodiscard]] bool is_warm(uint64_t offset) const {
    return warmth_[offset >> warmth_shift_] == first_touch::warm;
  }
  [[nodiscard]] bool reads_through_kernel(uint64_t offset, size_t size) const {
    return size >= kernel_read_min_ && !is_warm(offset);
  }
  [[nodiscard]] bool writes_through_kernel(uint64_t offset, size_t size) const {
    return size >= kernel_write_min_ && (keeps_faulting_ || !is_warm(offset)) &&
           kernel_may_write(fd_offset_ + offset + size);
  }
  [[nodiscard]] bool is_untouched(uint64_t offset) const {
    return offset >> first_touch::chunk_shift ==
           __atomic_load_n(&untouched_chunk_, __ATOMIC_RELAXED);
  }
  Status copy_untouched(uint64_t offset, const void* source, size_t size);
  [[nodiscard]] first_touch::MappedMemory place() const;
  uint64_t record(Word& word, WordOperation operation, uint64_t value, uint64_t expected) {
    return backend_->word(state_, &word.value_, operation, value, expected);
  }
  Status copy_general(uint64_t offset, const void* source, size_t size);
  Status zero_general(uint64_t offset, size_t size);
  Status read_general(void* destination, uint64_t offset, size_t size) const;
  Status kernel_write(uint64_t offset, const uint8_t* source, size_t size);
  Status kernel_read(uint8_t* destination, uint64_t offset, size_t size) const;
  void charge(uint64_t offset, size_t size) const;

  // The members that the inline paths read come first, in one cache line.
  uint8_t* base_ = nullptr;
  // One entry per chunk; if first touch costs nothing, one entry and a shift of 63.
  const volatile uint16_t* warmth_ = nullptr;
  uint32_t inline_copy_limit_ = 0;
  uint8_t warmth_shift_ = 63;
  bool recorded_ = false;    // words go to the backend
  bool must_flush_ = false;  // flush and fence go to the backend
  Granularity granularity_ = Granularity::none;
  const Backend* backend_ = nullptr;
  size_t size_ = 0;

  uint64_t fd_offset_ = 0;
  size_t kernel_read_min_ = SIZE_MAX;
  size_t kernel_write_min_ = SIZE_MAX;
  bool keeps_faulting_ = false;  // page cache: after each write-back a store faults again
  RegionState state_;
  uint16_t* warmth_table_ = nullptr;       // owned, or null
  uint64_t untouched_chunk_ = UINT64_MAX;  // large pages: the one that was reserved last
  int fd_ = -1;
  bool writable_ = false;
};

}  // namespace cairn::persist
