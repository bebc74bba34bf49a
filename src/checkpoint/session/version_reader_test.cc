#include "checkpoint/session/version_reader.h"

#include <gtest/gtest.h>

#include "support/run_on_pool.h"

namespace cairn::checkpoint {
namespace {

class VersionReaderTest : public RunOnPool {
 protected:
  void SetUp() override {
    begin();
    // A counted variable beside the array: seven numbers of this rank.
    Definition counted;
    counted.place = numbers_.place();
    counted.kind = DecompositionKind::per_rank;
    ASSERT_TRUE(check_definition("n", &counted).ok()) << last_detail();
    contents.definitions().put("n", std::move(counted));
    numbers_.set(5);
    write(1);
    write(2);
  }
  void TearDown() override {
    reader_.forget();
    end();
  }

  SampleArray numbers_{7};
  VersionReader reader_{&view};
};

TEST_F(VersionReaderTest, ReadsABoxOfAnArray) {
  SampleArray whole;
  ASSERT_TRUE(reader_.read_box(1, "t", {}, whole.place()).ok()) << last_detail();
  EXPECT_TRUE(whole.has(1));
  ASSERT_TRUE(reader_.read_box({}, "t", {}, whole.place()).ok()) << last_detail();
  EXPECT_TRUE(whole.has(2)) << "no number: the latest";

  SampleArray some(3);
  const int64_t offset = 40;
  const int64_t count = 3;
  ASSERT_TRUE(reader_.read_box(1, "t", {&offset, &count}, some.place()).ok()) << last_detail();
  EXPECT_EQ(some.values, (std::vector<double>{1040, 1041, 1042}));
}

TEST_F(VersionReaderTest, CountedElementsAreOneArray) {
  SampleArray all(7);
  ASSERT_TRUE(reader_.read_box(1, "n", {}, all.place()).ok()) << last_detail();
  EXPECT_TRUE(all.has(5));
  const auto counts = reader_.count(1, "n", 1);
  ASSERT_TRUE(counts.ok()) << last_detail();
  EXPECT_EQ(*counts, std::vector<uint64_t>{7});
  const auto totals = reader_.count_all(1);
  ASSERT_TRUE(totals.ok());
  EXPECT_EQ(*totals, (std::vector<uint64_t>{7, 0})) << "ascending by name; 't' is not counted";
  SampleArray last(2);
  ASSERT_TRUE(reader_.read_rank(1, "n", 0, 5, last.place()).ok()) << last_detail();
  EXPECT_EQ(last.values, (std::vector<double>{5005, 5006}));
}

TEST_F(VersionReaderTest, SaysWhatCannotBeRead) {
  SampleArray own(100);
  EXPECT_EQ(reader_.read_box(3, "t", {}, own.place()).code(), ENOENT);
  EXPECT_STREQ(last_detail(), "the set has no such version");
  EXPECT_EQ(reader_.read_box(1, "u", {}, own.place()).code(), ENOENT);
  EXPECT_STREQ(last_detail(), "the version has no such variable");
  int64_t offset = 99;
  int64_t count = 2;
  EXPECT_EQ(reader_.read_box(1, "t", {&offset, &count}, own.place()).code(), EINVAL);
  EXPECT_STREQ(last_detail(), "[99:101] lies outside of the global array [0:100]");
  offset = -1;
  EXPECT_EQ(reader_.read_box(1, "t", {&offset, &count}, own.place()).code(), EINVAL);
  EXPECT_STREQ(last_detail(), "offset or count is negative");
  EXPECT_EQ(reader_.read_box(1, "t", {}, SampleArray(3).place()).code(), EINVAL);
  EXPECT_STREQ(last_detail(), "the array is [0:3], what is read [0:100]");
  ArrayPlace nowhere = own.place();
  nowhere.base = nullptr;
  EXPECT_EQ(reader_.read_box(1, "t", {}, nowhere).code(), EFAULT);

  EXPECT_EQ(reader_.count(1, "t", 1).code(), EINVAL);
  EXPECT_EQ(reader_.count(1, "n", 0).code(), EMSGSIZE);
  EXPECT_EQ(reader_.read_rank(1, "t", 0, 0, own.place()).code(), EINVAL);
  EXPECT_EQ(reader_.read_rank(1, "n", 1, 0, own.place()).code(), EINVAL) << "there is one rank";
  EXPECT_EQ(reader_.read_lists(1, "n", {}, 0, own.place()).code(), EINVAL);
  EXPECT_EQ(reader_.list_pieces(1, "t", 1).code(), EINVAL) << "there is one part";
}

TEST_F(VersionReaderTest, ListsPartsAndWhatTheyHave) {
  const auto parts = reader_.list_parts(1);
  ASSERT_TRUE(parts.ok()) << last_detail();
  ASSERT_EQ(parts->size(), 1U);
  EXPECT_EQ((*parts)[0].presence, StoredVersion::Presence::own);
  EXPECT_EQ((*parts)[0].ranks, 1U);
  EXPECT_EQ((*parts)[0].bytes, (100 + 7) * sizeof(double) + sizeof(DirectoryRecord));
  const auto pieces = reader_.list_pieces(1, "t", 0);
  ASSERT_TRUE(pieces.ok()) << last_detail();
  ASSERT_EQ(pieces->size(), 1U);
  EXPECT_EQ((*pieces)[0].box, whole_of(1, {100}));
  const auto counted = reader_.list_pieces(1, "n", 0);
  ASSERT_TRUE(counted.ok()) << last_detail();
  ASSERT_EQ(counted->size(), 1U);
  EXPECT_EQ((*counted)[0].box, whole_of(1, {7}));
}

// Otherwise a version could be overwritten while a tool reads it piece by piece.
TEST_F(VersionReaderTest, KeepsTheVersionThatItReadLastUnlessARunFindsItsVersions) {
  ASSERT_TRUE(reader_.begin(1).ok());
  reader_.end();
  ASSERT_TRUE(reader_.begin(1).ok());
  const auto slot = view.slot_cache()->get(view.look_for(1)->slot);
  ASSERT_TRUE(slot.ok());
  EXPECT_TRUE(*(*slot)->is_leased());
  reader_.forget();
  EXPECT_FALSE(*(*slot)->is_leased());

  int found = 0;
  reader_.find_with([&](const VersionNumber& number) {
    ++found;
    return StoredVersion::open({&view.set(), view.slot_cache(), nullptr}, *view.look_for(number));
  });
  ASSERT_TRUE(reader_.begin(1).ok());
  EXPECT_EQ(found, 1);
  EXPECT_TRUE(*(*slot)->is_leased());
  reader_.end();
  EXPECT_FALSE(*(*slot)->is_leased());
}

}  // namespace
}  // namespace cairn::checkpoint
