// OwnPool is a pool for a job that does not run under `cairn run`: one rank makes it, or it is that
// of an earlier job; all ranks attach it.
#pragma once

#include <cairn/cairn.h>

#include <cstdint>
#include <string>

#include "../marked_pool.h"

namespace palm {

class OwnPool {
 public:
  // is_new: makes a pool of some more bytes than `data`, anew if a killed job has left one. keep:
  // it stays. Collective, as the destructor is.
  OwnPool(std::string path, int64_t data, bool is_new, bool keep);
  ~OwnPool();
  OwnPool(const OwnPool&) = delete;
  OwnPool& operator=(const OwnPool&) = delete;

  [[nodiscard]] cairn_pool* pool() const { return pool_; }

 private:
  std::string path_;
  bench::MarkedPool marked_;
  bool keep_;
  cairn_pool* pool_ = nullptr;
};

}  // namespace palm
