// What small histories never reach: directories whose index grows, files of whole chunks that are
// cut in the middle of one.
#include <fcntl.h>

#include <map>
#include <vector>

#include "model/temporary_pool.h"

namespace cairn::test {
namespace {

class Large : public testing::Test {
 protected:
  void SetUp() override {
    make_pool(path, uint64_t{64} << 20, 4);
    pool = attach(path);
    ASSERT_NE(pool, nullptr);
  }
  void TearDown() override {
    cairn_pool_detach(pool);
    EXPECT_EQ(check_pool(path), 0);
  }
  void attach_anew() {
    cairn_pool_detach(pool);
    pool = attach(path);
    ASSERT_NE(pool, nullptr);
  }

  TemporaryFolder folder;
  const std::string path = folder.path() + "/pool";
  cairn_pool* pool = nullptr;
};

// The names of a directory, each with how often it was listed.
std::map<std::string, int> listed(cairn_pool* pool, cairn_ino directory) {
  std::map<std::string, int> names;
  std::vector<cairn_dirent> batch(100);
  for (uint64_t cookie = 0;;) {
    const int n = cairn_readdir(pool, directory, cookie, batch.data(), batch.size());
    EXPECT_GE(n, 0) << cairn_last_error();
    if (n <= 0) return names;
    for (int i = 0; i < n; ++i) ++names[batch[static_cast<size_t>(i)].name];
    cookie = batch[static_cast<size_t>(n) - 1].cookie;
  }
}

TEST_F(Large, ADirectoryFindsItsNamesWhileItsIndexGrows) {
  constexpr int most = 6000;
  const auto name = [](int i) { return "d/a name of some length, number " + std::to_string(i); };
  ASSERT_EQ(cairn_mkdir(pool, CAIRN_ROOT, "d", 0700), 0);
  cairn_stat st{};
  ASSERT_EQ(cairn_lookup(pool, CAIRN_ROOT, "d", 0, &st), 0);
  const cairn_ino directory = st.ino;
  for (int i = 0; i < most; ++i) {
    ASSERT_EQ(cairn_mknod(pool, CAIRN_ROOT, name(i).c_str(), S_IFREG | 0600), 0)
        << i << ": " << cairn_last_error();
    if (i % 3 == 0 && i > 100) {
      ASSERT_EQ(cairn_unlink(pool, CAIRN_ROOT, name(i - 100).c_str()), 0) << i;
    }
  }
  const auto is_there = [&](int i) { return (i + 100) % 3 != 0 || i + 100 >= most || i == 0; };
  for (int round = 0; round < 2; ++round) {
    size_t there = 0;
    for (int i = 0; i < most; ++i) {
      const int found = cairn_lookup(pool, CAIRN_ROOT, name(i).c_str(), 0, &st);
      ASSERT_EQ(found, is_there(i) ? 0 : -ENOENT) << name(i);
      there += is_there(i) ? 1 : 0;
    }
    const auto names = listed(pool, directory);
    EXPECT_EQ(names.size(), there + 2) << "with . and ..";
    for (const auto& [text, times] : names) ASSERT_EQ(times, 1) << text;
    attach_anew();
  }
  for (int i = 0; i < most; ++i) {
    if (!is_there(i)) continue;
    ASSERT_EQ(cairn_unlink(pool, CAIRN_ROOT, name(i).c_str()), 0) << name(i);
  }
  EXPECT_EQ(cairn_rmdir(pool, CAIRN_ROOT, "d"), 0) << cairn_last_error();
}

class Leaves : public Large {
 protected:
  static constexpr uint64_t chunk = uint64_t{2} << 20;
  static constexpr uint64_t chunks = 6;

  void SetUp() override {
    Large::SetUp();
    used_before = used_bytes(pool);
    ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, "f", O_CREAT | O_RDWR, 0600, &file), 0);
    // Whole chunks in one call each: their map is one entry a chunk.
    std::vector<uint64_t> piece(chunk / 8);
    for (uint64_t c = 0; c < chunks; ++c) {
      for (size_t i = 0; i < piece.size(); ++i) piece[i] = c * chunk + i * 8 + 1;
      ASSERT_EQ(cairn_pwrite(file, piece.data(), chunk, c * chunk), static_cast<ssize_t>(chunk));
    }
  }
  void TearDown() override {
    cairn_close(file);
    Large::TearDown();
  }
  // Each word says where it stands; a hole, and what lies beyond `size`, is zeros.
  void expect_bytes(uint64_t size, uint64_t hole_from = 0, uint64_t hole_to = 0) {
    std::vector<uint64_t> words(chunks * chunk / 8);
    ASSERT_EQ(cairn_ftruncate(file, chunks * chunk), 0);
    ASSERT_EQ(cairn_pread(file, words.data(), chunks * chunk, 0),
              static_cast<ssize_t>(chunks * chunk));
    for (uint64_t at = 0; at < chunks * chunk; at += 8) {
      const bool is_hole = at >= size || (at >= hole_from && at < hole_to);
      ASSERT_EQ(words[at / 8], is_hole ? 0 : at + 1) << "offset " << at;
    }
  }

  cairn_file* file = nullptr;
  uint64_t used_before = 0;
};

TEST_F(Leaves, ATruncateCutsAChunkInItsMiddle) {
  const uint64_t size = 2 * chunk + 40 * 4096;
  const uint64_t used = used_bytes(pool);
  ASSERT_EQ(cairn_ftruncate(file, size), 0) << cairn_last_error();
  // What lay beyond has come back, but for the node that now maps the cut chunk's blocks one by
  // one.
  const uint64_t cut = chunks * chunk - size;
  EXPECT_LE(used_bytes(pool), used - cut + uint64_t{4} * 4096);
  EXPECT_GE(used_bytes(pool), used - cut);
  expect_bytes(size);
}

TEST_F(Leaves, AHoleInAChunkLeavesWhatIsAroundIt) {
  const uint64_t from = chunk + 8 * 4096;
  const uint64_t to = 3 * chunk + 100 * 4096;
  const uint64_t used = used_bytes(pool);
  ASSERT_EQ(cairn_fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, to - from), 0)
      << cairn_last_error();
  EXPECT_LE(used_bytes(pool), used - (to - from) + uint64_t{4} * 4096);
  expect_bytes(chunks * chunk, from, to);
}

TEST_F(Leaves, AnUnlinkedFileGivesItsChunksBack) {
  ASSERT_EQ(cairn_unlink(pool, CAIRN_ROOT, "f"), 0);
  ASSERT_EQ(cairn_close(file), 0);
  EXPECT_LE(used_bytes(pool), used_before + uint64_t{16} * 4096);
  ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, "g", O_CREAT | O_RDWR, 0600, &file), 0);
}

}  // namespace
}  // namespace cairn::test
