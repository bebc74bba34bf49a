#include "machine/named_path.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "text/error.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

class NamedPath : public testing::Test {
 protected:
  void SetUp() override {
    char place[] = "/tmp/cairn-named-XXXXXX";
    ASSERT_NE(mkdtemp(place), nullptr);
    top_ = fs::canonical(place).string();
    fs::create_directories(top_ + "/real/below");
    fs::create_symlink("real", top_ + "/link");
  }
  void TearDown() override { fs::remove_all(top_); }

  std::string top_;
};

TEST_F(NamedPath, IsThatOfRealpath) {
  EXPECT_EQ(named_path(top_ + "/real//./below/"), top_ + "/real/below");
  EXPECT_EQ(named_path(top_ + "/link/below"), top_ + "/real/below");
  EXPECT_EQ(named_path(top_ + "/link/below/.."), top_ + "/real");
  EXPECT_EQ(named_path(top_ + "/link/."), top_ + "/real");
  EXPECT_EQ(named_path("/.."), "/");
  EXPECT_EQ(named_path("/"), "/");
  EXPECT_EQ(named_path(""), "");
  fs::create_symlink(top_ + "/link/below", top_ + "/real/absolute");
  EXPECT_EQ(named_path(top_ + "/link/absolute"), top_ + "/real/below");
}

TEST_F(NamedPath, OfARelativePathBeginsHere) {
  const fs::path before = fs::current_path();
  fs::current_path(top_ + "/real");
  EXPECT_EQ(named_path("."), top_ + "/real");
  EXPECT_EQ(named_path("below"), top_ + "/real/below");
  EXPECT_EQ(named_path("../link/none"), top_ + "/real/none");
  fs::current_path(before);
}

TEST_F(NamedPath, StaysFromWhatIsNotThereOn) {
  EXPECT_EQ(named_path(top_ + "/link/none/../below"), top_ + "/real/none/../below");
  fs::create_symlink("nowhere/deep", top_ + "/dangling");
  EXPECT_EQ(named_path(top_ + "/dangling/x"), top_ + "/nowhere/deep/x");
}

TEST_F(NamedPath, HasAnEndInACircle) {
  fs::create_symlink("circle", top_ + "/circle");
  EXPECT_THROW(named_path(top_ + "/circle"), Error);
}

TEST_F(NamedPath, LeadsThroughNoLinkOfAnotherUser) {
  constexpr uid_t other = 4711;
  if (lchown((top_ + "/link").c_str(), other, other) != 0) GTEST_SKIP() << "not root";
  fs::create_symlink("link/below", top_ + "/own");
  for (const char* path : {"/link", "/link/", "/link/below", "/link/..", "/own"})
    EXPECT_THROW(named_path(top_ + path), Error) << path;
  EXPECT_TRUE(is_link_of_other(top_ + "/link"));
  EXPECT_FALSE(is_link_of_other(top_ + "/own"));
  EXPECT_FALSE(is_link_of_other(top_ + "/real"));
}

}  // namespace
}  // namespace cairn::cli
