// Versions of one process and of several ranks: written, kept, read again on other numbers of
// ranks.
#include <algorithm>
#include <atomic>

#include "checkpoint/ranks.h"

namespace cairn::test {
namespace {

class Versions : public testing::Test {
 protected:
  Versions() : pool_(64ULL << 20) {}
  cairn_pool* pool() { return pool_.get(); }

  // Writes these versions on so many ranks.
  void write(uint32_t ranks, const std::vector<int64_t>& versions, uint32_t keep = 0) {
    with_ranks(ranks, [&](uint32_t rank) {
      cairn_checkpoint_options options{};
      options.rank = rank;
      options.ranks = ranks;
      options.keep = keep;
      cairn_checkpoint* checkpoint = open_set(pool(), "field", options);
      ASSERT_NE(checkpoint, nullptr);
      Rows rows(rows_, rank, ranks, 2);
      int64_t step = 0;
      ASSERT_EQ(rows.define(checkpoint), 0) << cairn_last_error();
      ASSERT_EQ(define_scalar(checkpoint, "step", &step), 0) << cairn_last_error();
      if (cairn_checkpoint_restart_test(checkpoint, CAIRN_CHECKPOINT_LATEST, nullptr) == 1) {
        ASSERT_EQ(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, nullptr), 0)
            << cairn_last_error();
      }
      for (const int64_t version : versions) {
        rows.set(version);
        step = version;
        ASSERT_EQ(cairn_checkpoint_write(checkpoint, version), 0) << cairn_last_error();
      }
      ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
    });
  }
  // Reads the newest on so many ranks, and looks at each byte.
  void expect(uint32_t ranks, int64_t version) {
    with_ranks(ranks, [&](uint32_t rank) {
      cairn_checkpoint_options options{};
      options.rank = rank;
      options.ranks = ranks;
      cairn_checkpoint* checkpoint = open_set(pool(), "field", options);
      ASSERT_NE(checkpoint, nullptr);
      Rows rows(rows_, rank, ranks, 3);
      int64_t step = 0;
      ASSERT_EQ(rows.define(checkpoint), 0);
      ASSERT_EQ(define_scalar(checkpoint, "step", &step), 0);
      auto info = empty_info();
      ASSERT_EQ(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, CAIRN_READ_HALO, &info),
                0)
          << cairn_last_error();
      EXPECT_EQ(info.number, version);
      EXPECT_EQ(info.skipped, 0U) << info.why;
      EXPECT_EQ(step, version);
      EXPECT_EQ(rows.difference(version, true), "") << "rank " << rank << " of " << ranks;
      EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
    });
  }
  std::vector<int64_t> list() {
    cairn_checkpoint* checkpoint = open_set(pool(), "field");
    std::vector<int64_t> numbers;
    cairn_checkpoint_list(
        checkpoint,
        [](void* context, const cairn_checkpoint_info* info) {
          static_cast<std::vector<int64_t>*>(context)->push_back(info->number);
          return 0;
        },
        &numbers);
    cairn_checkpoint_finalize(checkpoint);
    return numbers;
  }

  PoolInMemory pool_;
  int64_t rows_ = 101;
};

TEST_F(Versions, OneProcessReadsWhatItWrote) {
  write(1, {10, 20, 30, 40});
  EXPECT_EQ(list(), (std::vector<int64_t>{40, 30}));
  expect(1, 40);
}

TEST_F(Versions, AnyNumberOfRanksReadsWhatAnyOtherWrote) {
  int64_t version = 0;
  for (const uint32_t writers : {4U, 1U, 3U, 6U}) {
    write(writers, {++version, ++version, ++version});
    for (const uint32_t readers : {1U, 3U, 4U, 6U}) expect(readers, version);
  }
  EXPECT_EQ(list(), (std::vector<int64_t>{12, 11}));
}

TEST_F(Versions, MoreRanksThanRows) {
  rows_ = 3;
  write(5, {1});
  expect(2, 1);
  expect(7, 1);
}

TEST_F(Versions, LargeArraysSpanManyBlocks) {
  rows_ = 20'000;  // 6 MB
  write(3, {1, 2});
  expect(1, 2);
  expect(4, 2);
}

TEST_F(Versions, KeepOneUsesTwoSlots) {
  write(2, {1, 2, 3, 4, 5}, 1);
  EXPECT_EQ(list(), (std::vector<int64_t>{5}));
  expect(3, 5);
}

TEST_F(Versions, WithoutAWordOldVersionsAreNotDropped) {
  write(1, {1, 2});
  cairn_checkpoint* checkpoint = open_set(pool(), "field");
  Rows rows(rows_, 0, 1);
  ASSERT_EQ(rows.define(checkpoint), 0);
  EXPECT_EQ(cairn_checkpoint_write(checkpoint, 3), -EEXIST) << cairn_last_error();
  cairn_checkpoint_finalize(checkpoint);
  cairn_checkpoint_options options{};
  options.flags = CAIRN_CHECKPOINT_FRESH;
  checkpoint = open_set(pool(), "field", options);
  ASSERT_EQ(rows.define(checkpoint), 0);
  EXPECT_EQ(cairn_checkpoint_write(checkpoint, 3), 0) << cairn_last_error();
  EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
  EXPECT_EQ(list(), (std::vector<int64_t>{3}));
}

TEST_F(Versions, AnOlderVersionCanBeContinued) {
  write(1, {1, 2, 3});
  cairn_checkpoint* checkpoint = open_set(pool(), "field");
  Rows rows(rows_, 0, 1);
  ASSERT_EQ(rows.define(checkpoint), 0);
  ASSERT_EQ(cairn_checkpoint_read(checkpoint, 2, 0, nullptr), 0) << cairn_last_error();
  EXPECT_EQ(rows.difference(2), "");
  EXPECT_EQ(cairn_checkpoint_read(checkpoint, 1, 0, nullptr), -ENOENT) << "not kept";
  rows.set(4);
  ASSERT_EQ(cairn_checkpoint_write(checkpoint, 4), 0) << cairn_last_error();
  EXPECT_EQ(cairn_checkpoint_restart_test(checkpoint, 3, nullptr), 0) << "abandoned";
  ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
  EXPECT_EQ(list(), (std::vector<int64_t>{4, 2}));
}

TEST_F(Versions, ARunDropsWhatNoRestartNeeds) {
  constexpr uint32_t ranks = 3;
  with_ranks(ranks, [&](uint32_t rank) {
    cairn_checkpoint_options options{};
    options.rank = rank;
    options.ranks = ranks;
    options.keep = 9;
    cairn_checkpoint* checkpoint = open_set(pool(), "field", options);
    Rows rows(rows_, rank, ranks);
    ASSERT_EQ(rows.define(checkpoint), 0);
    const auto write_one = [&](int64_t version) {
      rows.set(version);
      ASSERT_EQ(cairn_checkpoint_write(checkpoint, version), 0) << cairn_last_error();
    };
    for (const int64_t version : {1, 2, 3, 4}) write_one(version);
    EXPECT_EQ(cairn_checkpoint_drop(checkpoint, 2, 0), 0) << cairn_last_error();
    EXPECT_EQ(cairn_checkpoint_drop(checkpoint, 2, 0), -ENOENT);
    EXPECT_EQ(cairn_checkpoint_read(checkpoint, 2, 0, nullptr), -ENOENT);
    EXPECT_EQ(cairn_checkpoint_drop(checkpoint, 4, 0), -EPERM) << "the newest";
    EXPECT_EQ(cairn_checkpoint_drop(checkpoint, CAIRN_CHECKPOINT_LATEST, 0), -EPERM);
    EXPECT_EQ(cairn_checkpoint_drop(checkpoint, 0, CAIRN_DROP_SET), -EINVAL);
    // None is dropped unless all ranks name it.
    EXPECT_EQ(cairn_checkpoint_drop(checkpoint, rank == 1 ? 1 : 3, 0), -EINVAL);
    EXPECT_EQ(cairn_checkpoint_drop(checkpoint, rank == 1 ? 7 : 3, 0),
              rank == 1 ? -ENOENT : -EINVAL);
    // What was read is what the next version goes on from.
    ASSERT_EQ(cairn_checkpoint_read(checkpoint, 3, 0, nullptr), 0) << cairn_last_error();
    EXPECT_EQ(cairn_checkpoint_drop(checkpoint, 3, 0), -EPERM);
    EXPECT_EQ(cairn_checkpoint_drop(checkpoint, 4, 0), -EPERM);
    EXPECT_EQ(cairn_checkpoint_drop(checkpoint, 1, 0), 0) << cairn_last_error();
    write_one(5);
    EXPECT_EQ(cairn_checkpoint_drop(checkpoint, 3, 0), 0) << cairn_last_error();
    EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
    // A run that has read nothing does not know whether another one is whole.
    checkpoint = open_set(pool(), "field", options);
    ASSERT_EQ(rows.define(checkpoint), 0);
    EXPECT_EQ(cairn_checkpoint_drop(checkpoint, 5, 0), -EEXIST);
    EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
  });
  EXPECT_EQ(list(), (std::vector<int64_t>{5}));
}

TEST_F(Versions, ABoxIsReadByItself) {
  write(4, {1});
  cairn_checkpoint* checkpoint = open_set(pool(), "field");
  double values[5][7];
  cairn_array array{};
  array.struct_size = sizeof array;
  array.type = CAIRN_TYPE_FLOAT64;
  array.dimensions = 2;
  array.base = values;
  array.extent[0] = 5;
  array.extent[1] = 7;
  const int64_t offset[] = {23, 11};
  const int64_t count[] = {5, 7};
  ASSERT_EQ(cairn_checkpoint_read_var(checkpoint, 1, "rows", offset, count, &array), 0)
      << cairn_last_error();
  for (int64_t r = 0; r < 5; ++r)
    for (int64_t c = 0; c < 7; ++c) EXPECT_EQ(values[r][c], Rows::value(23 + r, 11 + c, 1));
  EXPECT_EQ(cairn_checkpoint_read_var(checkpoint, 1, "none", offset, count, &array), -ENOENT);
  const int64_t outside[] = {99, 11};
  EXPECT_EQ(cairn_checkpoint_read_var(checkpoint, 1, "rows", outside, count, &array), -EINVAL);
  EXPECT_EQ(cairn_checkpoint_read_var(checkpoint, 1, "rows", nullptr, nullptr, &array), -EINVAL);
  EXPECT_EQ(cairn_checkpoint_read_var(checkpoint, 2, "rows", offset, count, &array), -ENOENT);
  cairn_checkpoint_finalize(checkpoint);
}

TEST_F(Versions, IwriteDoesNotWait) {
  constexpr uint32_t ranks = 2;
  std::atomic<bool> first_is_back{false};
  with_ranks(ranks, [&](uint32_t rank) {
    cairn_checkpoint_options options{};
    options.rank = rank;
    options.ranks = ranks;
    cairn_checkpoint* checkpoint = open_set(pool(), "field", options);
    Rows rows(rows_, rank, ranks);
    ASSERT_EQ(rows.define(checkpoint), 0);
    rows.set(1);
    ASSERT_EQ(cairn_checkpoint_write(checkpoint, 1), 0) << cairn_last_error();
    rows.set(2);
    if (rank == 1)
      while (!first_is_back) std::this_thread::yield();
    cairn_checkpoint_handle handle = 0;
    ASSERT_EQ(cairn_checkpoint_iwrite(checkpoint, 2, &handle), 0) << cairn_last_error();
    if (rank == 0) {
      EXPECT_EQ(cairn_checkpoint_test(checkpoint, handle, CAIRN_LEVEL_STAGED, nullptr), 1);
      EXPECT_EQ(cairn_checkpoint_test(checkpoint, handle, CAIRN_LEVEL_LOCAL, nullptr), 0);
      EXPECT_EQ(cairn_checkpoint_wait(checkpoint, handle, CAIRN_LEVEL_LOCAL, 20), -ETIMEDOUT);
    }
    rows.set(99);
    first_is_back = true;
    EXPECT_EQ(cairn_checkpoint_wait(checkpoint, handle, CAIRN_LEVEL_LOCAL, 0), 0);
    cairn_checkpoint_progress progress{};
    progress.struct_size = sizeof progress;
    EXPECT_EQ(cairn_checkpoint_test(checkpoint, handle, CAIRN_LEVEL_LOCAL, &progress), 1);
    EXPECT_EQ(progress.level, static_cast<uint32_t>(CAIRN_LEVEL_LOCAL));
    EXPECT_GT(progress.level_ns[CAIRN_LEVEL_LOCAL], 0U);
    EXPECT_EQ(cairn_checkpoint_test(checkpoint, handle + 1, CAIRN_LEVEL_LOCAL, nullptr), -ENOENT);
    EXPECT_EQ(cairn_checkpoint_test(checkpoint, handle, 5, nullptr), -EOPNOTSUPP);
    EXPECT_EQ(cairn_checkpoint_test(checkpoint, handle, CAIRN_LEVEL_PARTNER, nullptr), -EINVAL);
    EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
  });
  with_ranks(1, [&](uint32_t) {
    cairn_checkpoint* checkpoint = open_set(pool(), "field");
    Rows rows(rows_, 0, 1);
    ASSERT_EQ(rows.define(checkpoint), 0);
    ASSERT_EQ(cairn_checkpoint_read(checkpoint, 2, 0, nullptr), 0) << cairn_last_error();
    EXPECT_EQ(rows.difference(2), "");
    cairn_checkpoint_finalize(checkpoint);
  });
}

TEST_F(Versions, TwoRunsDoNotShareASet) {
  cairn_checkpoint* first = open_set(pool(), "field");
  cairn_checkpoint* other = open_set(pool(), "other");
  cairn_checkpoint_options options{};
  options.struct_size = sizeof options;
  options.pool = pool();
  cairn_checkpoint* second = nullptr;
  EXPECT_EQ(cairn_checkpoint_init("field", CAIRN_NO_COMMUNICATOR, &options, &second), -EBUSY);
  EXPECT_NE(std::string(cairn_last_error()).find(std::to_string(getpid())), std::string::npos)
      << cairn_last_error();
  cairn_checkpoint_finalize(first);
  cairn_checkpoint_finalize(open_set(pool(), "field"));
  cairn_checkpoint_finalize(other);
}

TEST_F(Versions, RunsOfOneJobFollowEachOther) {
  with_ranks(3, [&](uint32_t rank) {
    for (int64_t run = 1; run <= 30; ++run) {
      cairn_checkpoint_options options{};
      options.rank = rank;
      options.ranks = 3;
      cairn_checkpoint* checkpoint = open_set(pool(), "field", options);
      ASSERT_NE(checkpoint, nullptr);
      Rows rows(rows_, rank, 3);
      ASSERT_EQ(rows.define(checkpoint), 0);
      const int found = cairn_checkpoint_read(checkpoint, run - 1, 0, nullptr);
      ASSERT_EQ(found, run == 1 ? -ENOENT : 0) << cairn_last_error();
      rows.set(run);
      ASSERT_EQ(cairn_checkpoint_write(checkpoint, run), 0) << cairn_last_error();
      ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
    }
  });
}

TEST_F(Versions, ARankThatDoesNotComeIsNamed) {
  cairn_checkpoint_options options{};
  options.struct_size = sizeof options;
  options.pool = pool();
  options.rank = 1;
  options.ranks = 3;
  options.job = "test";
  options.timeout_ms = 50;
  cairn_checkpoint* checkpoint = nullptr;
  EXPECT_EQ(cairn_checkpoint_init("field", CAIRN_NO_COMMUNICATOR, &options, &checkpoint),
            -ETIMEDOUT);
  EXPECT_STREQ(cairn_last_error(), "checkpoint field: 2 of 3 ranks are not there: 0, 2");
  cairn_checkpoint_finalize(open_set(pool(), "field"));
}

TEST_F(Versions, ARankThatLeavesAbortsTheVersion) {
  with_ranks(2, [&](uint32_t rank) {
    cairn_checkpoint_options options{};
    options.rank = rank;
    options.ranks = 2;
    cairn_checkpoint* checkpoint = open_set(pool(), "field", options);
    Rows rows(rows_, rank, 2);
    ASSERT_EQ(rows.define(checkpoint), 0);
    rows.set(1);
    ASSERT_EQ(cairn_checkpoint_write(checkpoint, 1), 0) << cairn_last_error();
    rows.set(2);
    if (rank == 0) {
      EXPECT_EQ(cairn_checkpoint_write(checkpoint, 2), -EOWNERDEAD);
    }
    cairn_checkpoint_finalize(checkpoint);
  });
  EXPECT_EQ(list(), (std::vector<int64_t>{1}));
}

TEST_F(Versions, DefinitionsThatDoNotFitTogetherAreNamedOnAllRanks) {
  with_ranks(3, [&](uint32_t rank) {
    cairn_checkpoint_options options{};
    options.rank = rank;
    options.ranks = 3;
    cairn_checkpoint* checkpoint = open_set(pool(), "field", options);
    Rows rows(rows_, rank == 2 ? 1 : rank, 3);
    ASSERT_EQ(rows.define(checkpoint, "t"), 0);
    EXPECT_EQ(cairn_checkpoint_write(checkpoint, 1), -EINVAL);
    EXPECT_NE(std::string(cairn_last_error()).find("'t'"), std::string::npos) << cairn_last_error();
    Rows right(rows_, rank, 3);
    ASSERT_EQ(right.define(checkpoint, "t"), 0);
    ASSERT_EQ(right.define(checkpoint, rank == 1 ? "u" : "v"), 0);
    EXPECT_EQ(cairn_checkpoint_write(checkpoint, 1), -EINVAL);
    EXPECT_NE(std::string(cairn_last_error()).find("'u'"), std::string::npos) << cairn_last_error();
    ASSERT_EQ(cairn_checkpoint_undefine(checkpoint, rank == 1 ? "u" : "v"), 0);
    right.set(1);
    EXPECT_EQ(cairn_checkpoint_write(checkpoint, 1), 0) << cairn_last_error();
    EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
  });
}

TEST_F(Versions, AVariableWithoutMemoryFailsOnAllRanksAndTheRunGoesOn) {
  with_ranks(2, [&](uint32_t rank) {
    cairn_checkpoint_options options{};
    options.rank = rank;
    options.ranks = 2;
    cairn_checkpoint* checkpoint = open_set(pool(), "field", options);
    Rows rows(rows_, rank, 2);
    ASSERT_EQ(rows.define(checkpoint), 0);
    rows.set(1);
    ASSERT_EQ(cairn_checkpoint_write(checkpoint, 1), 0) << cairn_last_error();
    std::vector<double> values = std::move(rows.values);
    rows.values.clear();
    rows.values.shrink_to_fit();
    if (rank == 0) rows.values = values;
    ASSERT_EQ(rows.define(checkpoint), 0);
    EXPECT_EQ(cairn_checkpoint_write(checkpoint, 2), -ENODATA);
    EXPECT_NE(std::string(cairn_last_error()).find("rank 1"), std::string::npos)
        << cairn_last_error();
    rows.values = values;
    ASSERT_EQ(rows.define(checkpoint), 0);
    rows.set(3);
    EXPECT_EQ(cairn_checkpoint_write(checkpoint, 3), 0) << cairn_last_error();
    EXPECT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
  });
  EXPECT_EQ(list(), (std::vector<int64_t>{3, 1}));
}

TEST_F(Versions, NeedSaysTheSameOnAllRanks) {
  constexpr uint32_t ranks = 3;
  constexpr int steps = 500;
  std::vector<std::vector<int>> said(ranks);
  with_ranks(ranks, [&](uint32_t rank) {
    cairn_checkpoint_options options{};
    options.rank = rank;
    options.ranks = ranks;
    options.interval_ns = 5'000'000;
    cairn_checkpoint* checkpoint = open_set(pool(), "field", options);
    for (int step = 0; step < steps; ++step) {
      if (step % (rank + 2) == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
      said[rank].push_back(cairn_checkpoint_need(checkpoint, step));
    }
    cairn_checkpoint_finalize(checkpoint);
  });
  EXPECT_EQ(said[0], said[1]);
  EXPECT_EQ(said[0], said[2]);
  EXPECT_GT(std::count(said[0].begin(), said[0].end(), 1), 0);
  EXPECT_EQ(
      std::count(said[0].begin(), said[0].end(), 0) + std::count(said[0].begin(), said[0].end(), 1),
      steps);
}

}  // namespace
}  // namespace cairn::test
