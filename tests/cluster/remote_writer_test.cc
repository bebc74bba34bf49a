// Ordinary files of other nodes that are written where they lie, because somebody has them open
// there.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <thread>

#include "cluster/files_of_nodes.h"

namespace cairn::test {
namespace {

cairn_file* open_writer(const CoveredNodes& covered, uint32_t node, const char* path, int flags) {
  cairn_file* file = nullptr;
  EXPECT_EQ(cairn_shared_open_writer(covered.job(node), path, flags, &file), 0)
      << path << " on node " << node << ": " << cairn_last_error();
  return file;
}

cairn_stat stat_of(cairn_file* file) {
  cairn_stat st = {};
  EXPECT_EQ(cairn_fstat(file, &st), 0) << cairn_last_error();
  return st;
}
uint64_t size_of(cairn_file* file) { return stat_of(file).size; }

// As the ranks of several hosts that write one file through POSIX calls.
TEST(OrdinaryFilesOfOtherNodes, AreWrittenWhereTheyAreOpen) {
  CoveredNodes covered(3);
  const std::string bytes = bytes_of(6'000'000);
  const auto size = static_cast<ssize_t>(bytes.size());
  cairn_file* own = open_own(covered, 1, "file", O_RDWR | O_CREAT);
  EXPECT_EQ(cairn_shared_make_plain(covered.job(0), "file", 0), -EBUSY);
  cairn_file* first = open_writer(covered, 0, "file", O_RDWR);
  cairn_file* last = open_writer(covered, 2, "file", O_WRONLY);
  EXPECT_EQ(size_of(first), 0U);
  EXPECT_EQ(cairn_pwrite(last, bytes.data(), bytes.size(), 2 * bytes.size()), size)
      << cairn_last_error();
  EXPECT_EQ(cairn_pwrite(own, bytes.data(), bytes.size(), bytes.size()), size);
  EXPECT_EQ(cairn_write(first, bytes.data(), bytes.size()), size);
  EXPECT_EQ(cairn_seek(first, 0, SEEK_CUR), size);
  EXPECT_EQ(cairn_seek(first, 0, SEEK_END), 3 * size);
  EXPECT_EQ(size_of(last), 3 * bytes.size());
  EXPECT_EQ(cairn_fsync(last), 0);
  for (cairn_file* file : {first, own}) EXPECT_TRUE(read_all(file) == bytes + bytes + bytes);
  char byte = 0;
  EXPECT_EQ(cairn_pread(last, &byte, 1, 0), -EBADF);
  EXPECT_EQ(cairn_ftruncate(first, 5), 0);
  EXPECT_EQ(read_all(own), bytes.substr(0, 5));
  EXPECT_EQ(cairn_read(first, &byte, 1), 0);
  // Node 1 closes it: it stays there.
  cairn_close(own);
  EXPECT_EQ(cairn_shared_make_plain(covered.job(0), "file", 0), -EBUSY);
  EXPECT_EQ(cairn_pwrite(last, "last", 4, 1), 4);
  cairn_close(first);
  cairn_close(last);
  EXPECT_EQ(cairn_shared_make_plain(covered.job(0), "file", 0), 0) << cairn_last_error();
  EXPECT_EQ(read_own(covered, 0, "file"), bytes.substr(0, 1) + "last");
  EXPECT_EQ(covered.mode(1, "file"), 0U);
  cairn_file* none = nullptr;
  EXPECT_EQ(cairn_shared_open_writer(covered.job(0), "none", O_RDWR, &none), -ENOENT);
}

TEST(OrdinaryFilesOfOtherNodes, ThatAreWrittenThereGetTheirAttributesThere) {
  CoveredNodes covered(2);
  cairn_file* own = open_own(covered, 1, "file", O_RDWR | O_CREAT);
  cairn_file* file = open_writer(covered, 0, "file", O_RDWR);
  const cairn_stat as_opened = stat_of(file);
  const cairn_ino number = as_opened.ino;
  const uint64_t generation = as_opened.generation;
  EXPECT_EQ(as_opened.mode, S_IFREG | 0640U);
  EXPECT_EQ(cairn_chmod(covered.pool(0), number, generation, 04604), 0) << cairn_last_error();
  EXPECT_EQ(cairn_utimens(covered.pool(0), number, generation, 5, 7), 0);
  if (geteuid() == 0) {
    EXPECT_EQ(cairn_chown(covered.pool(0), number, generation, 3, UINT32_MAX), 0);
  }
  for (cairn_file* each : {own, file}) {
    const cairn_stat st = stat_of(each);
    EXPECT_EQ(st.mode, S_IFREG | 04604U);
    EXPECT_EQ(st.atime_ns, 5);
    EXPECT_EQ(st.mtime_ns, 7);
    EXPECT_EQ(st.uid, geteuid() == 0 ? 3U : geteuid());
    EXPECT_EQ(st.gid, as_opened.gid);
  }
  EXPECT_EQ(cairn_utimens(covered.pool(0), number, generation, CAIRN_TIME_OMIT, CAIRN_TIME_NOW), 0);
  EXPECT_EQ(stat_of(own).atime_ns, 5);
  EXPECT_GT(stat_of(own).mtime_ns, as_opened.mtime_ns);
  EXPECT_EQ(cairn_chmod(covered.pool(0), number, generation + 1, 0600), -ESTALE);
  EXPECT_EQ(cairn_utimens(covered.pool(0), number, generation, CAIRN_TIME_OMIT, -1), 0);
  EXPECT_EQ(stat_of(own).mtime_ns, -1);
  EXPECT_EQ(stat_of(own).atime_ns, 5);
  // Removed, it is the same file as before.
  EXPECT_EQ(cairn_shared_remove(covered.job(0), "file"), 0);
  write_own(covered, 1, "file", "another");
  EXPECT_EQ(cairn_chmod(covered.pool(0), number, generation, 0611), 0);
  EXPECT_EQ(stat_of(own).mode, S_IFREG | 0611U);
  EXPECT_EQ(covered.mode(1, "file"), S_IFREG | 0640U);
  cairn_close(file);
  cairn_close(own);
}

TEST(OrdinaryFilesOfOtherNodes, AppendsOfAllNodesStayWhole) {
  CoveredNodes covered(3, 256 << 20);
  cairn_file* own = open_own(covered, 0, "log", O_WRONLY | O_CREAT | O_APPEND);
  constexpr int count = 20;
  const size_t sizes[] = {7, 100'000, 1'500'000};
  std::vector<std::thread> threads;
  for (uint32_t node = 0; node < 3; ++node)
    threads.emplace_back([&, node] {
      cairn_file* file = node == 0 ? own : open_writer(covered, node, "log", O_WRONLY | O_APPEND);
      const std::string line(sizes[node], static_cast<char>('a' + node));
      for (int i = 0; i < count; ++i)
        EXPECT_EQ(cairn_write(file, line.data(), line.size()), static_cast<ssize_t>(line.size()))
            << cairn_last_error();
      cairn_close(file);
    });
  for (std::thread& thread : threads) thread.join();
  const std::string log = read_own(covered, 0, "log");
  size_t found[3] = {};
  for (size_t at = 0; at < log.size();) {
    const auto node = static_cast<size_t>(log[at] - 'a');
    ASSERT_LT(node, 3U) << at;
    ASSERT_EQ(log.substr(at, sizes[node]), std::string(sizes[node], log[at])) << at;
    at += sizes[node];
    ++found[node];
  }
  for (const size_t lines : found) EXPECT_EQ(lines, static_cast<size_t>(count));
}

TEST(OrdinaryFilesOfOtherNodes, AppendsToAFullPoolAreCounted) {
  CoveredNodes covered(2, 32 << 20);
  cairn_file* own = open_own(covered, 1, "log", O_RDWR | O_CREAT);
  cairn_file* file = open_writer(covered, 0, "log", O_WRONLY | O_APPEND);
  const std::string bytes = bytes_of(1'300'000);
  std::string expected;
  ssize_t n = 0;
  while ((n = cairn_write(file, bytes.data(), bytes.size())) > 0)
    expected += bytes.substr(0, static_cast<size_t>(n));
  EXPECT_EQ(n, -ENOSPC) << cairn_last_error();
  EXPECT_TRUE(read_all(own) == expected) << size_of(own) << ", not " << expected.size();
  cairn_close(file);
  cairn_close(own);
}

TEST(OrdinaryFilesOfOtherNodes, ThatAreWrittenThereRefuseWhatWouldBeALie) {
  CoveredNodes covered(2, 32 << 20);
  cairn_file* own = open_own(covered, 1, "file", O_RDWR | O_CREAT);
  EXPECT_EQ(cairn_pwrite(own, "old", 3, 0), 3);
  cairn_file* file = open_writer(covered, 0, "file", O_RDWR | O_TRUNC);
  EXPECT_EQ(size_of(own), 0U);
  void* mapped = nullptr;
  EXPECT_EQ(cairn_mmap(file, nullptr, 4096, PROT_READ, MAP_SHARED, 0, &mapped), -ENODEV);
  EXPECT_EQ(cairn_companion(file), -ENOLCK);
  EXPECT_EQ(cairn_fallocate(file, 0, 0, 4096), -EOPNOTSUPP);
  // Full there: what fits is written and counted.
  const std::string bytes = bytes_of(1'000'000);
  ssize_t n = 0;
  uint64_t at = 0;
  while ((n = cairn_pwrite(file, bytes.data(), bytes.size(), at)) > 0)
    at += static_cast<uint64_t>(n);
  EXPECT_EQ(n, -ENOSPC);
  EXPECT_NE(std::string(cairn_last_error()).find("node1"), std::string::npos) << cairn_last_error();
  EXPECT_EQ(size_of(own), at);
  // Removed, it goes on until it is closed, and its space comes back.
  EXPECT_EQ(cairn_shared_remove(covered.job(0), "file"), 0);
  cairn_close(own);
  EXPECT_EQ(cairn_pwrite(file, "new", 3, 0), 3) << cairn_last_error();
  char text[3] = {};
  EXPECT_EQ(cairn_pread(file, text, 3, 0), 3);
  EXPECT_EQ(std::string(text, 3), "new");
  cairn_close(file);
  write_own(covered, 1, "next", bytes_of(20'000'000));
  // Without a job nobody can be asked.
  file = open_writer(covered, 0, "next", O_RDWR);
  covered.stop();
  EXPECT_EQ(cairn_pwrite(file, "new", 3, 0), -EIO);
  EXPECT_EQ(cairn_pread(file, text, 3, 0), -EIO);
  EXPECT_EQ(cairn_fsync(file), -EIO);
  cairn_close(file);
}

}  // namespace
}  // namespace cairn::test
