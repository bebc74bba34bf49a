// A cover whose files are drained and evicted.
#pragma once

#include <fcntl.h>

#include <memory>
#include <string>

#include "tier/cover_fixture.h"

namespace cairn::test {

inline constexpr uint64_t mib = 1 << 20;

inline std::string pattern(size_t size, uint32_t seed) {
  std::string bytes(size, '\0');
  uint32_t x = seed * 2654435761U + 1;
  for (char& c : bytes) {
    x = x * 1664525U + 1013904223U;
    c = static_cast<char>('a' + (x >> 24) % 26);
  }
  return bytes;
}

class EvictTest : public CoverTest {
 public:
  void start(uint64_t pool_size = 64 * mib) {
    make_pool(pool_size);
    covered = std::make_unique<Covered>(pool_, lower_);
  }
  // The kernel copies to and from memory that the process has not touched yet, and meets no Trap.
  void start_touched() {
    start(32 * mib);
    ASSERT_EQ(cairn_pool_populate(covered->pool, nullptr, nullptr), 0) << cairn_last_error();
  }
  // A file of the pool's own that lower has as well.
  void make_drained(const std::string& name, const std::string& bytes) {
    ASSERT_EQ(covered->create(name, bytes), 0) << cairn_last_error();
    ASSERT_EQ(covered->drain().code, 0) << cairn_last_error();
  }
  uint64_t used() {
    cairn_pool_info info = {};
    EXPECT_EQ(cairn_pool_get_info(covered->pool, &info), 0);
    return info.used;
  }
  bool is_lazy(const std::string& name) {
    return (covered->stat(name).flags & CAIRN_FILE_LAZY) != 0;
  }
  int evict(const std::string& name, uint64_t* bytes = nullptr) {
    const cairn_stat st = covered->stat(name);
    return cairn_evict(covered->pool, st.ino, st.generation, bytes);
  }
  // It goes, and its room comes back.
  void expect_evicted(const std::string& name) {
    const uint64_t before = used();
    ASSERT_FALSE(is_lazy(name));
    uint64_t bytes = 0;
    ASSERT_EQ(evict(name, &bytes), 0) << cairn_last_error();
    EXPECT_TRUE(is_lazy(name));
    EXPECT_GT(bytes, 0U);
    EXPECT_EQ(used() + bytes, before);
  }
  // It stays where it is, with all that it holds.
  void expect_kept(const std::string& name, int error) {
    const std::string bytes = covered->read(name);
    const uint64_t before = used();
    EXPECT_EQ(evict(name), -error);
    EXPECT_FALSE(is_lazy(name));
    EXPECT_EQ(used(), before);
    EXPECT_EQ(covered->read(name), bytes);
  }
  cairn_file* open(const std::string& name, int flags) {
    cairn_file* file = nullptr;
    EXPECT_EQ(cairn_open(covered->pool, covered->top, name.c_str(), flags, 0644, &file), 0)
        << cairn_last_error();
    return file;
  }
  std::unique_ptr<Covered> covered;
  const std::string bytes_ = pattern(3 * mib + 1234, 1);
};

}  // namespace cairn::test
