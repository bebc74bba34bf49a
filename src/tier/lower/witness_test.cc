#include "tier/lower/witness.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <ostream>
#include <string>

namespace cairn::tier {
namespace {

constexpr uint32_t user = 61001;
constexpr uint32_t somebody = 61002;

sys::FileStat a_file() {
  sys::FileStat st;
  st.st_mode = S_IFREG | 0644;
  st.st_ino = 7;
  st.st_uid = user;
  st.st_size = 100;
  st.st_mtim = {1'700'000'000, 5};
  st.st_ctim = {1'700'000'001, 6};
  st.birth = 1'600'000'000'000'000'000;
  return st;
}

class Witness : public ::testing::Test {
 protected:
  [[nodiscard]] Difference difference(const sys::FileStat& before, const sys::FileStat& now) const {
    return compare(known_, witness_of(known_, before), now).difference;
  }
  KnownCover known_;
};

TEST_F(Witness, OfAFileNamesWhatHasChanged) {
  const sys::FileStat before = a_file();
  EXPECT_EQ(difference(before, before), Difference::none);
  const auto after = [&](auto change) {
    sys::FileStat now = before;
    change(now);
    return difference(before, now);
  };
  EXPECT_EQ(after([](auto& st) { st.st_dev = 9; }), Difference::another);
  EXPECT_EQ(after([](auto& st) { st.st_ino = 9; }), Difference::another);
  EXPECT_EQ(after([](auto& st) { ++st.birth; }), Difference::another);
  EXPECT_EQ(after([](auto& st) { ++st.st_size; }), Difference::contents);
  EXPECT_EQ(after([](auto& st) { ++st.st_mtim.tv_nsec; }), Difference::contents);
  EXPECT_EQ(after([](auto& st) { ++st.st_ctim.tv_nsec; }), Difference::rights);
  // Every change of owner or mode changes the ctime.
  EXPECT_EQ(after([](auto& st) { st.st_uid = somebody, ++st.st_ctim.tv_nsec; }),
            Difference::rights);
}

TEST_F(Witness, WithoutATimeOfCreationComparesTheRest) {
  sys::FileStat before = a_file();
  sys::FileStat now = a_file();
  before.birth = 0;
  EXPECT_EQ(difference(before, now), Difference::none);
  before.birth = now.birth | sys::birth_is_handle;  // the kernel gave a handle before
  EXPECT_EQ(difference(before, now), Difference::none);
  now.birth = (now.birth + 1) | sys::birth_is_handle;
  EXPECT_EQ(difference(before, now), Difference::another);
}

TEST_F(Witness, WithTheShortWordsOfAnOlderPoolDoesNotKnowTheRights) {
  file::Witness remembered = witness_of(known_, a_file());
  remembered.birth = remembered.change = remembered.rights = 0;
  EXPECT_EQ(compare(known_, remembered, a_file()).difference, Difference::rights);
}

TEST_F(Witness, WhereFilesDoNotKeepTheirTimeOfCreationDoesNotCompareIt) {
  known_.keeps_birth = false;
  sys::FileStat now = a_file();
  ++now.birth;
  EXPECT_EQ(difference(a_file(), now), Difference::none);
}

TEST_F(Witness, OfEachDifferenceHasAReason) {
  for (const auto difference : {Difference::rights, Difference::contents, Difference::another}) {
    sys::FileStat now = a_file();
    if (difference == Difference::rights) ++now.st_ctim.tv_nsec;
    if (difference == Difference::contents) ++now.st_size;
    if (difference == Difference::another) ++now.birth;
    const Comparison compared = compare(known_, witness_of(known_, a_file()), now);
    EXPECT_EQ(compared.difference, difference);
    EXPECT_STRNE(compared.reason, "");
  }
}

TEST_F(Witness, OfARemovedFileIsNotThatOfTheNextOneWithItsNumber) {
  char directory[] = "/var/tmp/cairn-witness-XXXXXX";
  ASSERT_NE(mkdtemp(directory), nullptr);
  const std::string path = std::string(directory) + "/file";
  const auto make = [&](sys::FileStat* st) {
    const sys::Descriptor fd(open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644));
    return fd.ok() && sys::fstat(fd.get(), st) == 0;
  };
  bool is_used_again = false;
  for (int i = 0; i < 1000 && !is_used_again; ++i) {
    sys::FileStat first;
    sys::FileStat second;
    ASSERT_TRUE(make(&first));
    unlink(path.c_str());
    ASSERT_TRUE(make(&second));
    unlink(path.c_str());
    second.st_mtim = first.st_mtim;
    is_used_again = first.st_ino == second.st_ino;
    if (is_used_again && first.birth != 0) {
      EXPECT_FALSE(is_remembered(known_, witness_of(known_, first), second));
      EXPECT_FALSE(is_same_file(first, second));
    }
  }
  rmdir(directory);
}

// --- rights that lower, the pool, or both have changed ---

struct Owned {
  uint32_t uid;
  uint32_t gid;
  uint32_t mode;
  friend bool operator==(const Owned&, const Owned&) = default;
};
std::ostream& operator<<(std::ostream& out, const Owned& one) {
  return out << one.uid << ":" << one.gid << " 0" << std::oct << one.mode << std::dec;
}

Owned merge(const Owned& before, const Owned& lower, const Owned& pool, uint32_t type = S_IFREG) {
  file::Witness remembered;
  remembered.rights = noted_rights(before.uid, before.gid, before.mode);
  sys::FileStat st = a_file();
  st.st_uid = lower.uid;
  st.st_gid = lower.gid;
  st.st_mode = type | lower.mode;
  file::Attributes in_pool;
  in_pool.uid = pool.uid;
  in_pool.gid = pool.gid;
  in_pool.mode = type | pool.mode;
  const file::Attributes wanted = merge_rights(remembered, st, in_pool);
  return {wanted.uid, wanted.gid, wanted.mode & 07777};
}

constexpr uint32_t group = 50;
constexpr uint32_t other_group = 42;

TEST(MergeRights, TakesWhatOnlyOneSideHasChanged) {
  const Owned before{user, group, 0644};
  for (const Owned& now :
       {before, Owned{somebody, group, 0644}, Owned{user, other_group, 0644}, Owned{0, 0, 0600},
        Owned{65534, 65534, 0666}, Owned{user, group, 04755}, Owned{user, group, 02755}}) {
    EXPECT_EQ(merge(before, now, before), now);
    EXPECT_EQ(merge(before, before, now), now);
  }
  EXPECT_EQ(merge({65534, 65534, 0700}, {65534, 65534, 0700}, {65534, 65534, 0700}),
            (Owned{65534, 65534, 0700}));
  EXPECT_EQ(merge(before, {user, other_group, 0600}, {somebody, group, 0644}),
            (Owned{somebody, other_group, 0600}));
}

TEST(MergeRights, TakesThePoolsModeIfBothHaveChangedIt) {
  EXPECT_EQ(merge({user, group, 0644}, {user, group, 0600}, {user, group, 0755}).mode, 0755U);
}

TEST(MergeRights, GivesASetIdBitOnlyTogetherWithTheOwnerOrGroupThatItHad) {
  const Owned before{user, group, 0755};
  EXPECT_EQ(merge(before, {user, group, 02755}, {user, other_group, 0755}),
            (Owned{user, other_group, 0755}));
  EXPECT_EQ(merge(before, {0, group, 0755}, {user, group, 04755}), (Owned{0, group, 0755}));
  EXPECT_EQ(merge(before, {user, group, 04755}, {0, group, 0755}), (Owned{0, group, 0755}));
  // The program has given the file away, and set the bit again.
  EXPECT_EQ(merge({user, group, 04755}, {user, group, 04755}, {0, group, 04755}),
            (Owned{0, group, 04755}));
  // Writing has taken the bit away in the pool. That is no chmod.
  EXPECT_EQ(merge({user, group, 04755}, {user, group, 04700}, {user, group, 0755}),
            (Owned{user, group, 0700}));
}

TEST(MergeRights, OfADirectoryLeavesOutWhatADrainGivesTheOwner) {
  EXPECT_EQ(merge({user, group, 0555}, {user, group, 02775}, {user, group, 0555}, S_IFDIR).mode,
            02575U);
}

TEST(MergeRights, WithoutKnownRightsTakesThePools) {
  sys::FileStat st = a_file();
  file::Attributes pool;
  pool.uid = somebody;
  pool.mode = S_IFREG | 0640;
  const file::Attributes wanted = merge_rights({}, st, pool);
  EXPECT_EQ(wanted.uid, somebody);
  EXPECT_EQ(wanted.mode, pool.mode);
}

TEST(KeepsWriters, OnlyIfNobodyMayWriteLessThanBefore) {
  const uint32_t self = geteuid();
  const auto keeps = [](const Owned& before, const Owned& lower, const Owned& wanted) {
    file::Witness remembered;
    remembered.rights = noted_rights(before.uid, before.gid, before.mode);
    sys::FileStat st = a_file();
    st.st_uid = lower.uid;
    st.st_gid = lower.gid;
    st.st_mode = S_IFREG | lower.mode;
    return keeps_writers(remembered, st, {wanted.uid, wanted.gid, wanted.mode, false});
  };
  const Owned open{self, group, 0664};
  EXPECT_TRUE(keeps(open, open, {self, group, 0775}));
  EXPECT_TRUE(keeps(open, {self, group, 0660}, {self, group, 0664}));
  EXPECT_FALSE(keeps(open, open, {self, group, 0644}));
  EXPECT_FALSE(keeps(open, open, {self, other_group, 0664}));
  EXPECT_FALSE(keeps(open, open, {self, group, 02775}));
  // Somebody may have it open since.
  EXPECT_FALSE(keeps({self, group, 0666}, open, {self, group, 0775}));
  EXPECT_FALSE(keeps({self, other_group, 0664}, open, {self, group, 0775}));
  EXPECT_FALSE(keeps({somebody, group, 0664}, open, {self, group, 0775}));
}

class DirectoryWitness : public Witness {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
    ASSERT_EQ(seteuid(user), 0);
  }
  void TearDown() override { ASSERT_EQ(seteuid(getuid()), 0); }

  static sys::FileStat of(uint32_t owner, uint64_t birth = 1) {
    sys::FileStat st = a_file();
    st.st_mode = S_IFDIR | 0755;
    st.st_uid = owner;
    st.birth = birth;
    return st;
  }
  [[nodiscard]] bool is_same(const sys::FileStat& before, const sys::FileStat& now) const {
    return compare(known_, directory_witness(known_, before, 0), now).is_same();
  }
};

TEST_F(DirectoryWitness, HoldsTheOwner) {
  EXPECT_TRUE(is_same(of(somebody), of(somebody)));
  EXPECT_FALSE(is_same(of(user), of(somebody)));
  EXPECT_FALSE(is_same(of(0), of(somebody)));
  // The user or root must have made these.
  EXPECT_TRUE(is_same(of(somebody), of(user)));
  EXPECT_TRUE(is_same(of(somebody), of(0)));
}

TEST_F(DirectoryWitness, HoldsTheTimeOfCreation) {
  EXPECT_FALSE(is_same(of(user, 1), of(user, 2)));
  EXPECT_TRUE(is_same(of(user, 0), of(user, 2)));
}

TEST_F(DirectoryWitness, FromAnEarlierVersionHasNoOwner) {
  for (const uint64_t mtime : {uint64_t{0}, uint64_t{1'700'000'000'000'000'005}, ~uint64_t{0}}) {
    file::Witness before = directory_witness(known_, of(user), 0);
    before.mtime = mtime;
    EXPECT_TRUE(compare(known_, before, of(somebody)).is_same());
  }
}

TEST_F(DirectoryWitness, InAUserNamespaceMayHaveNoOwner) {
  constexpr uint32_t unknown = 65534;
  EXPECT_TRUE(is_same(of(somebody), of(unknown)));
  EXPECT_TRUE(is_same(of(unknown), of(somebody)));
}

TEST_F(DirectoryWitness, ForRootTheOwnerCountsOnlyWithoutATimeOfCreation) {
  ASSERT_EQ(seteuid(0), 0);
  EXPECT_TRUE(is_same(of(user), of(somebody)));
  EXPECT_FALSE(is_same(of(user), of(somebody, 2)));
  EXPECT_FALSE(is_same(of(user, 0), of(somebody, 0)));
  // A pool of an earlier version knows neither.
  file::Witness before = directory_witness(known_, of(user), 0);
  before.birth = before.rights = 0;
  EXPECT_TRUE(compare(known_, before, of(somebody)).is_same());
}

}  // namespace
}  // namespace cairn::tier
