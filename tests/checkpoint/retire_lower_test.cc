// Which copies in lower are removed: lines that runs have begun anew, and what they have abandoned.
#include "checkpoint/redundancy/retire_lower.h"

#include <filesystem>
#include <set>

#include "checkpoint/ranks.h"

namespace cairn::checkpoint {
namespace {

namespace fs = std::filesystem;
using Sequences = std::set<uint64_t>;

class RetireLower : public testing::Test {
 protected:
  RetireLower() {
    fs::create_directory(lower());
    fs::permissions(lower(), fs::perms::owner_all);
  }
  [[nodiscard]] std::string lower() const { return folder_.path() + "/lower"; }

  // A run that continues version `from`, or with 0 begins anew, writes versions and copies them to
  // lower. Their sequences ascend from 1.
  void run(int64_t from, const std::vector<int64_t>& numbers) {
    cairn_checkpoint_options options{};
    options.keep = 20;
    if (from == 0) options.flags = CAIRN_CHECKPOINT_FRESH;
    cairn_checkpoint* const checkpoint = test::open_set(pool_.get(), "field", options);
    ASSERT_NE(checkpoint, nullptr);
    test::Rows rows(8, 0, 1);
    ASSERT_EQ(rows.define(checkpoint), 0) << cairn_last_error();
    if (from != 0) {
      ASSERT_EQ(cairn_checkpoint_read(checkpoint, from, 0, nullptr), 0) << cairn_last_error();
    }
    for (const int64_t number : numbers) {
      rows.set(number);
      ASSERT_EQ(cairn_checkpoint_write(checkpoint, number), 0) << cairn_last_error();
      ASSERT_EQ(cairn_checkpoint_drain(checkpoint, number, lower().c_str(), 0), 0)
          << cairn_last_error();
    }
    ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0) << cairn_last_error();
  }

  static Sequences retire_in(const std::string& directory, const LowerRetention& retention,
                             uint64_t drained, const IsWhole& is_whole) {
    auto set = LowerSet::open(directory, "field", false);
    EXPECT_TRUE(set.ok()) << last_detail();
    EXPECT_TRUE(retire_in_lower(&*set, retention, drained, is_whole).ok()) << last_detail();
    const auto left = set->versions();
    EXPECT_TRUE(left.ok()) << last_detail();
    return {left->begin(), left->end()};
  }

  // The copies that stay after `drained` was copied.
  Sequences retire(const LowerRetention& retention, uint64_t drained,
                   const Sequences& damaged = {}) {
    // Several nodes read the witnesses only. That removes nothing that one node would keep.
    const std::string of_nodes = folder_.path() + "/nodes";
    fs::remove_all(of_nodes);
    fs::copy(lower(), of_nodes, fs::copy_options::recursive);
    auto set = LowerSet::open(of_nodes, "field", false);
    EXPECT_TRUE(set.ok()) << last_detail();
    const auto listed = witnesses_in(*set, retention, drained);
    EXPECT_TRUE(listed.ok()) << last_detail();
    const Sequences witnesses(listed->begin(), listed->end());
    const Sequences left = retire_in(lower(), retention, drained, [&](uint64_t sequence) {
      return !damaged.contains(sequence);
    });
    const Sequences on_nodes = retire_in(of_nodes, retention, drained, [&](uint64_t sequence) {
      return witnesses.contains(sequence) && !damaged.contains(sequence);
    });
    EXPECT_TRUE(std::includes(on_nodes.begin(), on_nodes.end(), left.begin(), left.end()));
    EXPECT_TRUE(!damaged.empty() || on_nodes == left);
    return left;
  }

  test::TemporaryFolder folder_;
  test::PoolInMemory pool_{uint64_t{64} << 20};
};

TEST_F(RetireLower, AnAbandonedCopyStaysWhileItIsTheBestOfItsNumber) {
  run(0, {1, 2, 3});  // 1, 2, 3
  run(1, {2});        // 4
  EXPECT_EQ(retire({2, false}, 4), Sequences({1, 3, 4})) << "2 is there anew, and 3 is not";
  run(2, {3, 4});  // 5, 6
  EXPECT_EQ(retire({2, false}, 6, {5}), Sequences({3, 4, 5, 6})) << "the new 3 is damaged";
  run(4, {5});  // 7
  EXPECT_EQ(retire({2, false}, 7, {5}), Sequences({6, 7})) << "two newer ones are whole";
}

TEST_F(RetireLower, AnAbandonedCopyStaysUntilTheLineComesToItsNumber) {
  run(0, {10, 20, 30});  // 1, 2, 3
  run(10, {15});         // 4
  EXPECT_EQ(retire({1, false}, 4), Sequences({2, 3, 4}));
  run(15, {25});  // 5
  EXPECT_EQ(retire({1, false}, 5), Sequences({3, 5}));
  run(25, {35});  // 6
  EXPECT_EQ(retire({1, false}, 6), Sequences({6}));
}

TEST_F(RetireLower, NothingIsRemovedWithoutAWholeVersionOfTheLine) {
  run(0, {1, 2});  // 1, 2
  run(1, {3});     // 3
  run(0, {1, 2});  // 4, 5
  for (const bool drops_earlier : {false, true})
    for (const uint32_t keep : {0U, 1U, 2U})
      EXPECT_EQ(retire({keep, drops_earlier}, 3, {4, 5}), Sequences({1, 2, 3, 4, 5}));
}

TEST_F(RetireLower, TheEarlierLineStaysWithTheOnlyWholeCopyOfANumber) {
  run(0, {1, 2});     // 1, 2
  run(0, {1, 2, 3});  // 3, 4, 5
  EXPECT_EQ(retire({1, false}, 5, {4}), Sequences({1, 2, 5})) << "2 is whole in the earlier line";
  EXPECT_EQ(retire({1, true}, 5), Sequences({5})) << "until the user drops it";
}

TEST_F(RetireLower, TheEarlierLineStaysWithWhatItHasAbandoned) {
  run(0, {1, 2, 3});  // 1, 2, 3
  run(1, {2});        // 4
  EXPECT_EQ(retire({2, false}, 4), Sequences({1, 3, 4}));
  run(0, {1});  // 5
  EXPECT_EQ(retire({2, false}, 5), Sequences({1, 3, 4, 5})) << "3 is the best of its number";
  run(0, {1});  // 6
  EXPECT_EQ(retire({2, false}, 6, {5}), Sequences({1, 3, 4, 5, 6})) << "5 does not stand in for it";
  run(0, {1});  // 7
  EXPECT_EQ(retire({2, false}, 7, {5}), Sequences({6, 7})) << "one earlier line stays";
}

TEST_F(RetireLower, EarlierLinesAreDroppedWhereAllOfTheLineStay) {
  run(0, {1, 2});  // 1, 2
  run(0, {1, 2});  // 3, 4
  EXPECT_EQ(retire({0, true}, 4), Sequences({3, 4}));
}

}  // namespace
}  // namespace cairn::checkpoint
