#include "pools/pool_path.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace cairn::cli {
namespace {

void expect(const std::string& text, bool local_allowed, bool in_pool, const std::string& pool,
            const std::string& path) {
  const PoolPath parsed = parse_pool_path(text, local_allowed);
  EXPECT_EQ(parsed.in_pool, in_pool) << text;
  EXPECT_EQ(parsed.pool, pool) << text;
  EXPECT_EQ(parsed.path, path) << text;
}

TEST(PoolPath, Forms) {
  expect("big:/a/b", true, true, "big", "/a/b");
  expect("big:a", true, true, "big", "/a");
  expect(":/a", true, true, "", "/a");
  expect("/dev/shm/p:/a:b", true, true, "/dev/shm/p", "/a:b");
  expect("/a/b", true, false, "", "/a/b");
  expect("/a/b", false, true, "", "/a/b");
  expect("a", false, true, "", "/a");
  expect("", false, true, "", "/");
  expect("./a:b", true, false, "", "./a:b");
  expect("big:", false, true, "big", "/");
}

TEST(PoolPath, Names) {
  EXPECT_EQ(join("/", "a"), "/a");
  EXPECT_EQ(join("/a", "b"), "/a/b");
  EXPECT_EQ(base_name("/a/b"), "b");
  EXPECT_EQ(base_name("/a/b//"), "b");
  EXPECT_EQ(base_name("b"), "b");
  EXPECT_EQ(base_name("/"), "/");
}

TEST(PoolPath, ModesAreShownAsLsShowsThem) {
  EXPECT_EQ(mode_text(S_IFDIR | 0755), "drwxr-xr-x");
  EXPECT_EQ(mode_text(S_IFREG | 04711), "-rws--x--x");
  EXPECT_EQ(mode_text(S_IFLNK | 0777), "lrwxrwxrwx");
  EXPECT_EQ(mode_text(S_IFDIR | 01777), "drwxrwxrwt");
  EXPECT_EQ(mode_text(S_IFREG | 0644), "-rw-r--r--");
}

}  // namespace
}  // namespace cairn::cli
