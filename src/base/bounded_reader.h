// BoundedReader takes integers, texts and ranges one after the other from untrusted bytes. After
// the first call that asks for more bytes than are left, all further calls return zeros, empty
// texts and null. It copies no ranges and allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace cairn {

class BoundedReader {
 public:
  BoundedReader(const void* bytes, size_t size)
      : begin_(static_cast<const uint8_t*>(bytes)), size_(size) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] size_t position() const { return at_; }
  [[nodiscard]] size_t left() const { return ok_ ? size_ - at_ : 0; }

  template <typename T>
  T take() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (const uint8_t* from = range(sizeof value)) std::memcpy(&value, from, sizeof value);
    return value;
  }
  // The next `size` bytes, where they lie; null if there are fewer.
  const uint8_t* range(uint64_t size) {
    if (!ok_ || size > size_ - at_) {
      ok_ = false;
      return nullptr;
    }
    const uint8_t* const from = begin_ + at_;
    at_ += static_cast<size_t>(size);
    return from;
  }
  // `count` entries of `size` bytes, where they lie; null if there are fewer.
  const uint8_t* table(uint64_t count, uint64_t size) {
    uint64_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) bytes = UINT64_MAX;
    return range(bytes);
  }
  std::string_view text(uint64_t size) {
    const uint8_t* const from = range(size);
    return from == nullptr
               ? std::string_view()
               : std::string_view(reinterpret_cast<const char*>(from), static_cast<size_t>(size));
  }
  // Goes on at the next multiple of `unit`, counted from the first byte.
  void align(size_t unit) { range((unit - at_ % unit) % unit); }

 private:
  const uint8_t* begin_;
  size_t size_;
  size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace cairn
