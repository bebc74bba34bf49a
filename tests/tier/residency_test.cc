// The calls about one file of a cover (cairn/tier.h).
#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "cairn/tier.h"
#include "tier/evict_fixture.h"

namespace cairn::test {
namespace {

class ResidencyTest : public EvictTest {
 protected:
  cairn_residency at(const std::string& path) {
    cairn_residency found = {};
    found.struct_size = sizeof found;
    EXPECT_EQ(cairn_tier_residency(covered->cover, path.c_str(), &found), 0) << cairn_last_error();
    return found;
  }
  int drain(const std::string& path) { return cairn_tier_drain(covered->cover, path.c_str()); }
  // All in the pool, and not in lower.
  void expect_undrained(const std::string& path, uint64_t size) {
    const cairn_residency found = at(path);
    EXPECT_EQ(found.is_drained, 0U);
    EXPECT_EQ(found.size, size);
    EXPECT_GE(found.pool_bytes, size);
    EXPECT_EQ(found.lower_bytes, 0U);
    EXPECT_EQ(found.undrained_bytes, size);
  }
  void expect_in_both(const std::string& path, uint64_t size) {
    const cairn_residency found = at(path);
    EXPECT_NE(found.is_drained, 0U);
    EXPECT_EQ(found.size, size);
    EXPECT_GE(found.pool_bytes, size);
    EXPECT_EQ(found.lower_bytes, 0U);
    EXPECT_EQ(found.undrained_bytes, 0U);
  }
  void expect_in_lower_only(const std::string& path, uint64_t size) {
    const cairn_residency found = at(path);
    EXPECT_NE(found.is_drained, 0U);
    EXPECT_EQ(found.size, size);
    EXPECT_EQ(found.pool_bytes, 0U);
    EXPECT_EQ(found.lower_bytes, size);
    EXPECT_EQ(found.undrained_bytes, 0U);
  }
};

TEST_F(ResidencyTest, AFileGoesThroughAllStates) {
  start();
  ASSERT_EQ(covered->create("file", bytes_), 0);
  expect_undrained("file", bytes_.size());
  EXPECT_FALSE(fs::exists(lower_ + "/file"));
  ASSERT_EQ(drain("file"), 0) << cairn_last_error();
  expect_in_both("file", bytes_.size());
  EXPECT_EQ(get(lower_ + "/file"), bytes_);
  uint64_t freed = 0;
  ASSERT_EQ(cairn_tier_evict(covered->cover, "file", &freed), 0) << cairn_last_error();
  EXPECT_GE(freed, bytes_.size());
  expect_in_lower_only("file", bytes_.size());
  ASSERT_EQ(cairn_tier_evict(covered->cover, "file", &freed), 0) << cairn_last_error();
  EXPECT_EQ(freed, 0U);
  ASSERT_EQ(cairn_tier_stage(covered->cover, "file"), 0) << cairn_last_error();
  expect_in_both("file", bytes_.size());
  EXPECT_EQ(covered->read("file"), bytes_);
  ASSERT_EQ(covered->write("file", "changed"), 0);
  expect_undrained("file", bytes_.size());
  expect_drained(*covered);
}

TEST_F(ResidencyTest, AnImportedFileLiesInLower) {
  put_some_files();
  start();
  expect_in_lower_only("dir/a", 300000);
  ASSERT_EQ(cairn_tier_stage(covered->cover, "dir/a"), 0) << cairn_last_error();
  expect_in_both("dir/a", 300000);
  // By a link, by the absolute path, and by ways that lead round.
  expect_in_both("link", 300000);
  expect_in_both(lower_ + "/dir/a", 300000);
  expect_in_both("dir/../dir/./deep/../a", 300000);
}

// Only this file and its directories; whatever else has changed waits for a whole drain.
TEST_F(ResidencyTest, ADrainOfOneFileLeavesTheOthers) {
  put_some_files();
  start();
  ASSERT_EQ(cairn_mkdir(covered->pool, covered->top, "new", 0755), 0);
  ASSERT_EQ(cairn_mkdir(covered->pool, covered->top, "new/deeper", 0750), 0);
  ASSERT_EQ(covered->create("new/deeper/one", bytes_), 0);
  ASSERT_EQ(covered->create("new/deeper/two", "second"), 0);
  ASSERT_EQ(covered->create("other", "third"), 0);
  ASSERT_EQ(cairn_unlink(covered->pool, covered->top, "hello"), 0);
  ASSERT_EQ(drain("new/deeper/one"), 0) << cairn_last_error();
  expect_in_both("new/deeper/one", bytes_.size());
  EXPECT_EQ(get(lower_ + "/new/deeper/one"), bytes_);
  EXPECT_EQ(fs::status(lower_ + "/new/deeper").permissions(), fs::perms(0750));
  EXPECT_FALSE(fs::exists(lower_ + "/new/deeper/two"));
  EXPECT_FALSE(fs::exists(lower_ + "/other"));
  EXPECT_TRUE(fs::exists(lower_ + "/hello"));
  expect_undrained("new/deeper/two", 6);
  // Lower's copy does not count once somebody has replaced it.
  put(lower_ + "/new/deeper/one", "somebody's");
  EXPECT_EQ(at("new/deeper/one").is_drained, 0U);
  EXPECT_EQ(drain("new/deeper/one"), -EIO);
  EXPECT_NE(std::string(cairn_last_error()).find("new/deeper/one"), std::string::npos)
      << cairn_last_error();
  fs::remove(lower_ + "/new/deeper/one");
  expect_drained(*covered);
  EXPECT_FALSE(fs::exists(lower_ + "/hello"));
}

// What a drain of one file replaces may be the only copy in lower of bytes that have moved.
TEST_F(ResidencyTest, WhatADrainOfOneFileReplacesIsKept) {
  put_some_files();
  start();
  const std::string old = get(lower_ + "/dir/a");
  ASSERT_EQ(cairn_rename(covered->pool, covered->top, "dir/a", covered->top, "moved", 0), 0);
  ASSERT_EQ(covered->create("dir/a", "another"), 0);
  ASSERT_EQ(drain("dir/a"), 0) << cairn_last_error();
  EXPECT_EQ(get(lower_ + "/dir/a"), "another");
  bool is_kept = false;
  for (const auto& entry : fs::recursive_directory_iterator(lower_))
    is_kept = is_kept || (entry.is_regular_file() && get(entry.path()) == old);
  EXPECT_TRUE(is_kept);
  expect_drained(*covered);
  EXPECT_EQ(get(lower_ + "/moved"), old);
}

TEST_F(ResidencyTest, WhatCannotBeDrainedNow) {
  start();
  ASSERT_EQ(covered->create("file", std::string(8192, 'f')), 0);
  ASSERT_EQ(cairn_link(covered->pool, covered->top, "file", covered->top, "second", 0), 0);
  EXPECT_EQ(drain("file"), -EBUSY);
  EXPECT_NE(std::string(cairn_last_error()).find("more than one name"), std::string::npos);
  ASSERT_EQ(cairn_unlink(covered->pool, covered->top, "second"), 0);
  cairn_file* file = open("file", O_RDWR);
  void* address = nullptr;
  ASSERT_EQ(cairn_mmap(file, nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, 0, &address), 0);
  EXPECT_EQ(drain("file"), -EBUSY);
  EXPECT_EQ(at("file").is_drained, 0U);
  ASSERT_EQ(cairn_munmap(covered->pool, address, 8192), 0);
  EXPECT_EQ(drain("file"), 0) << cairn_last_error();
  ASSERT_EQ(cairn_close(file), 0);
  expect_in_both("file", 8192);
}

TEST_F(ResidencyTest, WaitingForAFileAndForTheCover) {
  start();
  ASSERT_EQ(cairn_tier_wait(covered->cover, nullptr, 0), 0) << cairn_last_error();
  ASSERT_EQ(covered->create("file", bytes_), 0);
  EXPECT_EQ(cairn_tier_wait(covered->cover, "file", 0), -ETIMEDOUT);
  EXPECT_EQ(cairn_tier_wait(covered->cover, nullptr, 20), -ETIMEDOUT);
  std::thread drainer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_EQ(covered->drain().code, 0) << cairn_last_error();
  });
  EXPECT_EQ(cairn_tier_wait(covered->cover, "file", UINT32_MAX), 0) << cairn_last_error();
  EXPECT_EQ(get(lower_ + "/file"), bytes_);
  EXPECT_EQ(cairn_tier_wait(covered->cover, nullptr, 60000), 0) << cairn_last_error();
  drainer.join();
  // A removal counts for the cover.
  ASSERT_EQ(cairn_unlink(covered->pool, covered->top, "file"), 0);
  EXPECT_EQ(cairn_tier_wait(covered->cover, nullptr, 0), -ETIMEDOUT);
  EXPECT_EQ(cairn_tier_wait(covered->cover, "file", 0), -ENOENT);
}

TEST_F(ResidencyTest, WrongPaths) {
  put_some_files();
  start();
  cairn_residency found = {};
  found.struct_size = sizeof found;
  const auto look = [&](const char* path) {
    return cairn_tier_residency(covered->cover, path, &found);
  };
  EXPECT_EQ(look("missing"), -ENOENT);
  EXPECT_EQ(look("dir"), -EINVAL);
  EXPECT_EQ(look("."), -EINVAL);
  EXPECT_EQ(look(lower_.c_str()), -EINVAL);
  EXPECT_EQ(look(""), -ENOENT);
  EXPECT_EQ(look(nullptr), -EFAULT);
  EXPECT_EQ(look("hello/x"), -ENOTDIR);
  EXPECT_EQ(look("../lower/hello"), -EXDEV);
  EXPECT_EQ(look("/etc/passwd"), -EXDEV);
  EXPECT_EQ(look((lower_ + "er").c_str()), -EXDEV);
  EXPECT_EQ(cairn_tier_residency(covered->cover, "hello", nullptr), -EINVAL);
  found.struct_size = 4;
  EXPECT_EQ(look("hello"), -EINVAL);
  EXPECT_EQ(cairn_tier_stage(covered->cover, "dir"), -EINVAL);
  EXPECT_EQ(cairn_tier_evict(covered->cover, "missing", nullptr), -ENOENT);
  EXPECT_EQ(drain("dir"), -EINVAL);
}

// Fields that a program of an earlier release does not have are not written.
TEST_F(ResidencyTest, AShorterStructure) {
  start();
  ASSERT_EQ(covered->create("file", bytes_), 0);
  cairn_residency found = {};
  found.struct_size = offsetof(cairn_residency, lower_bytes);
  found.undrained_bytes = 77;
  ASSERT_EQ(cairn_tier_residency(covered->cover, "file", &found), 0) << cairn_last_error();
  EXPECT_EQ(found.size, bytes_.size());
  EXPECT_EQ(found.undrained_bytes, 77U);
}

TEST_F(ResidencyTest, JoiningTheCoverOfARun) {
  start();
  cairn_pool* pool = nullptr;
  cairn_cover* cover = nullptr;
  unsetenv("CAIRN_COVER");
  EXPECT_EQ(cairn_tier_join(&pool, &cover), -ENOENT);
  EXPECT_EQ(cairn_tier_join(nullptr, &cover), -EFAULT);
  setenv("CAIRN_POOL", pool_.c_str(), 1);
  setenv("CAIRN_COVER", (lower_ + "/elsewhere").c_str(), 1);
  EXPECT_EQ(cairn_tier_join(&pool, &cover), -ENOENT);
  setenv("CAIRN_COVER", lower_.c_str(), 1);
  ASSERT_EQ(covered->create("file", bytes_), 0);
  ASSERT_EQ(cairn_tier_join(&pool, &cover), 0) << cairn_last_error();
  EXPECT_EQ(cairn_tier_drain(cover, "file"), 0) << cairn_last_error();
  expect_in_both("file", bytes_.size());
  cairn_cover_close(cover);
  cairn_pool_detach(pool);
  unsetenv("CAIRN_POOL");
  unsetenv("CAIRN_COVER");
}

}  // namespace
}  // namespace cairn::test
