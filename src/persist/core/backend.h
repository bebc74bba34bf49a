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

class Region;

enum class WordOperation : uint8_t {
  store,
  compare_exchange,  // stores `value` if the word holds `expected`
  exchange,
  fetch_add,
  fetch_or,
  fetch_and,
};

struct Backend {
  const char* name;

  // --- machine backends and recorders alike ---
  // Leave [to, to + size) holding the bytes, as flushed (contract 3). `to` lies in the mapping.
  Status (*copy)(Region& region, uint8_t* to, const void* from, size_t size);
  Status (*zero)(Region& region, uint8_t* to, size_t size);
  // Never called on Granularity::none, except for recorders.
  void (*flush)(Region& region, const void* address, size_t size, Site site);
  Status (*fence)(Region& region, Site site);

  // --- recorders only (the simulator): null means that words are stored by the machine ---
  // Performs `operation` and returns what the word held before.
  uint64_t (*word)(Region& region, uint64_t* word, WordOperation operation, uint64_t value,
                   uint64_t expected);

  // Called by Region::close(); null if nothing refers to a region.
  void (*forget)(Region& region);

  // True if copies on volatile memory may go past the cache. Only these come here; Region does
  // smaller ones inline.
  bool streams;

  // Forgets this thread's flushes that were not fenced; null if flushes are not remembered.
  void (*drop)(Region& region) = nullptr;
};

// Returns the best machine backend for this CPU and granularity (Granularity::none included), never
// null.
const Backend* machine_backend(Granularity granularity);

// The implementations behind machine_backend(). page_backend: msync (any CPU, any medium that is
// mapped from a file). generic_backend: portable C++ for volatile memory.
extern const Backend page_backend;
extern const Backend generic_backend;
// Returns the backend for this CPU, or for one with given features (tests); null on anything but
// x86-64.
struct X86Features {
  bool avx2 = false;
  bool avx512 = false;
  bool clflushopt = false;
  bool clwb = false;
  bool sse4a = false;  // only AMD's processors have it
};
X86Features x86_features();
const Backend* x86_64_backend(Granularity granularity);
const Backend* x86_64_backend(Granularity granularity, X86Features features);

// Performs `operation` with the CPU's own atomic instruction, for recorders, which act as well as
// record.
uint64_t perform(uint64_t* word, WordOperation operation, uint64_t value, uint64_t expected);

}  // namespace cairn::persist
