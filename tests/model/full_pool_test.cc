// Full pools: ENOSPC means that there is no block left but the reserve, and what frees space works.
#include <fcntl.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <vector>

#include "model/temporary_pool.h"
#include "support/sizes.h"

namespace cairn::test {
namespace {

// Writes `piece` bytes at a time until nothing more fits; the bytes written.
uint64_t fill_file(cairn_file* file, uint64_t piece) {
  const std::vector<uint8_t> bytes(piece, 0x5a);
  uint64_t done = 0;
  for (;;) {
    const ssize_t n = cairn_pwrite(file, bytes.data(), piece, done);
    if (n == -ENOSPC) return done;
    EXPECT_GT(n, 0) << cairn_last_error();
    if (n <= 0) return done;
    done += static_cast<uint64_t>(n);
  }
}

cairn_file* open_new(cairn_pool* pool, const std::string& name) {
  cairn_file* file = nullptr;
  const int result = cairn_open(pool, CAIRN_ROOT, name.c_str(), O_RDWR | O_CREAT, 0600, &file);
  if (result == -ENOSPC) return nullptr;
  EXPECT_EQ(result, 0) << cairn_last_error();
  return file;
}

struct FullPool : testing::Test {
  TemporaryFolder folder;
  std::string path = folder.path() + "/pool";
};

// A write of a whole chunk looked for an entirely free one, found a partly free one, and looked
// again.
TEST_F(FullPool, AWriteOfAChunkIntoAFragmentedPoolEnds) {
  make_pool(path, uint64_t{8} << 20);
  cairn_pool* pool = attach(path);
  ASSERT_NE(pool, nullptr);
  cairn_file* small = open_new(pool, "small");
  ASSERT_NE(small, nullptr);
  const uint64_t size = fill_file(small, block_bytes);
  for (uint64_t at = 0; at < size; at += 2 * block_bytes)
    ASSERT_EQ(cairn_fallocate(small, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, block_bytes),
              0);
  cairn_file* large = open_new(pool, "large");
  ASSERT_NE(large, nullptr);
  const std::vector<uint8_t> bytes(uint64_t{2} << 20, 1);
  const ssize_t n = cairn_pwrite(large, bytes.data(), bytes.size(), bytes.size());
  EXPECT_GT(n, static_cast<ssize_t>(size / 4)) << cairn_last_error();
  cairn_pool_detach(pool);
  EXPECT_EQ(check_pool(path), 0);
}

TEST_F(FullPool, EverythingThatFreesSpaceWorks) {
  make_pool(path, uint64_t{8} << 20);
  cairn_pool* pool = attach(path);
  ASSERT_NE(pool, nullptr);
  ASSERT_EQ(cairn_mkdir(pool, CAIRN_ROOT, "d", 0700), 0);
  const uint64_t before = used_bytes(pool);
  for (int round = 0; round < 5; ++round) {
    std::vector<cairn_file*> files;
    for (int i = 0; i < 6; ++i) {
      files.push_back(open_new(pool, "f" + std::to_string(i)));
      ASSERT_NE(files.back(), nullptr);
      ASSERT_EQ(cairn_pwrite(files.back(), "x", 1, uint64_t{1} << 41), 1);
    }
    ASSERT_EQ(cairn_setxattr(pool, cairn_file_ino(files[0]), 0, "user.a", "1", 1, 0), 0);
    for (cairn_file* file : files) fill_file(file, 3 * block_bytes + 5);
    cairn_pool_info info;
    ASSERT_EQ(cairn_pool_get_info(pool, &info), 0);
    EXPECT_EQ(info.usable - info.used, info.reserve) << "ENOSPC, but free blocks were left";
    EXPECT_EQ(cairn_pwrite(files[0], "y", 1, 0), 1) << "overwriting needs no space";
    EXPECT_EQ(cairn_rename(pool, CAIRN_ROOT, "f0", CAIRN_ROOT, "f1", 0), 0) << cairn_last_error();
    EXPECT_EQ(cairn_fallocate(files[2], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 100, 50000), 0)
        << cairn_last_error();
    EXPECT_EQ(cairn_ftruncate(files[3], 5), 0) << cairn_last_error();
    EXPECT_EQ(cairn_unlink(pool, CAIRN_ROOT, "f4"), 0) << cairn_last_error();
    for (int i : {1, 2, 3, 5})
      EXPECT_EQ(cairn_unlink(pool, CAIRN_ROOT, ("f" + std::to_string(i)).c_str()), 0)
          << cairn_last_error();
    for (cairn_file* file : files) EXPECT_EQ(cairn_close(file), 0);
    // Tables of inodes and open files stay; nothing else does, and they do not grow from round to
    // round.
    EXPECT_LE(used_bytes(pool), before + 12 * block_bytes) << "round " << round;
  }
  cairn_pool_detach(pool);
  EXPECT_EQ(check_pool(path), 0);
}

// What is freed is there for the next write at the shared offset too, and at once: it held the
// offset's lock in a way that withheld the freed blocks from itself.
TEST_F(FullPool, AWriteAtTheSharedOffsetTakesWhatWasFreed) {
  make_pool(path, uint64_t{8} << 20);
  cairn_pool* pool = attach(path);
  ASSERT_NE(pool, nullptr);
  for (const int flags : {0, O_APPEND}) {
    const std::vector<uint8_t> bytes(10 * block_bytes, 7);
    cairn_file* old = open_new(pool, "old");
    cairn_file* full = open_new(pool, "full");
    cairn_file* file = nullptr;
    ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, "new", O_RDWR | O_CREAT | flags, 0600, &file), 0);
    ASSERT_TRUE(old != nullptr && full != nullptr);
    ASSERT_EQ(cairn_pwrite(old, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    fill_file(full, block_bytes);
    ASSERT_EQ(cairn_close(old), 0);
    ASSERT_EQ(cairn_unlink(pool, CAIRN_ROOT, "old"), 0);
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(cairn_write(file, bytes.data(), bytes.size() / 2),
              static_cast<ssize_t>(bytes.size() / 2))
        << cairn_last_error();
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(900))
        << "it waited for somebody inside a call, and nobody else is there";
    for (const char* name : {"full", "new"}) EXPECT_EQ(cairn_unlink(pool, CAIRN_ROOT, name), 0);
    for (cairn_file* other : {full, file}) EXPECT_EQ(cairn_close(other), 0);
  }
  cairn_pool_detach(pool);
  EXPECT_EQ(check_pool(path), 0);
}

// Processes that remove their files and write new ones at the same time always find the room that
// is there. Each waited inside its call for the others to leave theirs, and all gave up.
TEST_F(FullPool, ThoseWhoWaitForEachOthersBlocksGetThem) {
  make_pool(path, uint64_t{16} << 20);
  cairn_pool* pool = attach(path);
  ASSERT_NE(pool, nullptr);
  cairn_pool_info info;
  ASSERT_EQ(cairn_pool_get_info(pool, &info), 0);
  cairn_pool_detach(pool);
  constexpr int writers = 4;
  constexpr int rounds = 25;
  // Nodes of the maps, and what each lane keeps for itself, need some blocks besides.
  const uint64_t share = (info.usable - info.used - info.reserve) / block_bytes / writers - 24;
  std::vector<pid_t> children;
  for (int i = 0; i < writers; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      cairn_pool* mine = attach(path);
      if (mine == nullptr) _exit(2);
      const std::vector<uint8_t> bytes(share * block_bytes, 3);
      const std::string name = "p" + std::to_string(i);
      for (int round = 0; round < rounds; ++round) {
        cairn_file* file = open_new(mine, name);
        if (file == nullptr) _exit(3);
        for (uint64_t done = 0; done < bytes.size();) {
          const uint64_t piece = std::min<uint64_t>(bytes.size() - done, 16 * block_bytes);
          const ssize_t n = cairn_pwrite(file, bytes.data() + done, piece, done);
          if (n <= 0) {
            ADD_FAILURE() << "round " << round << ", byte " << done << ": " << cairn_last_error();
            if (cairn_pool_get_info(mine, &info) == 0)
              ADD_FAILURE() << (info.usable - info.used - info.reserve) / block_bytes
                            << " blocks free";
            _exit(1);
          }
          done += static_cast<uint64_t>(n);
        }
        EXPECT_EQ(cairn_close(file), 0);
        EXPECT_EQ(cairn_unlink(mine, CAIRN_ROOT, name.c_str()), 0) << cairn_last_error();
      }
      cairn_pool_detach(mine);
      _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(check_pool(path), 0);
}

// 64 processes fill one small pool at once.
TEST_F(FullPool, IsExactWith64Processes) {
  make_pool(path, uint64_t{64} << 20, 80);
  cairn_pool* pool = attach(path);
  ASSERT_NE(pool, nullptr);
  const uint64_t before = used_bytes(pool);
  cairn_pool_detach(pool);
  // Nobody leaves before all are full: a lane that is given up takes nothing with it, but the test
  // is about lanes that are in use.
  int full[2];
  int leave[2];
  ASSERT_EQ(pipe(full), 0);
  ASSERT_EQ(pipe(leave), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < 64; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      ::close(leave[1]);
      cairn_pool* mine = attach(path);
      if (mine == nullptr) _exit(2);
      cairn_file* file = open_new(mine, "p" + std::to_string(i));
      if (file != nullptr) {
        fill_file(file, block_bytes * static_cast<uint64_t>(1 + i % 5));
        fill_file(file, block_bytes);
      }
      char byte = 'f';
      if (write(full[1], &byte, 1) != 1 || read(leave[0], &byte, 1) != 0) _exit(3);
      if (file != nullptr && fill_file(file, block_bytes) % block_bytes != 0) _exit(4);
      cairn_pool_detach(mine);
      _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    children.push_back(child);
  }
  for (int i = 0; i < 64; ++i) {
    char byte;
    ASSERT_EQ(read(full[0], &byte, 1), 1);
  }
  pool = attach(path);
  ASSERT_NE(pool, nullptr);
  cairn_pool_info info;
  ASSERT_EQ(cairn_pool_get_info(pool, &info), 0);
  EXPECT_EQ(info.usable - info.used, info.reserve) << "ENOSPC, but free blocks were left";
  ::close(leave[1]);
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  for (int fd : {full[0], full[1], leave[0]}) ::close(fd);
  for (int i = 0; i < 64; ++i) {
    const int result = cairn_unlink(pool, CAIRN_ROOT, ("p" + std::to_string(i)).c_str());
    EXPECT_TRUE(result == 0 || result == -ENOENT) << cairn_last_error();
  }
  EXPECT_LE(used_bytes(pool), before + 40 * block_bytes);
  cairn_pool_detach(pool);
  EXPECT_EQ(check_pool(path), 0);
}

}  // namespace
}  // namespace cairn::test
