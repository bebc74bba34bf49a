// The portable backend, for any CPU and compiler.
//
// Flushing a cache line needs an instruction that portable C++ does not have, so the page backend
// serves non-volatile media here: msync() is correct on every mapping of a file, only slow.
#include <cstring>

#include "persist/machine/machine.h"

namespace cairn::persist {
namespace {

Status copy(RegionState&, uint8_t* to, const void* from, size_t size) {
  std::memcpy(to, from, size);
  return Status();
}

Status zero(RegionState&, uint8_t* to, size_t size) {
  std::memset(to, 0, size);
  return Status();
}

void flush(RegionState&, const void*, size_t, Site) {}

Status fence(RegionState&, Site) { return Status(); }

}  // namespace

const Backend generic_backend = {"generic", copy, zero, flush, fence, nullptr, nullptr, false};

const Backend* machine_backend(Granularity granularity) {
  const Backend* best = x86_64_backend(granularity);
  if (best != nullptr) return best;
  return granularity == Granularity::none ? &generic_backend : &page_backend;
}

uint64_t perform(uint64_t* word, WordOperation operation, uint64_t value, uint64_t expected) {
  switch (operation) {
    case WordOperation::compare_exchange:
      __atomic_compare_exchange_n(word, &expected, value, false, __ATOMIC_SEQ_CST,
                                  __ATOMIC_SEQ_CST);
      return expected;
    case WordOperation::store:
    case WordOperation::exchange:
      return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
    case WordOperation::fetch_add:
      return __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);
    case WordOperation::fetch_or:
      return __atomic_fetch_or(word, value, __ATOMIC_SEQ_CST);
    case WordOperation::fetch_and:
      return __atomic_fetch_and(word, value, __ATOMIC_SEQ_CST);
  }
  return 0;
}

}  // namespace cairn::persist
