// Backend: how a Region's stores reach their medium; a table of functions, one per implementation.
//
// Region performs the volatile and warm case inline. The backend performs bulk copies past the
// cache, everything on non-volatile media, and every operation of the simulator.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "persist/core/granularity.h"
#include "persist/core/site.h"

namespace cairn::persist {

enum class WordOperation : uint8_t {
  store,
  compare_exchange,  // stores `value` if the word holds `expected`
  exchange,
  fetch_add,
  fetch_or,
  fetch_and,
};

// RegionState is the part of a region that its backend sees.
class RegionState {
 public:
  explicit RegionState(size_t stream_min = SIZE_MAX, void* backend_state = nullptr)
      : stream_min_(stream_min), backend_state_(backend_state) {}

  // From which size copies into volatile memory may go past the cache (persist/copy/streaming.h).
  [[nodiscard]] size_t stream_min() const { return stream_min_; }
  // Returns what the caller of Region::open() passed for the backend.
  [[nodiscard]] void* backend_state() const { return backend_state_; }
  // Records the first errno of a failed write-back, which stays; 0 while there was none.
  void note_writeback_error(int error) {
    int none = 0;
    __atomic_compare_exchange_n(&writeback_error_, &none, error, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
  }
  [[nodiscard]] int writeback_error() const {
    return __atomic_load_n(&writeback_error_, __ATOMIC_RELAXED);
  }

 private:
  size_t stream_min_;
  void* backend_state_;
  int writeback_error_ = 0;
};

struct Backend {
  const char* name;

  // --- machine backends and recorders alike ---
  // Leave [to, to + size) holding the bytes, as flushed (contract 3). `to` lies in the mapping.
  Status (*copy)(RegionState& region, uint8_t* to, const void* from, size_t size);
  Status (*zero)(RegionState& region, uint8_t* to, size_t size);
  // Never called on Granularity::none, except for recorders.
  void (*flush)(RegionState& region, const void* address, size_t size, Site site);
  Status (*fence)(RegionState& region, Site site);

  // --- recorders only (the simulator): null means that words are stored by the machine ---
  // Performs `operation` and returns what the word held before.
  uint64_t (*word)(RegionState& region, uint64_t* word, WordOperation operation, uint64_t value,
                   uint64_t expected);

  // Called by Region::close(); null if nothing refers to a region.
  void (*forget)(RegionState& region);

  // True if copies on volatile memory may go past the cache. Only these come here; Region does
  // smaller ones inline.
  bool streams;

  // Forgets this thread's flushes that were not fenced; null if flushes are not remembered.
  void (*drop)(RegionState& region) = nullptr;
};

}  // namespace cairn::persist
