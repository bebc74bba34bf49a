// Ranks of a program as threads of this process, each with a context of its own, and the arrays
// that tests write.
#pragma once

#include <cairn/checkpoint.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "model/temporary_pool.h"

namespace cairn::test {

// A pool in memory.
class PoolInMemory {
 public:
  explicit PoolInMemory(uint64_t size) {
    cairn_pool_options options{};
    options.struct_size = sizeof options;
    options.size = size;
    EXPECT_EQ(cairn_pool_create(path().c_str(), &options), 0) << cairn_last_error();
    EXPECT_EQ(cairn_pool_attach(path().c_str(), 0, &pool_), 0) << cairn_last_error();
  }
  ~PoolInMemory() { cairn_pool_detach(pool_); }
  PoolInMemory(const PoolInMemory&) = delete;
  PoolInMemory& operator=(const PoolInMemory&) = delete;
  [[nodiscard]] cairn_pool* get() const { return pool_; }
  [[nodiscard]] std::string path() const { return folder_.path() + "/pool"; }

 private:
  TemporaryFolder folder_;
  cairn_pool* pool_ = nullptr;
};

// Sets up a context; the caller finalizes it.
inline cairn_checkpoint* open_set(cairn_pool* pool, const char* name,
                                  cairn_checkpoint_options options = {}) {
  options.struct_size = sizeof options;
  options.pool = pool;
  if (options.ranks > 1 && options.job == nullptr) options.job = "test";
  cairn_checkpoint* checkpoint = nullptr;
  EXPECT_EQ(cairn_checkpoint_init(name, CAIRN_NO_COMMUNICATOR, &options, &checkpoint), 0)
      << cairn_last_error();
  return checkpoint;
}

// Calls `work` for each rank, concurrently.
inline void with_ranks(uint32_t ranks, const std::function<void(uint32_t rank)>& work) {
  std::vector<std::thread> threads;
  for (uint32_t rank = 1; rank < ranks; ++rank) threads.emplace_back(work, rank);
  work(0);
  for (std::thread& thread : threads) thread.join();
}

// Rows of a matrix, spread over ranks, with `halo` rows on both sides.
struct Rows {
  static constexpr int64_t columns = 37;
  Rows(int64_t rows, uint32_t its_rank, uint32_t ranks, uint16_t its_halo = 0)
      : total(rows), halo(its_halo) {
    first = rows * its_rank / ranks;
    count = rows * (its_rank + 1) / ranks - first;
    values.assign(static_cast<size_t>((count + 2 * halo) * columns), -1);
  }
  static double value(int64_t row, int64_t column, int64_t version) {
    return static_cast<double>(version) * 1e6 + static_cast<double>(row * 1000 + column);
  }
  double& at(int64_t row, int64_t column) {
    return values[static_cast<size_t>((row - first + halo) * columns + column)];
  }
  void set(int64_t version) {
    for (int64_t r = first; r < first + count; ++r)
      for (int64_t c = 0; c < columns; ++c) at(r, c) = value(r, c, version);
  }
  // "" or the first element that differs.
  std::string difference(int64_t version, bool with_halo = false) {
    if (count == 0) return "";
    const int64_t low = with_halo ? std::max<int64_t>(first - halo, 0) : first;
    const int64_t high = with_halo ? std::min(first + count + halo, total) : first + count;
    for (int64_t r = low; r < high; ++r)
      for (int64_t c = 0; c < columns; ++c)
        if (at(r, c) != value(r, c, version))
          return std::to_string(r) + "," + std::to_string(c) + ": " + std::to_string(at(r, c));
    return "";
  }
  int define(cairn_checkpoint* checkpoint, const char* name = "rows",
             const cairn_definition* more = nullptr) {
    cairn_array array{};
    array.struct_size = sizeof array;
    array.type = CAIRN_TYPE_FLOAT64;
    array.dimensions = 2;
    array.base = values.data();
    array.extent[0] = count + 2 * halo;
    array.extent[1] = columns;
    cairn_distribution block{};
    block.struct_size = sizeof block;
    block.kind = CAIRN_BLOCK;
    block.global[0] = total;
    block.global[1] = columns;
    block.offset[0] = first;
    block.halo_low[0] = block.halo_high[0] = halo;
    return cairn_checkpoint_define(checkpoint, name, &array, &block, more);
  }

  int64_t total;
  int64_t halo;
  int64_t first = 0;
  int64_t count = 0;
  std::vector<double> values;
};

inline int define_scalar(cairn_checkpoint* checkpoint, const char* name, int64_t* value) {
  cairn_array array{};
  array.struct_size = sizeof array;
  array.type = CAIRN_TYPE_INT64;
  array.base = value;
  cairn_distribution replicated{};
  replicated.struct_size = sizeof replicated;
  replicated.kind = CAIRN_REPLICATED;
  return cairn_checkpoint_define(checkpoint, name, &array, &replicated, nullptr);
}

inline cairn_checkpoint_info empty_info() {
  cairn_checkpoint_info info{};
  info.struct_size = sizeof info;
  return info;
}

}  // namespace cairn::test
