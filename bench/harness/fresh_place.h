// FreshPlace makes an empty directory, and a directory beside it where `cairn run` makes a pool of
// the size that it chooses. Both are removed with the object.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/medium.h"

namespace cairn::bench {

class FreshPlace {
 public:
  explicit FreshPlace(const Medium& medium);
  ~FreshPlace();
  FreshPlace(const FreshPlace&) = delete;
  FreshPlace& operator=(const FreshPlace&) = delete;

  [[nodiscard]] std::string directory() const { return path_ + "/files"; }
  // Returns the words that run `words` with the directory covered. Its files stay in the pool.
  [[nodiscard]] std::vector<std::string> covered(const std::vector<std::string>& words) const;
  // Bytes that are allocated to the pool's files.
  [[nodiscard]] uint64_t held_by_pool() const;

 private:
  std::string path_;
};

// Bytes that are allocated to the files in a directory and below it.
uint64_t allocated_below(const std::string& directory);

}  // namespace cairn::bench
