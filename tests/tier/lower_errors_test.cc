// What lower answers is not always about the file: errors, times that move at a close, and
// descriptors that only name a directory.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tier/cover_fixture.h"
#include "tier/lower_calls.h"

namespace cairn::test {
namespace {

class LowerErrors : public CoverTest {
 protected:
  void SetUp() override {
    make_pool();
    put_some_files();
  }
  ~LowerErrors() override { set_lower_hook(nullptr); }

  // Nobody can tell what has this name.
  static void hide(const char* name) {
    set_lower_hook([name](const LowerCall& call) {
      return call.number == SYS_statx &&
                     std::strcmp(reinterpret_cast<const char*>(call.arguments[1]), name) == 0
                 ? EIO
                 : 0;
    });
  }
};

TEST_F(LowerErrors, ARemovalIsNotForgotten) {
  Covered covered(pool_, lower_);
  ASSERT_EQ(cairn_unlink(covered.pool, covered.top, "hello"), 0);
  hide("hello");
  const Drained drained = covered.drain();
  set_lower_hook(nullptr);
  EXPECT_EQ(drained.code, -EIO);
  ASSERT_EQ(drained.problems.size(), 1U);
  EXPECT_NE(drained.problems.front().find("/hello: stat: "), std::string::npos)
      << drained.problems.front();
  EXPECT_TRUE(fs::exists(lower_ + "/hello"));
  expect_drained(covered);
  EXPECT_FALSE(fs::exists(lower_ + "/hello"));
}

TEST_F(LowerErrors, AFileIsNotTakenForANewOne) {
  Covered covered(pool_, lower_);
  ASSERT_EQ(covered.write("hello", "changed"), 0);
  hide("hello");
  const Drained drained = covered.drain();
  set_lower_hook(nullptr);
  EXPECT_EQ(drained.code, -EIO);
  EXPECT_EQ(drained.report.conflicts, 0U);
  expect_drained(covered);
}

// As CIFS does it.
TEST_F(LowerErrors, ATimeThatMovesAtTheCloseIsNoConflict) {
  Covered covered(pool_, lower_);
  ASSERT_EQ(covered.create("new", "first"), 0);
  set_lower_hook([](const LowerCall& call) {
    constexpr timeval times[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
    if (call.number == SYS_close && names(call.arguments[0], ".cairn-drain-"))
      futimes(static_cast<int>(call.arguments[0]), times);
    return 0;
  });
  EXPECT_EQ(covered.drain().code, 0) << cairn_last_error();
  set_lower_hook(nullptr);
  struct stat st = {};
  ASSERT_EQ(stat((lower_ + "/new").c_str(), &st), 0);
  EXPECT_EQ(st.st_mtime, 1'000'000'000);
  ASSERT_EQ(covered.write("new", "second"), 0);
  const Drained drained = covered.drain();
  EXPECT_EQ(drained.code, 0) << testing::PrintToString(drained.problems);
  EXPECT_EQ(get(lower_ + "/new"), "second");
}

TEST_F(LowerErrors, TheTimesOfADirectoryStayWhereClaimsAreRemoved) {
  Covered covered(pool_, lower_);
  const std::string claim = lower_ + "/.cairn-claim-" + std::string(32, '0');
  put(claim, "left by a killed process");
  constexpr timeval long_ago[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
  ASSERT_EQ(utimes(claim.c_str(), long_ago), 0);
  ASSERT_EQ(utimes(lower_.c_str(), long_ago), 0);
  EXPECT_EQ(covered.drain().code, 0) << cairn_last_error();
  EXPECT_FALSE(fs::exists(claim));
  struct stat st = {};
  ASSERT_EQ(stat(lower_.c_str(), &st), 0);
  EXPECT_EQ(st.st_mtime, 1'000'000'000);
}

}  // namespace
}  // namespace cairn::test
