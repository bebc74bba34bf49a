// Packer and Unpacker write and read fixed-width words and texts, one behind the other: files in
// the covered directory, and texts of messages.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace cairn::cluster {

class Packer {
 public:
  template <typename T>
  void put(T value) {
    append(&value, sizeof value);
  }
  void append(const void* data, size_t size) {
    const auto* from = static_cast<const uint8_t*>(data);
    bytes.insert(bytes.end(), from, from + size);
  }
  void text(const std::string& text) {
    put(static_cast<uint32_t>(text.size()));
    append(text.data(), text.size());
  }
  std::vector<uint8_t> bytes;
};

// Stays at the end, and says so, once there is too little.
class Unpacker {
 public:
  Unpacker(const void* bytes, size_t size) : at_(static_cast<const uint8_t*>(bytes)), left_(size) {}
  template <typename T>
  T get() {
    T value = {};
    take(&value, sizeof value);
    return value;
  }
  void take(void* data, size_t size) {
    if (size > left_) {
      left_ = 0;
      ok_ = false;
      return;
    }
    std::memcpy(data, at_, size);
    at_ += size;
    left_ -= size;
  }
  std::string text() {
    const auto length = get<uint32_t>();
    if (length > left_) ok_ = false;
    std::string text(ok_ ? length : 0, '\0');
    take(text.data(), text.size());
    return text;
  }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] size_t left() const { return left_; }

 private:
  const uint8_t* at_;
  size_t left_;
  bool ok_ = true;
};

}  // namespace cairn::cluster
