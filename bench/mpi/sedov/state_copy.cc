#include "state_copy.h"

#include <algorithm>
#include <cstring>

#include "base/crc32c_bulk.h"

namespace sedov {

uint32_t StateCopy::make() {
  // The sum of each part is made while the part is in the cache.
  constexpr size_t part = size_t{256} << 10;
  char* to = memory_.data();
  uint32_t crc = 0;
  for (const Piece& piece : pieces_of(state_))
    for (size_t at = 0; at < piece.bytes; at += part) {
      const size_t bytes = std::min(part, piece.bytes - at);
      std::memcpy(to, piece.data + at, bytes);
      crc = cairn::crc32c_bulk(crc, to, bytes);
      to += bytes;
    }
  return crc;
}

}  // namespace sedov
