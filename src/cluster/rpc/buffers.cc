#include "cluster/rpc/buffers.h"

#include <algorithm>
#include <utility>

namespace cairn::cluster {

Buffer Buffers::take(size_t size) {
  {
    const std::lock_guard guard(mutex_);
    const auto fits = std::find_if(kept_.begin(), kept_.end(),
                                   [=](const Buffer& one) { return one.capacity >= size; });
    if (fits != kept_.end()) {
      Buffer found = std::move(*fits);
      kept_.erase(fits);
      return found;
    }
  }
  // Not a vector, which would write zeros to all of it.
  return {std::unique_ptr<uint8_t[]>(new uint8_t[size]), size};
}

void Buffers::give_back(Buffer buffer) {
  const std::lock_guard guard(mutex_);
  if (kept_.size() == most_kept) {
    // The small ones are made again most cheaply.
    const auto smallest =
        std::min_element(kept_.begin(), kept_.end(),
                         [](const Buffer& a, const Buffer& b) { return a.capacity < b.capacity; });
    if (smallest->capacity >= buffer.capacity) return;
    *smallest = std::move(buffer);
    return;
  }
  kept_.push_back(std::move(buffer));
}

}  // namespace cairn::cluster
