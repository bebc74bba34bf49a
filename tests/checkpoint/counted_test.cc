// Arrays of which each rank has any number of elements: lists of values for the cells of a grid,
// particles with and without cells, bytes of ranks. Other numbers of ranks restart from them.
#include <algorithm>
#include <map>
#include <vector>

#include "checkpoint/counted_arrays.h"

namespace cairn::test {
namespace {

class CountedVariables : public testing::Test {
 protected:
  void write(uint32_t ranks, bool is_fortran, const std::vector<int64_t>& versions) {
    with_ranks(ranks, [&](uint32_t rank) {
      cairn_checkpoint_options options{};
      options.rank = rank;
      options.ranks = ranks;
      options.flags = CAIRN_CHECKPOINT_FRESH;
      cairn_checkpoint* checkpoint = open_set(pool_.get(), "counted", options);
      CountedArrays state(rank, ranks, is_fortran);
      ASSERT_EQ(state.define(checkpoint), 0) << cairn_last_error();
      for (const int64_t version : versions) {
        state.set(version);
        EXPECT_EQ(cairn_checkpoint_write(checkpoint, version), 0) << cairn_last_error();
      }
      EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
    });
  }
  void read(uint32_t writers, uint32_t ranks, bool is_fortran, int64_t version) {
    std::vector<CountedArrays> states;
    for (uint32_t rank = 0; rank < ranks; ++rank) states.emplace_back(rank, ranks, is_fortran);
    with_ranks(ranks, [&](uint32_t rank) {
      cairn_checkpoint_options options{};
      options.rank = rank;
      options.ranks = ranks;
      cairn_checkpoint* checkpoint = open_set(pool_.get(), "counted", options);
      CountedArrays& state = states[rank];
      ASSERT_EQ(state.define(checkpoint), 0) << cairn_last_error();
      EXPECT_EQ(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, nullptr), 0)
          << cairn_last_error();
      EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
    });
    EXPECT_EQ(difference_of_all(states, version, writers), "");
  }
  PoolInMemory pool_{256ULL << 20};
};

TEST_F(CountedVariables, OtherRanksHaveWhatBelongsToTheirCells) {
  for (const uint32_t writers : {3U, 1U, 4U, 9U}) {
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

TEST_F(CountedVariables, WhatDoesNotFitIsRefused) {
  cairn_checkpoint* checkpoint = open_set(pool_.get(), "counted");
  std::vector<double> values;
  EXPECT_EQ(define_vector(checkpoint, "v", CAIRN_TYPE_FLOAT64, CAIRN_RAGGED, &values), -EINVAL);
  EXPECT_EQ(define_vector(checkpoint, "v", CAIRN_TYPE_FLOAT64, CAIRN_PARTICLES, &values, "counts"),
            -EINVAL);
  EXPECT_EQ(
      define_vector(checkpoint, "v", CAIRN_TYPE_FLOAT64, CAIRN_PARTICLES, &values, nullptr, "key"),
      -EINVAL);
  EXPECT_EQ(define_vector(checkpoint, "v", CAIRN_TYPE_FLOAT64, CAIRN_PER_RANK, &values, "counts"),
            -EINVAL);
  EXPECT_EQ(define_vector(checkpoint, "v", CAIRN_TYPE_FLOAT64, 3, &values), -EINVAL);
  ASSERT_EQ(define_vector(checkpoint, "v", CAIRN_TYPE_FLOAT64, CAIRN_RAGGED, &values, "nothing"),
            0);
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
TEST_F(CountedVariables, CountsThatDoNotSumToTheValuesAreNotWritten) {
  with_ranks(2, [&](uint32_t rank) {
    cairn_checkpoint_options options{};
    options.rank = rank;
    options.ranks = 2;
    cairn_checkpoint* checkpoint = open_set(pool_.get(), "counted", options);
    CountedArrays state(rank, 2, false);
    ASSERT_EQ(state.define(checkpoint), 0) << cairn_last_error();
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
TEST_F(CountedVariables, ReplicatedCountsAreThoseOfRankZero) {
  with_ranks(2, [&](uint32_t rank) {
    cairn_checkpoint_options options{};
    options.rank = rank;
    options.ranks = 2;
    cairn_checkpoint* checkpoint = open_set(pool_.get(), "replicated", options);
    int64_t count = 2;
    std::vector<double> values = {4, 5};
    ASSERT_EQ(define_scalar(checkpoint, "count", &count), 0);
    ASSERT_EQ(
        define_vector(checkpoint, "values", CAIRN_TYPE_FLOAT64, CAIRN_RAGGED, &values, "count"), 0);
    ASSERT_EQ(cairn_checkpoint_write(checkpoint, 1), 0) << cairn_last_error();
    if (rank == 0) count = 3;
    EXPECT_EQ(cairn_checkpoint_write(checkpoint, 2), -EINVAL);
    ASSERT_EQ(cairn_checkpoint_read(checkpoint, 1, 0, nullptr), 0) << cairn_last_error();
    EXPECT_EQ(values, (std::vector<double>{4, 5}));
    EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
  });
}

TEST_F(CountedVariables, AGridWithoutCellsHasNoParticles) {
  cairn_checkpoint* checkpoint = open_set(pool_.get(), "empty");
  std::vector<int64_t> cells = {0, 7, -1};
  cairn_array array{};
  array.struct_size = sizeof array;
  array.type = CAIRN_TYPE_INT32;
  array.dimensions = 2;
  array.extent[1] = CountedArrays::columns;
  cairn_distribution replicated{};
  replicated.struct_size = sizeof replicated;
  replicated.kind = CAIRN_REPLICATED;
  ASSERT_EQ(cairn_checkpoint_define(checkpoint, "grid", &array, &replicated, nullptr), 0)
      << cairn_last_error();
  ASSERT_EQ(define_vector(checkpoint, "cell", CAIRN_TYPE_INT64, CAIRN_PARTICLES, &cells, "grid"),
            0);
  EXPECT_EQ(cairn_checkpoint_write(checkpoint, 1), -EINVAL);
  EXPECT_NE(std::string(cairn_last_error()).find("has the key 0; 'grid' has 0 cells"),
            std::string::npos)
      << cairn_last_error();
  cells.clear();
  ASSERT_EQ(cairn_checkpoint_write(checkpoint, 1), 0) << cairn_last_error();
  cells = {5};
  ASSERT_EQ(cairn_checkpoint_read(checkpoint, 1, 0, nullptr), 0) << cairn_last_error();
  EXPECT_TRUE(cells.empty());
  EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
}

// An array of one dimension that has these elements.
template <typename T>
cairn_array line_of(uint32_t type, std::vector<T>* values) {
  cairn_array array{};
  array.struct_size = sizeof array;
  array.type = type;
  array.element_size = type == CAIRN_TYPE_OPAQUE ? sizeof(T) : 0;
  array.dimensions = 1;
  array.extent[0] = static_cast<int64_t>(values->size());
  array.base = values->data();
  return array;
}

// Elements [first, first + count) of a variable, as a tool reads them.
template <typename T>
std::vector<T> elements_of(cairn_checkpoint* checkpoint, const char* name, uint32_t type,
                           int64_t first, int64_t count) {
  std::vector<T> values(static_cast<size_t>(count));
  const cairn_array array = line_of(type, &values);
  EXPECT_EQ(cairn_checkpoint_read_var(checkpoint, 8, name, &first, &count, &array), 0)
      << name << ": " << cairn_last_error();
  return values;
}

// All of it, and pieces of it.
template <typename T>
void expect_line(cairn_checkpoint* checkpoint, const char* name, uint32_t type,
                 const std::vector<T>& expected) {
  const auto size = static_cast<int64_t>(expected.size());
  EXPECT_EQ(elements_of<T>(checkpoint, name, type, 0, size), expected) << name;
  for (const int64_t step : {1, 7, 50}) {
    std::vector<T> found;
    for (int64_t at = 0; at < size; at += step) {
      const auto piece = elements_of<T>(checkpoint, name, type, at, std::min(step, size - at));
      found.insert(found.end(), piece.begin(), piece.end());
    }
    EXPECT_EQ(found, expected) << name << " by " << step;
  }
}

TEST_F(CountedVariables, AToolReadsThemAsArraysOfOneDimension) {
  for (const bool is_fortran : {false, true}) {
    constexpr uint32_t writers = 3;
    write(writers, is_fortran, {7, 8});
    std::vector<double> values;
    for (int64_t cell = 0; cell < CountedArrays::rows * CountedArrays::columns; ++cell)
      for (int32_t k = 0; k < CountedArrays::count_of(cell, 8); ++k)
        values.push_back(CountedArrays::value(cell, k, 8));
    CountedArrays all(0, 1);
    std::vector<uint64_t> plain_counts;
    for (uint32_t rank = 0; rank < writers; ++rank) {
      CountedArrays one(rank, writers, is_fortran);
      one.set(8);
      all.cells.insert(all.cells.end(), one.cells.begin(), one.cells.end());
      all.masses.insert(all.masses.end(), one.masses.begin(), one.masses.end());
      all.plain.insert(all.plain.end(), one.plain.begin(), one.plain.end());
      all.bytes.insert(all.bytes.end(), one.bytes.begin(), one.bytes.end());
      plain_counts.push_back(one.plain.size());
    }
    for (const uint32_t flags : {CAIRN_CHECKPOINT_LOOK, 0U}) {
      cairn_checkpoint_options options{};
      options.flags = flags;
      cairn_checkpoint* checkpoint = open_set(pool_.get(), "counted", options);
      expect_line(checkpoint, "values", CAIRN_TYPE_FLOAT64, values);
      expect_line(checkpoint, "cell", CAIRN_TYPE_INT64, all.cells);
      expect_line(checkpoint, "mass", CAIRN_TYPE_FLOAT64, all.masses);
      expect_line(checkpoint, "plain", CAIRN_TYPE_FLOAT32, all.plain);
      EXPECT_EQ(elements_of<uint8_t>(checkpoint, "bytes", CAIRN_TYPE_OPAQUE, 0,
                                     static_cast<int64_t>(all.bytes.size())),
                all.bytes);
      std::vector<uint64_t> counts(writers);
      EXPECT_EQ(cairn_checkpoint_counts(checkpoint, 8, "plain", counts.data(), writers), 0)
          << cairn_last_error();
      EXPECT_EQ(counts, plain_counts);
      EXPECT_EQ(cairn_checkpoint_counts(checkpoint, 8, "plain", counts.data(), 2), -EMSGSIZE);
      EXPECT_EQ(cairn_checkpoint_counts(checkpoint, 8, "counts", counts.data(), 3), -EINVAL);
      EXPECT_EQ(cairn_checkpoint_counts(checkpoint, 8, "nothing", counts.data(), 3), -ENOENT);
      const int64_t first = 1;
      const auto count = static_cast<int64_t>(values.size());
      cairn_array array{};
      array.struct_size = sizeof array;
      array.type = CAIRN_TYPE_FLOAT64;
      array.dimensions = 1;
      array.extent[0] = count;
      array.base = values.data();
      EXPECT_EQ(cairn_checkpoint_read_var(checkpoint, 8, "values", &first, &count, &array),
                -EINVAL);
      const auto see = [](void* context, const cairn_checkpoint_variable* one) {
        auto& found = *static_cast<std::map<std::string, std::string>*>(context);
        found[one->name] = std::string(one->over == nullptr ? "-" : one->over) + " " +
                           (one->key == nullptr ? "-" : one->key);
        if (one->dimensions == 1) found[one->name] += " " + std::to_string(one->global[0]);
        return 0;
      };
      std::map<std::string, std::string> found;
      EXPECT_EQ(cairn_checkpoint_variables(checkpoint, 8, see, &found), 0) << cairn_last_error();
      const auto with = [](const char* text, size_t elements) {
        return std::string(text) + " " + std::to_string(elements);
      };
      EXPECT_EQ(found, (std::map<std::string, std::string>{
                           {"bytes", with("- -", all.bytes.size())},
                           {"cell", with("counts -", all.cells.size())},
                           {"counts", "- -"},
                           {"mass", with("counts cell", all.masses.size())},
                           {"plain", with("- -", all.plain.size())},
                           {"values", with("counts -", values.size())}}));
      EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
    }
  }
}

// What a program reads that puts parts of several hosts together; here the only host has all.
TEST_F(CountedVariables, AToolReadsWhatEachRankAndSomeCellsHave) {
  constexpr uint32_t writers = 3;
  write(writers, true, {8});
  cairn_checkpoint_options options{};
  options.flags = CAIRN_CHECKPOINT_LOOK;
  cairn_checkpoint* checkpoint = open_set(pool_.get(), "counted", options);
  using Pieces = std::vector<cairn_checkpoint_piece>;
  const auto note = [](void* context, const cairn_checkpoint_piece* piece) {
    static_cast<Pieces*>(context)->push_back(*piece);
    return 0;
  };
  const auto see_part = [](void*, const cairn_checkpoint_part* part) {
    return part->part == 0 && part->presence == CAIRN_PART_OWN && part->ranks == writers ? 42 : 1;
  };
  EXPECT_EQ(cairn_checkpoint_parts(checkpoint, 8, see_part, nullptr), 42) << cairn_last_error();
  EXPECT_EQ(cairn_checkpoint_parts(checkpoint, 9, see_part, nullptr), -ENOENT);
  Pieces pieces;
  ASSERT_EQ(cairn_checkpoint_pieces(checkpoint, 8, "counts", 0, note, &pieces), 0)
      << cairn_last_error();
  ASSERT_EQ(pieces.size(), 1U);  // the blocks of all ranks, joined
  EXPECT_EQ(pieces[0].count[0], CountedArrays::rows);
  EXPECT_EQ(pieces[0].count[1], CountedArrays::columns);
  EXPECT_EQ(cairn_checkpoint_pieces(checkpoint, 8, "counts", 1, note, &pieces), -EINVAL);
  EXPECT_EQ(cairn_checkpoint_pieces(checkpoint, 8, "nothing", 0, note, &pieces), -ENOENT);
  pieces.clear();
  ASSERT_EQ(cairn_checkpoint_pieces(checkpoint, 8, "plain", 0, note, &pieces), 0)
      << cairn_last_error();
  ASSERT_EQ(pieces.size(), size_t{writers});
  for (uint32_t rank = 0; rank < writers; ++rank) {
    CountedArrays one(rank, writers, true);
    one.set(8);
    EXPECT_EQ(pieces[rank].rank, rank);
    ASSERT_EQ(pieces[rank].count[0], static_cast<int64_t>(one.plain.size()));
    std::vector<float> found(one.plain.size() - 2);
    cairn_array array = line_of(CAIRN_TYPE_FLOAT32, &found);
    ASSERT_EQ(cairn_checkpoint_read_rank(checkpoint, 8, "plain", rank, 2, &array), 0)
        << cairn_last_error();
    EXPECT_EQ(found, std::vector<float>(one.plain.begin() + 2, one.plain.end()));
    EXPECT_EQ(cairn_checkpoint_read_rank(checkpoint, 8, "plain", rank, 3, &array), -EINVAL);
  }
  // Cells of all three ranks.
  const int64_t offset[] = {2, 1};
  const int64_t count[] = {9, 3};
  std::vector<double> expected;
  for (int64_t i = 2; i < 11; ++i)
    for (int64_t cell = i * CountedArrays::columns + 1; cell < i * CountedArrays::columns + 4;
         ++cell)
      for (int32_t k = 0; k < CountedArrays::count_of(cell, 8); ++k)
        expected.push_back(CountedArrays::value(cell, k, 8));
  for (const size_t first : {size_t{0}, size_t{5}}) {
    std::vector<double> found(expected.size() - first);
    cairn_array array = line_of(CAIRN_TYPE_FLOAT64, &found);
    const auto from = static_cast<int64_t>(first);
    ASSERT_EQ(cairn_checkpoint_read_lists(checkpoint, 8, "values", offset, count, from, &array), 0)
        << cairn_last_error();
    EXPECT_EQ(found, std::vector<double>(expected.begin() + from, expected.end()));
    EXPECT_EQ(cairn_checkpoint_read_lists(checkpoint, 8, "values", offset, count, from + 1, &array),
              -EINVAL);
    EXPECT_EQ(cairn_checkpoint_read_lists(checkpoint, 8, "plain", offset, count, 0, &array),
              -EINVAL);
  }
  EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
  // A run has no such calls.
  checkpoint = open_set(pool_.get(), "counted");
  EXPECT_EQ(cairn_checkpoint_parts(checkpoint, 8, see_part, nullptr), -EINVAL);
  EXPECT_EQ(cairn_checkpoint_pieces(checkpoint, 8, "plain", 0, note, &pieces), -EINVAL);
  EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
}

// A tool looks at a million cells at a time.
TEST_F(CountedVariables, MoreCellsThanOneLook) {
  constexpr int64_t extent[] = {3, 2, 500, 700};
  constexpr size_t cells = 3 * 2 * 500 * 700;
  std::vector<int8_t> counts(cells);
  std::vector<int32_t> values;
  for (size_t cell = 0; cell < cells; ++cell) {
    counts[cell] = cell % 97 == 0 ? 2 : 0;
    for (int8_t k = 0; k < counts[cell]; ++k) values.push_back(static_cast<int32_t>(2 * cell) + k);
  }
  cairn_checkpoint* checkpoint = open_set(pool_.get(), "counted");
  cairn_array array{};
  array.struct_size = sizeof array;
  array.type = CAIRN_TYPE_INT8;
  array.dimensions = 4;
  array.base = counts.data();
  cairn_distribution block{};
  block.struct_size = sizeof block;
  block.kind = CAIRN_BLOCK;
  for (int k = 0; k < 4; ++k) array.extent[k] = block.global[k] = extent[k];
  ASSERT_EQ(cairn_checkpoint_define(checkpoint, "grid", &array, &block, nullptr), 0);
  ASSERT_EQ(define_vector(checkpoint, "values", CAIRN_TYPE_INT32, CAIRN_RAGGED, &values, "grid"),
            0);
  ASSERT_EQ(cairn_checkpoint_write(checkpoint, 8), 0) << cairn_last_error();
  EXPECT_EQ(elements_of<int32_t>(checkpoint, "values", CAIRN_TYPE_INT32, 0,
                                 static_cast<int64_t>(values.size())),
            values);
  EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
}

TEST_F(CountedVariables, ParticlesThatDoNotFitTheirKeysAreNotWritten) {
  CountedArrays state(0, 1);
  cairn_checkpoint* checkpoint = open_set(pool_.get(), "counted");
  ASSERT_EQ(state.define(checkpoint), 0) << cairn_last_error();
  for (const bool more : {false, true}) {
    state.set(1);
    more ? state.masses.push_back(1) : state.masses.pop_back();
    EXPECT_EQ(cairn_checkpoint_write(checkpoint, 1), -EINVAL);
    EXPECT_NE(std::string(cairn_last_error()).find("variable 'mass': has "), std::string::npos)
        << cairn_last_error();
  }
  state.set(1);
  EXPECT_EQ(cairn_checkpoint_write(checkpoint, 1), 0) << cairn_last_error();
  EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
}

// No rank would get a particle whose cell does not exist.
TEST_F(CountedVariables, ParticlesWithoutACellAreNotWritten) {
  with_ranks(2, [&](uint32_t rank) {
    cairn_checkpoint_options options{};
    options.rank = rank;
    options.ranks = 2;
    cairn_checkpoint* checkpoint = open_set(pool_.get(), "counted", options);
    CountedArrays state(rank, 2);
    ASSERT_EQ(state.define(checkpoint), 0) << cairn_last_error();
    for (const int64_t key : {int64_t{-1}, CountedArrays::rows * CountedArrays::columns}) {
      state.set(1);
      if (rank == 1) state.cells[3] = key;
      EXPECT_EQ(cairn_checkpoint_write(checkpoint, 1), -EINVAL);
      if (rank == 1) {
        EXPECT_NE(std::string(cairn_last_error())
                      .find("rank 1: Invalid argument; the versions before it stay: variable "
                            "'cell': particle 3 of this rank has the key " +
                            std::to_string(key) + "; 'counts' has 65 cells, from 0 on"),
                  std::string::npos)
            << cairn_last_error();
      }
    }
    state.set(1);
    EXPECT_EQ(cairn_checkpoint_write(checkpoint, 1), 0) << cairn_last_error();
    EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
  });
}

// The values of a rank whose cells lie in another order would come back as those of other cells.
TEST_F(CountedVariables, RanksHaveTheirCellsInTheSameOrder) {
  with_ranks(2, [&](uint32_t rank) {
    cairn_checkpoint_options options{};
    options.rank = rank;
    options.ranks = 2;
    cairn_checkpoint* checkpoint = open_set(pool_.get(), "counted", options);
    CountedArrays state(rank, 2, rank == 1);
    ASSERT_EQ(state.define(checkpoint), 0) << cairn_last_error();
    state.set(1);
    EXPECT_EQ(cairn_checkpoint_write(checkpoint, 1), -EINVAL);
    if (rank == 1) {
      EXPECT_NE(std::string(cairn_last_error()).find("in another order in memory"),
                std::string::npos)
          << cairn_last_error();
    }
    EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
  });
}

}  // namespace
}  // namespace cairn::test
