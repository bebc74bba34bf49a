// Latency counts how long single calls take, in buckets that are at most 1/16 wide of their value.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kernels {

// Nanoseconds that a part of all calls does not exceed: {"p50", 812}, the parts in rising order.
using Percentiles = std::vector<std::pair<std::string, double>>;

class Latency {
 public:
  template <typename Call>
  void time(const Call& call) {
    const auto begin = std::chrono::steady_clock::now();
    call();
    const std::chrono::nanoseconds spent = std::chrono::steady_clock::now() - begin;
    ++counts_[bucket_of(static_cast<uint64_t>(spent.count()))];
  }

  // Returns the percentiles of all ranks' calls on rank 0; empty on other ranks, and if no call was
  // timed. Collective.
  [[nodiscard]] Percentiles gather() const;

 private:
  static constexpr size_t parts = 16;  // of a power of two

  static size_t bucket_of(uint64_t nanoseconds);
  static double middle_of(size_t bucket);

  std::array<int64_t, 64 * parts> counts_{};
};

}  // namespace kernels
