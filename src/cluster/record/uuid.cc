#include "cluster/record/uuid.h"

#include <cstdlib>
#include <cstring>

#include "tier/system/system.h"

namespace cairn::cluster {

std::string hex_of(const Uuid& uuid) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : uuid) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

Uuid random_uuid() {
  const std::string digits = tier::sys::random_name();
  Uuid uuid = {};
  for (size_t i = 0; i < uuid.size(); ++i)
    uuid[i] = static_cast<uint8_t>(std::strtoul(digits.substr(i * 2, 2).c_str(), nullptr, 16));
  return uuid;
}

Uuid uuid_of(const file::FileSystem& fs) {
  Uuid uuid = {};
  for (size_t i = 0; i < 2; ++i) {
    const uint64_t word = fs.pool.superblock().uuid[i].load();
    std::memcpy(uuid.data() + 8 * i, &word, sizeof word);
  }
  return uuid;
}

uint64_t inode_number(const Uuid& uuid) {
  uint64_t word = 0;
  std::memcpy(&word, uuid.data(), sizeof word);
  constexpr uint64_t beyond_all_pools = 1ULL << 62;
  return word >> 2 | beyond_all_pools;
}

}  // namespace cairn::cluster
