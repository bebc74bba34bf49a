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

// Every block has held what was another file's: none is taken without being zeroed, wherever it is
// taken from.
void dirty_all(CrashLab& lab) {
  cairn_pool* pool = lab.pool();
  cairn_file* file = nullptr;
  ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, "full", O_RDWR | O_CREAT, 0600, &file), 0);
  const std::string bytes(400'000, 'S');
  uint64_t end = 0;
  for (ssize_t n; (n = cairn_pwrite(file, bytes.data(), bytes.size(), end)) > 0;)
    end += static_cast<uint64_t>(n);
  ASSERT_GT(end, 3'000'000U);
  ASSERT_EQ(cairn_close(file), 0);
  ASSERT_EQ(cairn_unlink(pool, CAIRN_ROOT, "full"), 0);
  reclaim(pool);
  // Its nodes were left empty: what is taken instead of them holds text.
  const auto name = [](int i) { return "text" + std::to_string(i); };
  for (int i = 0; i < 8; ++i)
    ASSERT_EQ(cairn_symlink(pool, std::string(4000, 'S').c_str(), CAIRN_ROOT, name(i).c_str()), 0);
  for (int i = 0; i < 8; ++i) ASSERT_EQ(cairn_unlink(pool, CAIRN_ROOT, name(i).c_str()), 0);
  reclaim(pool);
}

// A hole that no node covers yet.
void a_hole(CrashLab& lab) {
  dirty_all(lab);
  create(lab.pool(), "hole");
  cut(lab.pool(), "hole", 400'000);
}

// No inode is free: the next one needs a new block of the table.
void no_free_inode(CrashLab& lab) {
  dirty_all(lab);
  create(lab.pool(), "e/g");
  const file::FileSystem& fs = *lab.pool()->fs;
  const auto any_free = [&fs] {
    const uint64_t end = fs.pool.state->itable_blocks.load() * format::inodes_per_block;
    for (uint64_t number = format::root_inode; number < end; ++number)
      if (!file::is_live(*file::inode_at(fs, number))) return true;
    return false;
  };
  for (int i = 0; any_free(); ++i) create(lab.pool(), ("more" + std::to_string(i)).c_str());
}

// What is cut from it hangs from direct entries, a leaf, and a node behind that.
void a_leaf(CrashLab& lab) {
  create(lab.pool(), "leaf");
  for (const auto& [size, offset] : {std::pair{20'000, 0}, {2 << 20, 2 << 20}, {300'000, 4 << 20}})
    write(lab.pool(), "leaf", 'L', static_cast<size_t>(size), static_cast<uint64_t>(offset));
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
      {"write below one new node",
       {[](Pool p) { write(p, "hole", '1', 1500, 100'000); },
        [](Pool p) { write(p, "hole", '2', 1500, 300'000); }},
       true,
       a_hole},
      {"create in a full table",
       {[](Pool p) { create(p, "d/x"); }, [](Pool p) { create(p, "e/y"); }},
       false,
       no_free_inode},
      {"reclaim and map",
       {[](Pool p) {
          cut(p, "b", 0);
          reclaim(p);
        },
        [](Pool p) { write(p, "a", 'A', 1000, 3000); }},
       true,
       nullptr,
       "b"},
      {"reclaim a leaf and map",
       {[](Pool p) {
          cut(p, "leaf", 0);
          reclaim(p);
        },
        [](Pool p) { write(p, "a", 'A', 1000, 3000); }},
       true,
       a_leaf,
       "leaf"},
  };
  return pairs;
}

}  // namespace cairn::test
