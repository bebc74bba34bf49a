// Tests which hidden places count, and what is moved into one.
#include "pool/medium/hidden_place.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

namespace cairn::pool {
namespace {

constexpr const char* left = ".cairn-unfinished-left";

class HiddenPlaces : public testing::Test {
 protected:
  HiddenPlaces() {
    EXPECT_NE(mkdtemp(place_.data()), nullptr);
    auto opened = Directory::open(place_);
    EXPECT_TRUE(opened.ok()) << last_detail();
    above_ = std::move(*opened);
  }
  ~HiddenPlaces() override {
    const std::string command = "rm -rf '" + place_ + "'";
    (void)!std::system(command.c_str());
  }

  void open_to_others(const std::string& name = "") const {
    EXPECT_EQ(chmod((place_ + "/" + name).c_str(), 0777), 0);
  }
  static void make_file(const Directory& directory, const std::string& name) {
    const int fd = openat(directory.descriptor(), name.c_str(), O_WRONLY | O_CREAT, 0600);
    EXPECT_GE(fd, 0) << name;
    close(fd);
  }
  // A directory with a pool's files in its directory `inner`.
  Directory make_with_pool(const std::string& name, const std::string& inner) const {
    EXPECT_TRUE(above_.make(name).ok()) << last_detail();
    auto outer = above_.enter(name);
    EXPECT_TRUE(outer->make(inner).ok());
    auto pool = outer->enter(inner);
    for (const char* folder : {"companion", "links"}) {
      EXPECT_TRUE(pool->make(folder).ok());
      make_file(*pool->enter(folder), "file");
    }
    for (const char* file : {"segment.0", "segment.1"}) make_file(*pool, file);
    return std::move(*outer);
  }
  // Returns true if the name is still beside a new pool once the remnants have been removed.
  bool stays(const std::string& name) {
    HiddenPlace place;
    EXPECT_TRUE(place.make(above_, "pool").ok()) << last_detail();
    return above_.has(name);
  }
  static std::string mark_of(const Directory& directory) {
    char text[32];
    std::snprintf(text, sizeof text, "%llx",
                  static_cast<unsigned long long>(directory.status().st_ino));
    return text;
  }

  std::string place_ = "/tmp/cairn-hidden-place-XXXXXX";
  Directory above_;
};

TEST_F(HiddenPlaces, OneThatOthersCannotHavePutThereIsRemoved) {
  make_with_pool(left, "pool");
  EXPECT_FALSE(stays(left));
}

TEST_F(HiddenPlaces, WhereOthersCanWriteTheMarkDecides) {
  open_to_others();
  const Directory one = make_with_pool(left, "pool");
  EXPECT_TRUE(stays(left));
  EXPECT_EQ(remove_hidden_place(above_, left).code(), EPERM);
  ASSERT_TRUE(one.make_link("1", "cairn-made").ok());
  EXPECT_TRUE(stays(left));
  ASSERT_TRUE(one.remove("cairn-made").ok());
  ASSERT_TRUE(one.make_link(mark_of(one), "cairn-made").ok());
  EXPECT_FALSE(stays(left));
}

TEST_F(HiddenPlaces, OneThatIsOpenToOthersStays) {
  const Directory one = make_with_pool(left, "pool");
  ASSERT_TRUE(one.make_link(mark_of(one), "cairn-made").ok());
  open_to_others(left);
  EXPECT_TRUE(stays(left));
}

TEST_F(HiddenPlaces, ALinkInItIsNotFollowed) {
  const Directory target = make_with_pool("private", "pool");
  ASSERT_TRUE(above_.make(left).ok());
  ASSERT_TRUE(above_.enter(left)->make_link("../private/pool", "pool").ok());
  EXPECT_TRUE(stays(left));
  EXPECT_TRUE(target.enter("pool")->has("segment.1"));
  EXPECT_TRUE(target.enter("pool")->enter("links")->has("file"));
}

TEST_F(HiddenPlaces, AnExchangedDirectoryGoesBack) {
  make_with_pool("pool", "inner");
  const auto pool = above_.enter("pool");
  ASSERT_TRUE(pool.ok());
  HiddenPlace place;
  ASSERT_TRUE(place.make(above_, "pool").ok()) << last_detail();
  ASSERT_TRUE(above_.rename("pool", above_, "moved").ok());
  make_with_pool("pool", "another");
  EXPECT_EQ(place.take(*pool).code(), ENOENT);
  EXPECT_TRUE(above_.enter("pool")->enter("another")->has("segment.1"));
  EXPECT_TRUE(above_.enter("moved")->enter("inner")->has("segment.1"));
}

}  // namespace
}  // namespace cairn::pool
