// What tests with pools on /dev/shm share: a folder that goes away, a seed that is printed.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string>

#include "cairn/cairn.h"

namespace cairn::test {

// A folder in memory; removed with everything in it by the process that made it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    char path[] = "/dev/shm/cairn-test-XXXXXX";
    if (mkdtemp(path) == nullptr) std::abort();
    path_ = path;
    owner_ = getpid();
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (getpid() == owner_) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  pid_t owner_;
};

inline uint64_t number_from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoull(text, nullptr, 0);
}

// CAIRN_SEED, or the clock; printed, so that a failure can be repeated.
inline uint64_t test_seed() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  static const uint64_t seed =
      number_from_environment("CAIRN_SEED", static_cast<uint64_t>(t.tv_sec) * 1000 +
                                                static_cast<uint64_t>(t.tv_nsec) / 1'000'000);
  static const bool printed =
      (std::printf("CAIRN_SEED=%llu\n", static_cast<unsigned long long>(seed)), std::fflush(stdout),
       true);
  (void)printed;
  return seed;
}

inline double now_s() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// splitmix64: small, fast, the same everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t n) { return next() % n; }
  bool one_in(uint64_t n) { return below(n) == 0; }

 private:
  uint64_t state_;
};

inline void make_pool(const std::string& path, uint64_t size, uint32_t lanes = 0,
                      uint32_t granularity = 0) {
  cairn_pool_options options{};
  options.struct_size = sizeof options;
  options.size = size;
  options.lanes = lanes;
  options.granularity = granularity;
  ASSERT_EQ(cairn_pool_create(path.c_str(), &options), 0) << cairn_last_error();
}

inline cairn_pool* attach(const std::string& path, unsigned flags = 0) {
  cairn_pool* pool = nullptr;
  const int status = cairn_pool_attach(path.c_str(), flags, &pool);
  EXPECT_EQ(status, 0) << cairn_last_error();
  return status == 0 ? pool : nullptr;
}

inline uint64_t used_bytes(cairn_pool* pool) {
  cairn_pool_info info;
  EXPECT_EQ(cairn_pool_get_info(pool, &info), 0) << cairn_last_error();
  return info.used;
}

// The number of findings, each of which is printed.
inline int64_t check_pool(const std::string& path) {
  return cairn_pool_check(
      path.c_str(), [](void*, const char* text) { std::printf("  check: %s\n", text); }, nullptr);
}

}  // namespace cairn::test
