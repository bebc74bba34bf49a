// Random operations on a tree, done through the pool and on a plain directory alike.
#pragma once

#include <random>
#include <string>

#include "tier/cover_fixture.h"

namespace cairn::test {

// A cover takes hard links in lower for separate files; then they are.
void break_links(const std::string& root);

class Exercise {
 public:
  explicit Exercise(uint64_t seed) : random_(seed) {}
  // A tree to start from; the same for the same seed.
  void populate(const std::string& root);
  // One operation on both sides; both succeed, or both fail with the same error.
  void step(Covered& covered, const std::string& plain);
  // The same on the pool alone.
  void step(Covered& covered);

 private:
  struct Operation {
    int kind = 0;
    std::string from;
    std::string to;
    uint64_t number = 0;
    std::string text;
  };
  Operation choose();
  static int in_pool(Covered& covered, const Operation& operation);
  static int in_plain(const std::string& root, const Operation& operation);
  std::string random_path();
  uint64_t below(uint64_t n) { return random_() % n; }

  std::mt19937_64 random_;
};

}  // namespace cairn::test
