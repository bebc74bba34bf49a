// The pairs of calls that are made to overlap: those that meet in a directory, a file or the space.
#include <fcntl.h>

#include "crash/interleaved.h"

namespace cairn::test {
namespace {

void create(cairn_pool* pool, const char* name, int flags = 0) {
  cairn_file* file = nullptr;
  if (cairn_open(pool, CAIRN_ROOT, name, O_RDWR | O_CREAT | flags, 0640, &file) == 0)
    cairn_close(file);
}

void write(cairn_pool* pool, const char* name, char c, size_t size, uint64_t offset,
           int flags = 0) {
  cairn_file* file = nullptr;
  if (cairn_open(pool, CAIRN_ROOT, name, O_RDWR | flags, 0640, &file) != 0) return;
  const std::string bytes(size, c);
  if ((flags & O_APPEND) != 0)
    EXPECT_EQ(cairn_write(file, bytes.data(), size), static_cast<ssize_t>(size));
  else
    EXPECT_EQ(cairn_pwrite(file, bytes.data(), size, offset), static_cast<ssize_t>(size));
  cairn_close(file);
}

void cut(cairn_pool* pool, const char* name, uint64_t size) {
  cairn_stat st{};
  if (cairn_lookup(pool, CAIRN_ROOT, name, CAIRN_NOFOLLOW, &st) == 0)
    cairn_truncate(pool, st.ino, 0, size);
}

void rename(cairn_pool* pool, const char* from, const char* to, unsigned flags = 0) {
  cairn_rename(pool, CAIRN_ROOT, from, CAIRN_ROOT, to, flags);
}

void reclaim(cairn_pool* pool) {
  cairn_pool_info info;
  EXPECT_EQ(cairn_pool_get_info(pool, &info), 0);
}

void attribute(cairn_pool* pool, const char* name, char c) {
  cairn_stat st{};
  EXPECT_EQ(cairn_lookup(pool, CAIRN_ROOT, "a", 0, &st), 0);
  EXPECT_EQ(cairn_setxattr(pool, st.ino, 0, name, std::string(300, c).data(), 300, 0), 0);
}

}  // namespace

const std::vector<Pair>& all_pairs() {
  using Pool = cairn_pool*;
  static const std::vector<Pair> pairs = {
      {"create two names", {[](Pool p) { create(p, "d/x"); }, [](Pool p) { create(p, "d/y"); }}},
      {"create one name",
       {[](Pool p) { create(p, "d/x"); }, [](Pool p) { create(p, "d/x", O_EXCL); }}},
      {"unlink and create",
       {[](Pool p) { cairn_unlink(p, CAIRN_ROOT, "a"); }, [](Pool p) { create(p, "a"); }}},
      {"an empty file ends and is opened",
       {[](Pool p) { cairn_unlink(p, CAIRN_ROOT, "empty"); }, [](Pool p) { create(p, "empty"); }}},
      {"unlink twice",
       {[](Pool p) { cairn_unlink(p, CAIRN_ROOT, "b"); },
        [](Pool p) { cairn_unlink(p, CAIRN_ROOT, "b"); }}},
      {"unlink and truncate",
       {[](Pool p) { cairn_unlink(p, CAIRN_ROOT, "b"); }, [](Pool p) { cut(p, "b", 5000); }}},
      {"rename over and unlink",
       {[](Pool p) { rename(p, "a", "b"); }, [](Pool p) { cairn_unlink(p, CAIRN_ROOT, "b"); }}},
      {"rename one file twice",
       {[](Pool p) { rename(p, "a", "d/a"); }, [](Pool p) { rename(p, "a", "e/a"); }}},
      {"exchange and rename",
       {[](Pool p) { rename(p, "a", "d/f", 2); }, [](Pool p) { rename(p, "d/f", "e/f"); }}},
      {"mkdir and rmdir",
       {[](Pool p) { cairn_mkdir(p, CAIRN_ROOT, "e/g", 0700); },
        [](Pool p) { cairn_rmdir(p, CAIRN_ROOT, "e"); }}},
      {"directories into each other",
       {[](Pool p) { rename(p, "d", "e/d"); }, [](Pool p) { rename(p, "e", "d/e"); }}},
      {"link and unlink",
       {[](Pool p) { cairn_link(p, CAIRN_ROOT, "a", CAIRN_ROOT, "d/a2", 0); },
        [](Pool p) { cairn_unlink(p, CAIRN_ROOT, "a"); }}},
      {"two attributes",
       {[](Pool p) { attribute(p, "user.x", '1'); }, [](Pool p) { attribute(p, "user.y", '2'); }}},
      {"two truncates", {[](Pool p) { cut(p, "b", 5000); }, [](Pool p) { cut(p, "b", 30'000); }}},
      {"extend and truncate",
       {[](Pool p) { write(p, "b", 'B', 20'000, 45'000); }, [](Pool p) { cut(p, "b", 100); }},
       true},
      {"fill one hole",
       {[](Pool p) { write(p, "d/f", 'x', 1500, 20'000); },
        [](Pool p) { write(p, "d/f", 'y', 1500, 22'000); }},
       true},
      {"extend and write below the end",
       {[](Pool p) { write(p, "b", 'B', 20'000, 45'000); },
        [](Pool p) { write(p, "b", 'C', 1000, 64'000); }},
       true},
      {"append twice",
       {[](Pool p) { write(p, "log", '1', 3000, 0, O_APPEND); },
        [](Pool p) { write(p, "log", '1', 5000, 0, O_APPEND); }},
       true},
      {"reclaim and write",
       {[](Pool p) {
          cairn_unlink(p, CAIRN_ROOT, "b");
          reclaim(p);
        },
        [](Pool p) { write(p, "a", 'A', 60'000, 8192); }},
       true},
  };
  return pairs;
}

}  // namespace cairn::test
