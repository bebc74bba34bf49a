// Ranks that do not do the same, or of which one fails: all learn which one, and why.
#include "checkpoint/counted_arrays.h"

namespace cairn::test {
namespace {

class DifferingRanks : public testing::Test {
 protected:
  DifferingRanks() : pool_(32ULL << 20) {}

  cairn_checkpoint* open(uint32_t rank, uint32_t ranks) {
    cairn_checkpoint_options options{};
    options.rank = rank;
    options.ranks = ranks;
    return open_set(pool_.get(), "field", options);
  }
  static void expect_text(const std::string& part) {
    EXPECT_NE(std::string(cairn_last_error()).find(part), std::string::npos) << cairn_last_error();
  }

  PoolInMemory pool_;
};

TEST_F(DifferingRanks, WriteOneVersionOrNone) {
  with_ranks(3, [&](uint32_t rank) {
    cairn_checkpoint* checkpoint = open(rank, 3);
    int64_t x = 0;
    ASSERT_EQ(define_scalar(checkpoint, "x", &x), 0);
    EXPECT_EQ(cairn_checkpoint_write(checkpoint, rank == 1 ? 11 : 10), -EINVAL);
    expect_text("this rank writes version 1");
    EXPECT_EQ(cairn_checkpoint_restart_test(checkpoint, CAIRN_CHECKPOINT_LATEST, nullptr), 0);
    EXPECT_EQ(cairn_checkpoint_write(checkpoint, 12), 0) << cairn_last_error();
    EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
  });
}

TEST_F(DifferingRanks, AllLearnWhyOneCannotWrite) {
  with_ranks(3, [&](uint32_t rank) {
    cairn_checkpoint* checkpoint = open(rank, 3);
    CountedArrays state(rank, 3);
    ASSERT_EQ(state.define(checkpoint), 0) << cairn_last_error();
    for (const int64_t version : {1, 2, 3}) {
      state.set(version);
      if (rank == 2) state.masses.pop_back();
      EXPECT_EQ(cairn_checkpoint_write(checkpoint, version), -EINVAL);
      expect_text("version " + std::to_string(version) +
                  ": rank 2: Invalid argument; the versions before it stay: variable 'mass': has ");
    }
    EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
  });
}

TEST_F(DifferingRanks, AllLearnWhyOneCannotRead) {
  with_ranks(3, [&](uint32_t rank) {
    cairn_checkpoint* checkpoint = open(rank, 3);
    std::vector<int32_t> values(7 + rank);
    ASSERT_EQ(define_vector(checkpoint, "own", CAIRN_TYPE_INT32, CAIRN_PER_RANK, &values), 0);
    ASSERT_EQ(cairn_checkpoint_write(checkpoint, 1), 0) << cairn_last_error();
    cairn_array array{};
    array.struct_size = sizeof array;
    array.type = CAIRN_TYPE_INT32;
    array.dimensions = 1;
    array.extent[0] = 7 + (rank == 1 ? 0 : rank);
    array.base = values.data();
    cairn_distribution own{};
    own.struct_size = sizeof own;
    own.kind = CAIRN_PER_RANK;
    ASSERT_EQ(cairn_checkpoint_define(checkpoint, "own", &array, &own, nullptr), 0);
    EXPECT_EQ(cairn_checkpoint_read(checkpoint, 1, 0, nullptr), -EMSGSIZE);
    expect_text("variable 'own': the version has 8 elements for this rank, its array has 7");
    if (rank != 1) expect_text("version 1: rank 1: ");
    EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
  });
}

// A program prints the error of every rank: one of them has the whole text.
TEST_F(DifferingRanks, OneSpeaksOfManyVariables) {
  constexpr int variables = 40;
  with_ranks(3, [&](uint32_t rank) {
    const auto name = [](int i) { return "variable_with_a_long_name_" + std::to_string(i); };
    cairn_checkpoint* checkpoint = open(rank, 3);
    int64_t x = 0;
    for (int i = 0; i < variables; ++i)
      ASSERT_EQ(define_scalar(checkpoint, name(i).c_str(), &x), 0);
    ASSERT_EQ(cairn_checkpoint_write(checkpoint, 1), 0) << cairn_last_error();
    cairn_array array{};
    array.struct_size = sizeof array;
    array.type = CAIRN_TYPE_FLOAT64;
    array.base = &x;
    for (int i = 0; i < variables; ++i)
      ASSERT_EQ(cairn_checkpoint_define(checkpoint, name(i).c_str(), &array, nullptr, nullptr), 0);
    EXPECT_EQ(cairn_checkpoint_read(checkpoint, 1, 0, nullptr), -EINVAL);
    const std::string text = cairn_last_error();
    if (rank == 0) {
      for (int i = 0; i < variables; ++i) expect_text("'" + name(i) + "' is int64, not float64");
    } else {
      EXPECT_LT(text.size(), 400U);
      expect_text("(rank 0 has the whole text)");
    }
    EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
  });
}

// Without a distribution all ranks hold the same.
TEST_F(DifferingRanks, AScalarNeedsNoDistribution) {
  with_ranks(2, [&](uint32_t rank) {
    cairn_checkpoint* checkpoint = open(rank, 2);
    int64_t step = 7 + rank;
    cairn_array scalar{};
    scalar.struct_size = sizeof scalar;
    scalar.type = CAIRN_TYPE_INT64;
    scalar.base = &step;
    ASSERT_EQ(cairn_checkpoint_define(checkpoint, "step", &scalar, nullptr, nullptr), 0);
    ASSERT_EQ(cairn_checkpoint_write(checkpoint, 1), 0) << cairn_last_error();
    ASSERT_EQ(cairn_checkpoint_begin(checkpoint, 2), 0);
    ASSERT_EQ(cairn_checkpoint_write_var(checkpoint, "more", &scalar, nullptr, nullptr), 0);
    ASSERT_EQ(cairn_checkpoint_commit(checkpoint), 0) << cairn_last_error();
    step = 0;
    ASSERT_EQ(cairn_checkpoint_read(checkpoint, 1, 0, nullptr), 0) << cairn_last_error();
    EXPECT_EQ(step, 7) << "rank 0's is kept";
    EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
  });
}

}  // namespace
}  // namespace cairn::test
