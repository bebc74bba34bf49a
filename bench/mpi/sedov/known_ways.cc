#include "way.h"

namespace sedov {

const std::vector<KnownWay>& known_ways() {
  static const std::vector<KnownWay> ways = {
      {"file", "a file per variable, flush per element", file_way},
      {"persist", "persist per element", persist_way},
      {"drain", "flush per element, one drain", drain_way},
      {"cairn", "Cairn's checkpoint", cairn_way},
  };
  return ways;
}

}  // namespace sedov
