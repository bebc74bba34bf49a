// Buffers for replies. Kept from one read to the next, because the pages of fresh memory cost as
// much as copying them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace cairn::cluster {

struct Buffer {
  std::unique_ptr<uint8_t[]> bytes;
  size_t capacity = 0;
};

class Buffers {
 public:
  // At least `size` bytes, of any contents.
  Buffer take(size_t size);
  void give_back(Buffer buffer);

 private:
  static constexpr size_t most_kept = 8;
  std::mutex mutex_;
  std::vector<Buffer> kept_;
};

}  // namespace cairn::cluster
