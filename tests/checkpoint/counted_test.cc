// Arrays of which each rank has any number of elements: lists of values for the cells of a grid,
// particles with and without cells, bytes of ranks. Other numbers of ranks restart from them.
#include <algorithm>
#include <map>
#include <vector>

#include "checkpoint/ranks.h"

namespace cairn::test {
namespace {

constexpr int64_t rows_of_all = 13;
constexpr int64_t columns_of_all = 5;

// Where a vector of a rank is: made as large as Cairn says before it is filled.
template <typename T>
int get(void* context, int purpose, cairn_array* array) {
  auto& values = *static_cast<std::vector<T>*>(context);
  if (purpose == CAIRN_ARRAY_TO_FILL) values.assign(static_cast<size_t>(array->extent[0]), T{});
  array->base = values.data();
  array->extent[0] = static_cast<int64_t>(values.size());
  return 0;
}

template <typename T>
int define(cairn_checkpoint* checkpoint, const char* name, uint32_t type, uint32_t kind,
           std::vector<T>* values, const char* over = nullptr, const char* key = nullptr) {
  cairn_array array{};
  array.struct_size = sizeof array;
  array.type = type;
  array.element_size = type == CAIRN_TYPE_OPAQUE ? sizeof(T) : 0;
  array.dimensions = 1;
  cairn_distribution distribution{};
  distribution.struct_size = sizeof distribution;
  distribution.kind = kind;
  distribution.over = over;
  distribution.key = key;
  cairn_definition more{};
  more.struct_size = sizeof more;
  more.getter = get<T>;
  more.context = values;
  return cairn_checkpoint_define(checkpoint, name, &array, &distribution, &more);
}

struct State {
  uint32_t rank;
  bool is_fortran;  // in memory rows are the fastest
  int64_t first;
  int64_t count;
  std::vector<int32_t> counts;
  std::vector<double> values;
  std::vector<int64_t> cells;
  std::vector<double> masses;
  std::vector<float> plain;
  std::vector<uint8_t> bytes;

  State(uint32_t its_rank, uint32_t ranks, bool fortran) : rank(its_rank), is_fortran(fortran) {
    first = rows_of_all * its_rank / ranks;
    count = rows_of_all * (its_rank + 1) / ranks - first;
    counts.assign(static_cast<size_t>(count * columns_of_all), -1);
  }
  // Cells of this rank as they lie in its memory.
  template <typename Visit>
  void for_each_cell(Visit visit) {
    for (int64_t i = 0; i < count * columns_of_all; ++i) {
      const int64_t row = first + (is_fortran ? i % count : i / columns_of_all);
      const int64_t column = is_fortran ? i / count : i % columns_of_all;
      visit(static_cast<size_t>(i), row * columns_of_all + column);
    }
  }
  static int32_t count_of(int64_t cell, int64_t version) {
    return static_cast<int32_t>((cell * 7 + version) % 4);
  }
  static double value(int64_t cell, int64_t i, int64_t version) {
    return static_cast<double>(version) * 1e6 + static_cast<double>(cell * 100 + i);
  }
  void set(int64_t version) {
    values.clear();
    cells.clear();
    masses.clear();
    plain.clear();
    for_each_cell([&](size_t i, int64_t cell) {
      counts[i] = count_of(cell, version);
      for (int32_t k = 0; k < counts[i]; ++k) values.push_back(value(cell, k, version));
      // Every third particle has left the rank of its cell.
      for (int32_t k = 0; k <= count_of(cell, version + 1); ++k) {
        const int64_t all = rows_of_all * columns_of_all;
        cells.push_back(k == 2 ? (cell + 31) % all : cell);
        masses.push_back(value(cells.back(), 1000 * cell + k, version));
      }
    });
    for (int i = 0; i < 7 + 5 * static_cast<int>(rank); ++i)
      plain.push_back(static_cast<float>(1000 * rank + static_cast<uint32_t>(i)));
    bytes.assign(3 * size_t{rank} + (version % 2 == 0 ? 40'000 : 1),
                 static_cast<uint8_t>(rank + 1));
  }
  int define_all(cairn_checkpoint* checkpoint) {
    cairn_array array{};
    array.struct_size = sizeof array;
    array.type = CAIRN_TYPE_INT32;
    array.dimensions = 2;
    array.flags = is_fortran ? CAIRN_ARRAY_FORTRAN : 0;
    array.base = counts.data();
    array.extent[0] = count;
    array.extent[1] = columns_of_all;
    cairn_distribution block{};
    block.struct_size = sizeof block;
    block.kind = CAIRN_BLOCK;
    block.global[0] = rows_of_all;
    block.global[1] = columns_of_all;
    block.offset[0] = first;
    int result = cairn_checkpoint_define(checkpoint, "counts", &array, &block, nullptr);
    const auto add = [&](int one) { result = result == 0 ? one : result; };
    add(define(checkpoint, "values", CAIRN_TYPE_FLOAT64, CAIRN_RAGGED, &values, "counts"));
    return result;
  }
  // "" or what of the version is wrong. `all`: what all ranks have of particles.
  std::string difference(int64_t version, uint32_t writers) {
    size_t next = 0;
    std::string wrong;
    for_each_cell([&](size_t i, int64_t cell) {
      if (counts[i] != count_of(cell, version)) wrong = "count of cell " + std::to_string(cell);
      for (int32_t k = 0; k < count_of(cell, version); ++k, ++next)
        if (next >= values.size() || values[next] != value(cell, k, version))
          wrong = "value " + std::to_string(k) + " of cell " + std::to_string(cell);
    });
    if (wrong.empty() && next != values.size()) wrong = "too many values";
    for (const int64_t cell : cells)
      if (cell / columns_of_all < first || cell / columns_of_all >= first + count)
        wrong = "a particle of cell " + std::to_string(cell);
    if (cells.size() != masses.size()) wrong = "masses and cells differ";
    const size_t expected = rank < writers ? 3 * size_t{rank} + (version % 2 == 0 ? 40'000 : 1) : 0;
    if (bytes != std::vector<uint8_t>(expected, static_cast<uint8_t>(rank + 1)))
      wrong = "bytes: " + std::to_string(bytes.size());
    return wrong;
  }
};

int define_particles(cairn_checkpoint* checkpoint, State* state) {
  int result =
      define(checkpoint, "cell", CAIRN_TYPE_INT64, CAIRN_PARTICLES, &state->cells, "counts");
  if (result == 0)
    result = define(checkpoint, "mass", CAIRN_TYPE_FLOAT64, CAIRN_PARTICLES, &state->masses,
                    "counts", "cell");
  if (result == 0)
    result = define(checkpoint, "plain", CAIRN_TYPE_FLOAT32, CAIRN_PARTICLES, &state->plain);
  if (result == 0)
    result = define(checkpoint, "bytes", CAIRN_TYPE_OPAQUE, CAIRN_PER_RANK, &state->bytes);
  return result;
}

class Counted : public testing::Test {
 protected:
  void write(uint32_t ranks, bool is_fortran, const std::vector<int64_t>& versions) {
    with_ranks(ranks, [&](uint32_t rank) {
      cairn_checkpoint_options options{};
      options.rank = rank;
      options.ranks = ranks;
      options.flags = CAIRN_CHECKPOINT_FRESH;
      cairn_checkpoint* checkpoint = open_set(pool_.get(), "counted", options);
      State state(rank, ranks, is_fortran);
      state.define_all(checkpoint);
      ASSERT_EQ(define_particles(checkpoint, &state), 0) << cairn_last_error();
      for (const int64_t version : versions) {
        state.set(version);
        EXPECT_EQ(cairn_checkpoint_write(checkpoint, version), 0) << cairn_last_error();
      }
      EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
    });
  }
  void read(uint32_t writers, uint32_t ranks, bool is_fortran, int64_t version) {
    std::vector<State> states;
    for (uint32_t rank = 0; rank < ranks; ++rank) states.emplace_back(rank, ranks, is_fortran);
    with_ranks(ranks, [&](uint32_t rank) {
      cairn_checkpoint_options options{};
      options.rank = rank;
      options.ranks = ranks;
      cairn_checkpoint* checkpoint = open_set(pool_.get(), "counted", options);
      State& state = states[rank];
      state.define_all(checkpoint);
      ASSERT_EQ(define_particles(checkpoint, &state), 0) << cairn_last_error();
      EXPECT_EQ(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, nullptr), 0)
          << cairn_last_error();
      EXPECT_EQ(state.difference(version, writers), "") << "rank " << rank;
      EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
    });
    // No particle is lost, and none is there twice; those without cells keep their order.
    std::multimap<int64_t, double> found;
    std::multimap<int64_t, double> expected;
    std::vector<float> plain;
    std::vector<float> expected_plain;
    for (const State& state : states) {
      for (size_t i = 0; i < state.cells.size() && i < state.masses.size(); ++i)
        found.emplace(state.cells[i], state.masses[i]);
      plain.insert(plain.end(), state.plain.begin(), state.plain.end());
    }
    for (uint32_t rank = 0; rank < writers; ++rank) {
      State state(rank, writers, true);
      state.set(version);
      for (size_t i = 0; i < state.cells.size(); ++i)
        expected.emplace(state.cells[i], state.masses[i]);
      expected_plain.insert(expected_plain.end(), state.plain.begin(), state.plain.end());
    }
    const auto sorted = [](const std::multimap<int64_t, double>& all) {
      std::vector<std::pair<int64_t, double>> list(all.begin(), all.end());
      std::sort(list.begin(), list.end());
      return list;
    };
    EXPECT_EQ(sorted(found), sorted(expected));
    EXPECT_EQ(plain, expected_plain);
  }
  PoolInMemory pool_{256ULL << 20};
};

TEST_F(Counted, OtherRanksHaveWhatBelongsToTheirCells) {
  for (const uint32_t writers : {3U, 1U, 4U}) {
    for (const bool is_fortran : {false, true}) {
      SCOPED_TRACE(std::to_string(writers) + " writers" + (is_fortran ? ", Fortran" : ""));
      write(writers, is_fortran, {5, 6, 7, 8});
      for (const uint32_t readers : {1U, 2U, 3U, 4U, 6U}) {
        SCOPED_TRACE(std::to_string(readers) + " readers");
        read(writers, readers, !is_fortran, 8);
      }
    }
  }
}

TEST_F(Counted, WhatDoesNotFitIsRefused) {
  cairn_checkpoint* checkpoint = open_set(pool_.get(), "counted");
  State state(0, 1, false);
  std::vector<double> values;
  EXPECT_EQ(define(checkpoint, "v", CAIRN_TYPE_FLOAT64, CAIRN_RAGGED, &values), -EINVAL);
  EXPECT_EQ(define(checkpoint, "v", CAIRN_TYPE_FLOAT64, CAIRN_PARTICLES, &values, "counts"),
            -EINVAL);
  EXPECT_EQ(define(checkpoint, "v", CAIRN_TYPE_FLOAT64, CAIRN_PARTICLES, &values, nullptr, "key"),
            -EINVAL);
  EXPECT_EQ(define(checkpoint, "v", CAIRN_TYPE_FLOAT64, CAIRN_PER_RANK, &values, "counts"),
            -EINVAL);
  EXPECT_EQ(define(checkpoint, "v", CAIRN_TYPE_FLOAT64, 4, &values), -ENOSYS);
  ASSERT_EQ(define(checkpoint, "v", CAIRN_TYPE_FLOAT64, CAIRN_RAGGED, &values, "nothing"), 0);
  EXPECT_EQ(cairn_checkpoint_write(checkpoint, 1), -EINVAL);
  EXPECT_NE(std::string(cairn_last_error()).find("'v': 'nothing'"), std::string::npos)
      << cairn_last_error();
  EXPECT_EQ(cairn_checkpoint_undefine(checkpoint, "v"), 0);
  // Without a getter an array has as many elements as the version, or none is read.
  double three[3] = {1, 2, 3};
  cairn_array array{};
  array.struct_size = sizeof array;
  array.type = CAIRN_TYPE_FLOAT64;
  array.dimensions = 1;
  array.base = three;
  array.extent[0] = 3;
  cairn_distribution own{};
  own.struct_size = sizeof own;
  own.kind = CAIRN_PER_RANK;
  ASSERT_EQ(cairn_checkpoint_define(checkpoint, "own", &array, &own, nullptr), 0);
  ASSERT_EQ(cairn_checkpoint_write(checkpoint, 1), 0) << cairn_last_error();
  three[0] = 0;
  ASSERT_EQ(cairn_checkpoint_read(checkpoint, 1, 0, nullptr), 0) << cairn_last_error();
  EXPECT_EQ(three[0], 1);
  array.extent[0] = 2;
  ASSERT_EQ(cairn_checkpoint_define(checkpoint, "own", &array, &own, nullptr), 0);
  EXPECT_EQ(cairn_checkpoint_read(checkpoint, 1, 0, nullptr), -EMSGSIZE);
  EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
}

// A version whose counts are wrong could not be read.
TEST_F(Counted, CountsThatDoNotSumToTheValuesAreNotWritten) {
  with_ranks(2, [&](uint32_t rank) {
    cairn_checkpoint_options options{};
    options.rank = rank;
    options.ranks = 2;
    cairn_checkpoint* checkpoint = open_set(pool_.get(), "counted", options);
    State state(rank, 2, false);
    ASSERT_EQ(state.define_all(checkpoint), 0) << cairn_last_error();
    ASSERT_EQ(define_particles(checkpoint, &state), 0) << cairn_last_error();
    state.set(1);
    ASSERT_EQ(cairn_checkpoint_write(checkpoint, 1), 0) << cairn_last_error();
    const auto refused = [&](const std::function<void()>& spoil, const std::string& text) {
      state.set(2);
      if (rank == 1) spoil();
      EXPECT_EQ(cairn_checkpoint_write(checkpoint, 2), -EINVAL) << text;
      if (rank == 1) {
        EXPECT_NE(std::string(cairn_last_error()).find(text), std::string::npos)
            << cairn_last_error();
      }
    };
    const std::string of_values = "variable 'values': has ";
    refused([&] { state.values.push_back(1); }, of_values);
    refused([&] { state.values.pop_back(); }, of_values);
    refused([&] { state.values.clear(); }, of_values + "0 values; the counts in 'counts' sum to ");
    refused([&] { ++state.counts.back(); }, of_values);
    // Which sum to what they should if they wrap.
    refused(
        [&] {
          state.counts[0] -= 5;
          state.counts[1] += 5;
        },
        "a count in 'counts' is negative");
    EXPECT_EQ(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, nullptr), 0)
        << cairn_last_error();
    EXPECT_EQ(state.difference(1, 2), "") << "rank " << rank;
    EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
  });
}

// All ranks have the same counts and values; those of rank 0 are stored.
TEST_F(Counted, ReplicatedCountsAreThoseOfRankZero) {
  with_ranks(2, [&](uint32_t rank) {
    cairn_checkpoint_options options{};
    options.rank = rank;
    options.ranks = 2;
    cairn_checkpoint* checkpoint = open_set(pool_.get(), "replicated", options);
    int64_t count = 2;
    std::vector<double> values = {4, 5};
    ASSERT_EQ(define_scalar(checkpoint, "count", &count), 0);
    ASSERT_EQ(define(checkpoint, "values", CAIRN_TYPE_FLOAT64, CAIRN_RAGGED, &values, "count"), 0);
    ASSERT_EQ(cairn_checkpoint_write(checkpoint, 1), 0) << cairn_last_error();
    if (rank == 0) count = 3;
    EXPECT_EQ(cairn_checkpoint_write(checkpoint, 2), -EINVAL);
    ASSERT_EQ(cairn_checkpoint_read(checkpoint, 1, 0, nullptr), 0) << cairn_last_error();
    EXPECT_EQ(values, (std::vector<double>{4, 5}));
    EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
  });
}

TEST_F(Counted, AGridWithoutCellsHasNoParticles) {
  cairn_checkpoint* checkpoint = open_set(pool_.get(), "empty");
  std::vector<int64_t> cells = {0, 7, -1};
  cairn_array array{};
  array.struct_size = sizeof array;
  array.type = CAIRN_TYPE_INT32;
  array.dimensions = 2;
  array.extent[1] = columns_of_all;
  cairn_distribution replicated{};
  replicated.struct_size = sizeof replicated;
  replicated.kind = CAIRN_REPLICATED;
  ASSERT_EQ(cairn_checkpoint_define(checkpoint, "grid", &array, &replicated, nullptr), 0)
      << cairn_last_error();
  ASSERT_EQ(define(checkpoint, "cell", CAIRN_TYPE_INT64, CAIRN_PARTICLES, &cells, "grid"), 0);
  ASSERT_EQ(cairn_checkpoint_write(checkpoint, 1), 0) << cairn_last_error();
  ASSERT_EQ(cairn_checkpoint_read(checkpoint, 1, 0, nullptr), 0) << cairn_last_error();
  EXPECT_TRUE(cells.empty());
  EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
}

}  // namespace
}  // namespace cairn::test
