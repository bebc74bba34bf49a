// Block-cyclic arrays: written by some ranks, read by others that hold other parts. What a rank
// holds is found here by dealing out each index by itself.
#include <random>

#include "checkpoint/counted_arrays.h"

namespace cairn::test {
namespace {

struct Dimension {
  uint32_t processes;
  uint32_t distribute;
  int64_t block;
};

struct Dealing {
  std::vector<int64_t> global;
  std::vector<Dimension> along;  // empty: blocks of the first dimension, one a rank
  uint32_t rank_order = 0;
  bool is_fortran = false;  // the local array's first dimension is contiguous
  int64_t padding = 0;      // elements behind each column (or row): ScaLAPACK's LLD

  [[nodiscard]] uint32_t ranks() const {
    uint32_t all = 1;
    for (const Dimension& one : along) all *= one.processes;
    return all;
  }
};

// The process that gets an index.
uint32_t taker(const Dimension& one, int64_t extent, int64_t index) {
  int64_t block = one.block;
  if (block == 0 && one.distribute == CAIRN_DISTRIBUTE_BLOCK)
    block = std::max<int64_t>((extent + one.processes - 1) / one.processes, 1);
  if (block == 0) block = 1;
  if (one.distribute == CAIRN_DISTRIBUTE_NONE) return 0;
  uint32_t at = 0;
  for (int64_t i = 0, left = block; i < index; ++i)
    if (--left == 0) {
      at = (at + 1) % one.processes;
      left = block;
    }
  return at;
}

// This rank's array of one dealing.
class Part {
 public:
  Part(Dealing dealing, uint32_t rank, uint32_t ranks) : dealing_(std::move(dealing)) {
    const size_t d = dealing_.global.size();
    std::vector<uint32_t> coordinates(d, 0);
    for (size_t i = 0; i < d; ++i) {
      const size_t k = dealing_.rank_order == 0 ? d - 1 - i : i;
      if (dealing_.along.empty()) break;
      coordinates[k] = rank % dealing_.along[k].processes;
      rank /= dealing_.along[k].processes;
    }
    for (size_t k = 0; k < d; ++k) {
      indices_.emplace_back();
      for (int64_t i = 0; i < dealing_.global[k]; ++i) {
        const bool is_mine =
            dealing_.along.empty()
                ? k != 0 || i * ranks / dealing_.global[0] == rank
                : taker(dealing_.along[k], dealing_.global[k], i) == coordinates[k];
        if (is_mine) indices_[k].push_back(i);
      }
    }
    strides_.resize(d);
    int64_t unit = 1;
    for (size_t i = 0; i < d; ++i) {
      const size_t k = dealing_.is_fortran ? i : d - 1 - i;
      strides_[k] = unit;
      unit *= std::max<int64_t>(count(k), 1) + (i == 0 ? dealing_.padding : 0);
    }
    values_.assign(static_cast<size_t>(unit), -1);
  }

  int define(cairn_checkpoint* checkpoint, const char* name = "a") {
    cairn_distribution where{};
    where.struct_size = sizeof where;
    where.kind = dealing_.along.empty() ? CAIRN_BLOCK : CAIRN_DARRAY;
    where.rank_order = dealing_.rank_order;
    for (size_t k = 0; k < dealing_.global.size(); ++k) {
      where.global[k] = dealing_.global[k];
      if (dealing_.along.empty()) {
        where.offset[k] = indices_[k].empty() ? 0 : indices_[k].front();
        continue;
      }
      where.processes[k] = dealing_.along[k].processes;
      where.distribute[k] = dealing_.along[k].distribute;
      where.block[k] = dealing_.along[k].block;
    }
    const cairn_array array = described();
    return cairn_checkpoint_define(checkpoint, name, &array, &where, nullptr);
  }

  void set(int64_t version) {
    for_each([&](double* to, int64_t number) { *to = value(number, version); });
  }
  // Elements that are not those of the version, or were touched without being this rank's.
  // `stored`: the extents of an array that this one repeats.
  int64_t wrong(int64_t version, const std::vector<int64_t>& stored = {}) {
    int64_t found = 0;
    std::vector<double> rest = values_;
    for_each([&](double* at, int64_t number) {
      if (*at != value(stored.empty() ? number : repeated(number, stored), version)) ++found;
      rest[static_cast<size_t>(at - values_.data())] = -1;
    });
    for (const double one : rest)
      if (one != -1) ++found;
    return found;
  }
  static double value(int64_t number, int64_t version) {
    return static_cast<double>(version * 1'000'000 + number);
  }

 private:
  // The number in an array of these extents of the element that stands for one of this array.
  [[nodiscard]] int64_t repeated(int64_t number, const std::vector<int64_t>& stored) const {
    int64_t its = 0;
    int64_t unit = 1;
    for (size_t k = stored.size(); k-- != 0;) {
      its += number % dealing_.global[k] % stored[k] * unit;
      number /= dealing_.global[k];
      unit *= stored[k];
    }
    return its;
  }
  [[nodiscard]] int64_t count(size_t k) const { return static_cast<int64_t>(indices_[k].size()); }
  [[nodiscard]] cairn_array described() {
    cairn_array array{};
    array.struct_size = sizeof array;
    array.type = CAIRN_TYPE_FLOAT64;
    array.dimensions = static_cast<uint32_t>(dealing_.global.size());
    array.base = values_.data();
    for (size_t k = 0; k < dealing_.global.size(); ++k) {
      array.extent[k] = count(k);
      array.stride[k] = strides_[k] * 8;
    }
    return array;
  }
  // With each element of this rank, and its number in the global array.
  void for_each(const std::function<void(double* at, int64_t number)>& visit) {
    visit_from(0, 0, 0, visit);
  }
  void visit_from(size_t k, int64_t place, int64_t number,
                  const std::function<void(double* at, int64_t number)>& visit) {
    if (k == dealing_.global.size()) {
      visit(&values_[static_cast<size_t>(place)], number);
      return;
    }
    for (int64_t i = 0; i < count(k); ++i)
      visit_from(k + 1, place + i * strides_[k],
                 number * dealing_.global[k] + indices_[k][static_cast<size_t>(i)], visit);
  }

  Dealing dealing_;
  std::vector<std::vector<int64_t>> indices_;  // of each dimension, ascending
  std::vector<int64_t> strides_;
  std::vector<double> values_;
};

class DarrayTest : public testing::Test {
 protected:
  DarrayTest() : pool_(64ULL << 20) {}
  cairn_checkpoint* open(uint32_t rank, uint32_t ranks, const char* name = "matrix") {
    cairn_checkpoint_options options{};
    options.rank = rank;
    options.ranks = ranks;
    options.max_attempts = 1000;
    return open_set(pool_.get(), name, options);
  }
  void write(const Dealing& dealing, uint32_t ranks, const char* name = "matrix") {
    with_ranks(ranks, [&](uint32_t rank) {
      cairn_checkpoint* checkpoint = open(rank, ranks, name);
      Part part(dealing, rank, ranks);
      part.set(1);
      ASSERT_EQ(part.define(checkpoint), 0) << cairn_last_error();
      ASSERT_EQ(cairn_checkpoint_write(checkpoint, 1), 0) << cairn_last_error();
      ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
    });
  }
  void read(const Dealing& dealing, uint32_t ranks, const char* name = "matrix") {
    with_ranks(ranks, [&](uint32_t rank) {
      cairn_checkpoint* checkpoint = open(rank, ranks, name);
      Part part(dealing, rank, ranks);
      ASSERT_EQ(part.define(checkpoint), 0) << cairn_last_error();
      ASSERT_EQ(cairn_checkpoint_read(checkpoint, 1, 0, nullptr), 0) << cairn_last_error();
      EXPECT_EQ(part.wrong(1), 0) << "rank " << rank;
      ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
    });
  }
  void drop(const char* name) {
    cairn_checkpoint_options options{};
    options.struct_size = sizeof options;
    options.flags = CAIRN_CHECKPOINT_LOOK;
    options.pool = pool_.get();
    cairn_checkpoint* checkpoint = nullptr;
    ASSERT_EQ(cairn_checkpoint_init(name, CAIRN_NO_COMMUNICATOR, &options, &checkpoint), 0);
    ASSERT_EQ(cairn_checkpoint_drop(checkpoint, 0, CAIRN_DROP_SET | CAIRN_DROP_LAST), 0);
    cairn_checkpoint_finalize(checkpoint);
  }

  PoolInMemory pool_;
};

constexpr uint32_t block = CAIRN_DISTRIBUTE_BLOCK;
constexpr uint32_t cyclic = CAIRN_DISTRIBUTE_CYCLIC;
constexpr uint32_t none = CAIRN_DISTRIBUTE_NONE;

// As ScaLAPACK has them: column-major, some with a leading dimension that is too long.
Dealing scalapack(std::vector<int64_t> global, uint32_t rows, uint32_t columns, int64_t length,
                  uint32_t rank_order = 0, int64_t padding = 0) {
  return {std::move(global),
          {{rows, cyclic, length}, {columns, cyclic, length}},
          rank_order,
          true,
          padding};
}

TEST_F(DarrayTest, RanksGetBackWhatTheyWrote) {
  write(scalapack({37, 29}, 2, 2, 4), 4);
  read(scalapack({37, 29}, 2, 2, 4), 4);
}

TEST_F(DarrayTest, OnOtherRanksInOtherBlocks) {
  write(scalapack({37, 29}, 2, 3, 4, CAIRN_RANKS_FORTRAN, 3), 6);
  read(scalapack({37, 29}, 3, 2, 5), 6);
  read(scalapack({37, 29}, 2, 3, 4), 6);  // by rows, which was by columns
  read(scalapack({37, 29}, 1, 1, 7, 0, 5), 1);
  read(scalapack({37, 29}, 2, 2, 1), 4);
  read(scalapack({37, 29}, 2, 4, 64), 8);  // some ranks get nothing
  read({{37, 29}, {{2, block, 0}, {2, cyclic, 3}}}, 4);
  read({{37, 29}, {{1, none, 0}, {3, cyclic, 0}}}, 3);
  read({{37, 29}, {}}, 5);  // plain blocks
  read({{37, 29}, {}}, 1);
}

TEST_F(DarrayTest, OfPlainBlocks) {
  write({{31, 17}, {}}, 3);
  read(scalapack({31, 17}, 2, 2, 3), 4);
  read({{31, 17}, {{3, cyclic, 0}, {1, none, 0}}}, 3);
}

// Against each other, with extents that nothing divides.
TEST_F(DarrayTest, DealingsOfOneToThreeDimensions) {
  std::mt19937 random(7);
  const auto below = [&](uint32_t most) { return static_cast<uint32_t>(random() % most); };
  for (int round = 0; round < 25; ++round) {
    const size_t d = 1 + below(3);
    std::vector<int64_t> global;
    for (size_t k = 0; k < d; ++k) global.push_back(1 + below(d == 1 ? 80 : 13));
    const auto draw = [&] {
      Dealing dealing{global, {}, below(2), below(2) == 0, below(3)};
      for (size_t k = 0; k < d; ++k) {
        const uint32_t processes = 1 + below(d == 3 ? 2 : 3);
        switch (below(4)) {
          case 0:
            dealing.along.push_back({processes, block, 0});
            break;
          case 1:
            dealing.along.push_back({1, none, 0});
            break;
          default:
            dealing.along.push_back({processes, cyclic, below(6)});
        }
      }
      return dealing;
    };
    const Dealing written = draw();
    SCOPED_TRACE(round);
    write(written, written.ranks(), "drawn");
    for (int i = 0; i < 3; ++i) {
      const Dealing wanted = draw();
      read(wanted, wanted.ranks(), "drawn");
    }
    read(written, written.ranks(), "drawn");
    drop("drawn");
  }
}

TEST_F(DarrayTest, BoxesAreReadOutOfIt) {
  write(scalapack({23, 19}, 2, 3, 2), 6);
  cairn_checkpoint* checkpoint = open(0, 1);
  std::vector<double> values(7 * 5, -1);
  cairn_array array{};
  array.struct_size = sizeof array;
  array.type = CAIRN_TYPE_FLOAT64;
  array.dimensions = 2;
  array.base = values.data();
  array.extent[0] = 7;
  array.extent[1] = 5;
  const int64_t offset[] = {11, 13};
  const int64_t count[] = {7, 5};
  ASSERT_EQ(cairn_checkpoint_read_var(checkpoint, 1, "a", offset, count, &array), 0)
      << cairn_last_error();
  for (int64_t i = 0; i < 7; ++i)
    for (int64_t j = 0; j < 5; ++j)
      EXPECT_EQ(values[static_cast<size_t>(i * 5 + j)], Part::value((11 + i) * 19 + 13 + j, 1));
  const auto visit = [](void* seen, const cairn_checkpoint_variable* variable) {
    EXPECT_EQ(variable->kind, uint32_t{CAIRN_DARRAY});
    EXPECT_EQ(variable->dimensions, 2U);
    EXPECT_EQ(variable->global[0], 23);
    ++*static_cast<int*>(seen);
    return 0;
  };
  int seen = 0;
  EXPECT_EQ(cairn_checkpoint_variables(checkpoint, 1, visit, &seen), 0);
  EXPECT_EQ(seen, 1);
  cairn_checkpoint_finalize(checkpoint);
}

// The larger array repeats the stored one.
TEST_F(DarrayTest, OfALargerArray) {
  write(scalapack({5, 3}, 2, 1, 2), 2);
  with_ranks(4, [&](uint32_t rank) {
    cairn_checkpoint* checkpoint = open(rank, 4);
    Part part(scalapack({13, 8}, 2, 2, 3), rank, 4);
    ASSERT_EQ(part.define(checkpoint), 0) << cairn_last_error();
    EXPECT_EQ(cairn_checkpoint_read(checkpoint, 1, 0, nullptr), -EINVAL);
    ASSERT_EQ(cairn_checkpoint_read(checkpoint, 1, CAIRN_READ_CYCLIC, nullptr), 0)
        << cairn_last_error();
    EXPECT_EQ(part.wrong(1, {5, 3}), 0);
    ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
  });
}

// Halos of blocks are filled from ranks that hold every third row.
TEST_F(DarrayTest, BlocksGetTheirHaloOutOfIt) {
  constexpr int64_t rows = 20;
  with_ranks(3, [&](uint32_t rank) {
    cairn_checkpoint* checkpoint = open(rank, 3, "halo");
    std::vector<double> values;
    for (int64_t row = rank; row < rows; row += 3)
      for (int64_t column = 0; column < Rows::columns; ++column)
        values.push_back(Rows::value(row, column, 1));
    cairn_array array{};
    array.struct_size = sizeof array;
    array.type = CAIRN_TYPE_FLOAT64;
    array.dimensions = 2;
    array.base = values.data();
    array.extent[0] = static_cast<int64_t>(values.size()) / Rows::columns;
    array.extent[1] = Rows::columns;
    cairn_distribution where{};
    where.struct_size = sizeof where;
    where.kind = CAIRN_DARRAY;
    where.global[0] = rows;
    where.global[1] = Rows::columns;
    where.processes[0] = 3;
    where.processes[1] = 1;
    where.distribute[0] = where.distribute[1] = CAIRN_DISTRIBUTE_CYCLIC;
    ASSERT_EQ(cairn_checkpoint_define(checkpoint, "rows", &array, &where, nullptr), 0);
    ASSERT_EQ(cairn_checkpoint_write(checkpoint, 1), 0) << cairn_last_error();
    cairn_checkpoint_finalize(checkpoint);
  });
  with_ranks(4, [&](uint32_t rank) {
    cairn_checkpoint* checkpoint = open(rank, 4, "halo");
    Rows part(rows, rank, 4, 2);
    ASSERT_EQ(part.define(checkpoint), 0) << cairn_last_error();
    ASSERT_EQ(cairn_checkpoint_read(checkpoint, 1, CAIRN_READ_HALO, nullptr), 0)
        << cairn_last_error();
    EXPECT_EQ(part.difference(1, true), "") << "rank " << rank;
    cairn_checkpoint_finalize(checkpoint);
  });
}

TEST_F(DarrayTest, WhatRanksHoldMustBeTheirs) {
  const auto refused = [&](uint32_t ranks, const std::function<Dealing(uint32_t rank)>& dealing,
                           const std::string& text) {
    with_ranks(ranks, [&](uint32_t rank) {
      cairn_checkpoint* checkpoint = open(rank, ranks);
      Part part(dealing(rank), rank, ranks);
      ASSERT_EQ(part.define(checkpoint), 0) << cairn_last_error();
      EXPECT_EQ(cairn_checkpoint_write(checkpoint, 1), -EINVAL);
      EXPECT_NE(std::string(cairn_last_error()).find(text), std::string::npos)
          << cairn_last_error();
      EXPECT_EQ(cairn_checkpoint_restart_test(checkpoint, 1, nullptr), -EINVAL);
      cairn_checkpoint_finalize(checkpoint);
    });
  };
  refused(
      3,
      [](uint32_t) {
        return scalapack({9, 9}, 2, 1, 2);
      },
      "variable 'a': a process grid of 2 x 1 for 3 ranks");
  refused(
      2,
      [](uint32_t rank) {
        return scalapack({9, 9}, 2, 1, rank == 0 ? 2 : 3);
      },
      "variable 'a' is defined differently on ranks 0 and 1: blocks cyclic(2), whole and "
      "cyclic(3), whole");
  refused(
      4,
      [](uint32_t rank) {
        return scalapack({9, 9}, 2, 2, 2, rank == 3 ? 1 : 0);
      },
      "variable 'a' is defined differently on ranks 0 and 3: rank order");
}

TEST_F(DarrayTest, ALocalArrayOfAnotherShapeIsNamedOnAllRanks) {
  with_ranks(4, [&](uint32_t rank) {
    cairn_checkpoint* checkpoint = open(rank, 4);
    std::vector<double> values(100);
    cairn_array array{};
    array.struct_size = sizeof array;
    array.type = CAIRN_TYPE_FLOAT64;
    array.dimensions = 1;
    array.base = values.data();
    array.extent[0] = rank == 2 ? 4 : 3;
    cairn_distribution where{};
    where.struct_size = sizeof where;
    where.kind = CAIRN_DARRAY;
    where.global[0] = 12;
    where.processes[0] = 4;
    where.distribute[0] = CAIRN_DISTRIBUTE_CYCLIC;
    ASSERT_EQ(cairn_checkpoint_define(checkpoint, "a", &array, &where, nullptr), 0);
    EXPECT_EQ(cairn_checkpoint_write(checkpoint, 1), -EINVAL);
    EXPECT_STREQ(cairn_last_error(),
                 "variable 'a': rank 2 has an array of 4 elements; it is dealt 3");
    array.extent[0] = 3;
    ASSERT_EQ(cairn_checkpoint_define(checkpoint, "a", &array, &where, nullptr), 0);
    EXPECT_EQ(cairn_checkpoint_write(checkpoint, 1), 0) << cairn_last_error();
    cairn_checkpoint_finalize(checkpoint);
  });
}

TEST_F(DarrayTest, WhatIsNoDealingIsRefusedWhenItIsDefined) {
  cairn_checkpoint* checkpoint = open(0, 1);
  std::vector<double> values(12);
  cairn_array array{};
  array.struct_size = sizeof array;
  array.type = CAIRN_TYPE_FLOAT64;
  array.dimensions = 1;
  array.base = values.data();
  array.extent[0] = 12;
  cairn_distribution good{};
  good.struct_size = sizeof good;
  good.kind = CAIRN_DARRAY;
  good.global[0] = 12;
  good.processes[0] = 1;
  good.distribute[0] = CAIRN_DISTRIBUTE_CYCLIC;
  const auto refused = [&](const std::function<void(cairn_distribution*)>& change) {
    cairn_distribution bad = good;
    change(&bad);
    return cairn_checkpoint_define(checkpoint, "a", &array, &bad, nullptr) == -EINVAL
               ? cairn_last_error()
               : "";
  };
  EXPECT_STREQ(refused([](auto* bad) { bad->halo_low[0] = 1; }),
               "variable 'a': a block-cyclic array has no halo");
  EXPECT_STREQ(refused([](auto* bad) { bad->offset[0] = 1; }),
               "variable 'a': dimension 0: an offset is for blocks (CAIRN_BLOCK)");
  EXPECT_STREQ(refused([](auto* bad) { bad->processes[0] = 0; }),
               "variable 'a': dimension 0: 0 processes; expected at least 1");
  EXPECT_STRNE(refused([](auto* bad) { bad->distribute[0] = 0; }), "");
  EXPECT_STRNE(refused([](auto* bad) { bad->block[0] = -1; }), "");
  EXPECT_STRNE(refused([](auto* bad) { bad->rank_order = 2; }), "");
  EXPECT_STRNE(refused([](auto* bad) { bad->owner = CAIRN_OWNER_LOWEST_RANK; }), "");
  EXPECT_STRNE(refused([](auto* bad) {
                 bad->distribute[0] = CAIRN_DISTRIBUTE_BLOCK;
                 bad->block[0] = 11;
               }),
               "");
  array.dimensions = 0;
  EXPECT_STRNE(refused([](auto*) {}), "");
  cairn_checkpoint_finalize(checkpoint);
}

// Lists of values for cells that are dealt out, and particles that go where their cells are.
TEST_F(DarrayTest, CellsOfListsAndParticles) {
  constexpr int64_t cells = 23;
  const auto run = [&](uint32_t ranks, int64_t length, bool reads) {
    with_ranks(ranks, [&](uint32_t rank) {
      cairn_checkpoint* checkpoint = open(rank, ranks, "cells");
      std::vector<int32_t> counts;
      std::vector<int64_t> own;
      for (int64_t cell = 0; cell < cells; ++cell)
        if (taker({ranks, cyclic, length}, cells, cell) == rank) own.push_back(cell);
      std::vector<int64_t> lists;
      std::vector<int64_t> keys;
      for (const int64_t cell : own) {
        counts.push_back(reads ? -1 : static_cast<int32_t>(cell % 4));
        for (int64_t i = 0; i < cell % 4; ++i) lists.push_back(cell * 100 + i);
        keys.push_back(cells - 1 - cell);  // of a cell that is elsewhere as a rule
      }
      const std::vector<int64_t> expected = lists;
      if (reads) {
        lists.clear();
        keys.clear();
      }
      cairn_array array{};
      array.struct_size = sizeof array;
      array.type = CAIRN_TYPE_INT32;
      array.dimensions = 1;
      array.base = counts.data();
      array.extent[0] = static_cast<int64_t>(counts.size());
      cairn_distribution where{};
      where.struct_size = sizeof where;
      where.kind = CAIRN_DARRAY;
      where.global[0] = cells;
      where.processes[0] = ranks;
      where.distribute[0] = CAIRN_DISTRIBUTE_CYCLIC;
      where.block[0] = length;
      ASSERT_EQ(cairn_checkpoint_define(checkpoint, "count", &array, &where, nullptr), 0);
      ASSERT_EQ(define_vector(checkpoint, "list", CAIRN_TYPE_INT64, CAIRN_RAGGED, &lists, "count"),
                0);
      ASSERT_EQ(define_vector(checkpoint, "key", CAIRN_TYPE_INT64, CAIRN_PARTICLES, &keys, "count"),
                0);
      if (!reads) {
        ASSERT_EQ(cairn_checkpoint_write(checkpoint, 1), 0) << cairn_last_error();
      } else {
        ASSERT_EQ(cairn_checkpoint_read(checkpoint, 1, 0, nullptr), 0) << cairn_last_error();
        for (size_t i = 0; i < own.size(); ++i) EXPECT_EQ(counts[i], own[i] % 4);
        EXPECT_EQ(lists, expected);
        std::sort(keys.begin(), keys.end());
        EXPECT_EQ(keys, own);
      }
      cairn_checkpoint_finalize(checkpoint);
    });
  };
  run(3, 2, false);
  run(3, 2, true);
  run(2, 3, true);
  run(5, 1, true);
}

}  // namespace
}  // namespace cairn::test
