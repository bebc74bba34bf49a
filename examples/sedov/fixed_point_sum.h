// FixedPointSum adds numbers so that the result does not depend on their order: as integers, whose
// sums are exact. So all numbers of ranks give the same bits.
#pragma once

#include <cmath>
#include <cstdint>

namespace sedov {

class FixedPointSum {
 public:
  // largest: the magnitude of the sum; it may be exceeded four times. Each term is rounded to
  // 2^-59 of it at most.
  explicit FixedPointSum(double largest) : exponent_(std::ilogb(largest) - 59) {}

  void add(double term) { sum_ += std::llrint(std::ldexp(term, -exponent_)); }

  // Ranks may add up their sums, as integers.
  [[nodiscard]] int64_t integer() const { return sum_; }
  [[nodiscard]] double value(int64_t sum) const {
    return std::ldexp(static_cast<double>(sum), exponent_);
  }

 private:
  int exponent_;
  int64_t sum_ = 0;
};

}  // namespace sedov
