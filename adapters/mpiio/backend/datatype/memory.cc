#include "mpiio/backend/datatype/memory.h"

#include <algorithm>
#include <cstring>

#include "mpiio/backend/datatype/walk.h"

namespace mpiio {
namespace {

template <typename Move>
void each_piece(const Layout& layout, int64_t skip, int64_t bytes, const Move& move) {
  if (bytes == 0) return;
  Walk walk(layout, 0, skip);
  for (int64_t done = 0; done < bytes;) {
    const int64_t piece = std::min(walk.length(), bytes - done);
    move(walk.offset(), done, static_cast<size_t>(piece));
    done += piece;
    if (done < bytes) walk.advance(piece);
  }
}

}  // namespace

void gather(const Layout& layout, const void* buffer, int64_t skip, char* to, int64_t bytes) {
  each_piece(layout, skip, bytes, [&](int64_t at, int64_t done, size_t size) {
    std::memcpy(to + done, static_cast<const char*>(buffer) + at, size);
  });
}

void scatter(const Layout& layout, void* buffer, int64_t skip, const char* from, int64_t bytes) {
  each_piece(layout, skip, bytes, [&](int64_t at, int64_t done, size_t size) {
    std::memcpy(static_cast<char*>(buffer) + at, from + done, size);
  });
}

}  // namespace mpiio
