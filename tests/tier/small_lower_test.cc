// What a drain does where lower is too small for all that changed.
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <thread>

#include "tier/cover_fixture.h"

namespace cairn::test {
namespace {

constexpr size_t mebibyte = 1 << 20;

class SmallLower : public CoverTest {
 protected:
  void SetUp() override {
    make_pool();
    small_ = lower_ + "/small";
    fs::create_directory(small_);
    if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("none", small_.c_str(), "tmpfs", 0, "size=4m") != 0)
      GTEST_SKIP() << "nothing can be mounted here";
    covered_ = std::make_unique<Covered>(pool_, small_);
  }
  void TearDown() override {
    if (covered_) {
      EXPECT_EQ(covered_->discard(), 0) << cairn_last_error();
    }
    covered_.reset();
    umount2(small_.c_str(), MNT_DETACH);
  }
  // Changes each file at a time of its own.
  void write(const std::string& name, size_t size) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (covered_->write(name, std::string(size, name[0])) == -ENOENT) {
      ASSERT_EQ(covered_->create(name, std::string(size, name[0])), 0) << cairn_last_error();
    }
  }
  std::string in_lower() const {
    std::string names;
    for (const char* name : {"a", "b", "c", "d", "e"})
      if (fs::exists(small_ + "/" + name)) names += name;
    return names;
  }
  // Each of them in one problem.
  static std::string named(const Drained& drained) {
    std::string names;
    for (const std::string& problem : drained.problems) {
      EXPECT_NE(problem.find("draining needs"), std::string::npos) << problem;
      names += problem[problem.find(": ") - 1];
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string small_;
  std::unique_ptr<Covered> covered_;
};

// Nothing was copied.
TEST_F(SmallLower, GetsTheOldestFilesThatFit) {
  for (const char* name : {"c", "b", "a", "d"})
    write(name, name[0] == 'b' ? 5 * mebibyte : 3 * mebibyte / 2);
  write("c", mebibyte);  // it is the youngest now
  const Drained drained = covered_->drain();
  EXPECT_EQ(drained.code, -ENOSPC);
  EXPECT_NE(std::string(cairn_last_error()).find("draining all of it needs 9961472 bytes there"),
            std::string::npos)
      << cairn_last_error();
  EXPECT_EQ(drained.report.files, 2U);
  EXPECT_EQ(drained.report.failed, 2U);
  EXPECT_EQ(in_lower(), "ad");
  EXPECT_EQ(named(drained), "bc");
  ASSERT_EQ(mount("none", small_.c_str(), "tmpfs", MS_REMOUNT, "size=64m"), 0);
  EXPECT_EQ(covered_->drain().code, 0) << cairn_last_error();
  EXPECT_EQ(in_lower(), "abcd");
  EXPECT_EQ(get(small_ + "/c"), std::string(3 * mebibyte / 2, 'c'));
}

// Their first version stays until there is room for the next one.
TEST_F(SmallLower, GetsNewVersionsOneAfterTheOther) {
  for (const char* name : {"a", "b"}) write(name, 3 * mebibyte / 2);
  ASSERT_EQ(covered_->drain().code, 0) << cairn_last_error();
  for (const char* name : {"b", "a"}) write(name, 3 * mebibyte / 2);
  const Drained drained = covered_->drain();
  EXPECT_EQ(drained.code, -ENOSPC);
  EXPECT_EQ(named(drained), "ab") << "1 MiB is free";
  EXPECT_EQ(in_lower(), "ab");
  ASSERT_EQ(mount("none", small_.c_str(), "tmpfs", MS_REMOUNT, "size=5m"), 0);
  EXPECT_EQ(covered_->drain().code, 0) << cairn_last_error();
}

// One inode, counted and reported once for each name.
TEST_F(SmallLower, GetsNoNameOfAFileThatDoesNotFit) {
  write("a", 5 * mebibyte);
  ASSERT_EQ(cairn_link(covered_->pool, covered_->top, "a", covered_->top, "b", 0), 0);
  write("c", mebibyte);
  EXPECT_EQ(covered_->drain().code, -ENOSPC);
  EXPECT_EQ(in_lower(), "c");
}

}  // namespace
}  // namespace cairn::test
