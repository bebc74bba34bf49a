// Granularity: the means by which a store survives power loss: libpmem2's three, and none for
// volatile media.
#pragma once

#include <cstdint>

namespace cairn::persist {

enum class Granularity : uint8_t {
  none = 1,        // volatile memory: nothing survives power loss
  page = 2,        // page cache: msync
  cache_line = 3,  // ADR: clwb + sfence
  byte = 4,        // eADR: sfence
};

[[nodiscard]] constexpr const char* name_of(Granularity granularity) {
  switch (granularity) {
    case Granularity::none:
      return "none";
    case Granularity::page:
      return "page";
    case Granularity::cache_line:
      return "cache line";
    case Granularity::byte:
      return "byte";
  }
  return "?";
}

}  // namespace cairn::persist
