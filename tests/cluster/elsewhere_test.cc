// Ordinary files that processes of one node have written through other calls, as those of other nodes meet them by name.
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <map>
#include <thread>

#include "cluster/covered_nodes.h"

namespace cairn::test {
namespace {

std::string bytes_of(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 + i / 4096);
  return bytes;
}

cairn_file* open_own(const CoveredNodes& covered, uint32_t node, const char* path, int flags) {
  cairn_file* file = nullptr;
  EXPECT_EQ(cairn_open(covered.pool(node), covered.top(node), path, flags, 0640, &file), 0)
      << path << " on node " << node << ": " << cairn_last_error();
  return file;
}

void write_own(const CoveredNodes& covered, uint32_t node, const char* path,
               const std::string& bytes) {
  cairn_file* file = open_own(covered, node, path, O_RDWR | O_CREAT);
  EXPECT_EQ(cairn_pwrite(file, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  cairn_close(file);
}

std::string read_all(cairn_file* file) {
  cairn_stat st = {};
  EXPECT_EQ(cairn_fstat(file, &st), 0);
  std::string bytes(st.size + 1, '?');
  const ssize_t n = cairn_pread(file, bytes.data(), bytes.size(), 0);
  EXPECT_GE(n, 0) << cairn_last_error();
  bytes.resize(n < 0 ? 0 : static_cast<size_t>(n));
  return bytes;
}

std::string read_own(const CoveredNodes& covered, uint32_t node, const char* path) {
  cairn_file* file = open_own(covered, node, path, O_RDONLY);
  std::string bytes = read_all(file);
  cairn_close(file);
  return bytes;
}

std::map<std::string, uint64_t> list(cairn_job* job, const char* directory) {
  std::map<std::string, uint64_t> names;
  const auto visit = [](void* to, const char* name, uint64_t ino) {
    (*static_cast<std::map<std::string, uint64_t>*>(to))[name] = ino;
    return 0;
  };
  EXPECT_EQ(cairn_shared_list_ordinary(job, directory, visit, &names), 0) << cairn_last_error();
  return names;
}

TEST(OrdinaryFilesOfOtherNodes, AreShownAndRead) {
  CoveredNodes covered(3);
  ASSERT_EQ(cairn_shared_mkdir(covered.job(0), "out", 0755), 0);
  const std::string bytes = bytes_of(20'000'000);
  write_own(covered, 1, "out/file", bytes);
  cairn_stat own = {};
  ASSERT_EQ(cairn_lookup(covered.pool(1), covered.top(1), "out/file", 0, &own), 0);
  uint64_t number = 0;
  for (const uint32_t node : {0U, 2U}) {
    cairn_stat st = {};
    ASSERT_EQ(cairn_shared_stat_ordinary(covered.job(node), "out/file", &st), 0)
        << cairn_last_error();
    EXPECT_EQ(st.size, bytes.size());
    EXPECT_EQ(st.mode, S_IFREG | 0640U);
    EXPECT_EQ(st.mtime_ns, own.mtime_ns);
    EXPECT_EQ(st.blocks, own.blocks);
    EXPECT_NE(st.ino, own.ino);
    EXPECT_TRUE(number == 0 || st.ino == number);
    number = st.ino;
    cairn_file* file = nullptr;
    ASSERT_EQ(cairn_shared_open_reader(covered.job(node), "out/file", O_RDONLY, &file), 0);
    EXPECT_TRUE(read_all(file) == bytes);
    char some[3];
    EXPECT_EQ(cairn_pread(file, some, 3, 12'345'678), 3);
    EXPECT_EQ(std::string(some, 3), bytes.substr(12'345'678, 3));
    cairn_close(file);
    EXPECT_EQ(list(covered.job(node), "out"), (std::map<std::string, uint64_t>{{"file", number}}));
  }
  cairn_stat st = {};
  for (const char* none : {"out/none", "none/file", "out", "out/file/below"})
    EXPECT_EQ(cairn_shared_stat_ordinary(covered.job(0), none, &st), -ENOENT) << none;
  // Not to its own node: there it is a file as any.
  EXPECT_EQ(cairn_shared_stat_ordinary(covered.job(1), "out/file", &st), -ENOENT);
  EXPECT_TRUE(list(covered.job(1), "out").empty());
}

TEST(OrdinaryFilesOfOtherNodes, AreListedHoweverManyThereAre) {
  CoveredNodes covered(2);
  for (int i = 0; i < 3000; ++i)
    covered.make_file(1,
                      ("a file with a name of some length, number " + std::to_string(i)).c_str());
  EXPECT_EQ(list(covered.job(0), "").size(), 3000U);
}

TEST(OrdinaryFilesOfOtherNodes, WhatIsGoneIsReadOnAndWhatIsCutIsAnError) {
  CoveredNodes covered(2);
  write_own(covered, 1, "gone", bytes_of(3'000'000));
  write_own(covered, 1, "cut", bytes_of(3'000'000));
  char byte = 0;
  cairn_file* gone = nullptr;
  cairn_file* cut = nullptr;
  ASSERT_EQ(cairn_shared_open_reader(covered.job(0), "gone", O_RDONLY, &gone), 0);
  ASSERT_EQ(cairn_shared_open_reader(covered.job(0), "cut", O_RDONLY, &cut), 0);
  EXPECT_EQ(cairn_shared_set_size(covered.job(0), "cut", 100), 0);
  EXPECT_EQ(cairn_shared_remove(covered.job(0), "gone"), 0);
  EXPECT_EQ(cairn_pread(gone, &byte, 1, 2'000'000), 1) << cairn_last_error();
  EXPECT_EQ(byte, bytes_of(2'000'001).back());
  EXPECT_EQ(cairn_pread(cut, &byte, 1, 2'000'000), -EIO);
  EXPECT_NE(std::string(cairn_last_error()).find("node1"), std::string::npos) << cairn_last_error();
  EXPECT_EQ(read_own(covered, 1, "cut"), bytes_of(100));
  cairn_close(gone);
  cairn_close(cut);
  EXPECT_EQ(cairn_shared_remove(covered.job(0), "gone"), -ENOENT);
  EXPECT_EQ(covered.mode(1, "gone"), 0U);
}

TEST(OrdinaryFilesOfOtherNodes, ChangeWhereTheyLie) {
  CoveredNodes covered(3);
  write_own(covered, 1, "file", "contents");
  write_own(covered, 2, "other", "replaced");
  EXPECT_EQ(cairn_shared_set_attributes(covered.job(0), "file", 0604, UINT32_MAX, UINT32_MAX, 5),
            0);
  cairn_stat st = {};
  ASSERT_EQ(cairn_lookup(covered.pool(1), covered.top(1), "file", 0, &st), 0);
  EXPECT_EQ(st.mode, S_IFREG | 0604U);
  EXPECT_EQ(st.mtime_ns, 5);
  EXPECT_EQ(cairn_shared_rename(covered.job(0), "file", "other"), 0) << cairn_last_error();
  EXPECT_EQ(covered.mode(2, "other"), 0U);
  EXPECT_EQ(covered.mode(1, "file"), 0U);
  EXPECT_EQ(read_own(covered, 1, "other"), "contents");
}

TEST(OrdinaryFilesOfOtherNodes, ComeHereUnlessTheyAreOpen) {
  CoveredNodes covered(2);
  const std::string bytes = bytes_of(10'000'000);
  write_own(covered, 1, "file", bytes);
  cairn_file* open = open_own(covered, 1, "file", O_RDWR);
  EXPECT_EQ(cairn_shared_make_plain(covered.job(0), "file", 0), -EBUSY);
  EXPECT_EQ(covered.mode(0, "file"), 0U);
  cairn_close(open);
  EXPECT_EQ(cairn_shared_make_plain(covered.job(0), "file", 0), 0) << cairn_last_error();
  EXPECT_EQ(covered.mode(1, "file"), 0U);
  EXPECT_EQ(covered.mode(0, "file"), S_IFREG | 0640U);
  EXPECT_TRUE(read_own(covered, 0, "file") == bytes);
  // Back, without its contents.
  EXPECT_EQ(cairn_shared_make_plain(covered.job(1), "file", 1), 0) << cairn_last_error();
  EXPECT_EQ(read_own(covered, 1, "file"), "");
  EXPECT_EQ(covered.mode(0, "file"), 0U);

  ASSERT_EQ(cairn_link(covered.pool(1), covered.top(1), "file", covered.top(1), "linked", 0), 0);
  EXPECT_EQ(cairn_shared_fetch(covered.job(0), "file"), -EBUSY);
  EXPECT_EQ(cairn_shared_fetch(covered.job(0), "none"), -ENOENT);
  covered.drain(0);
  covered.drain(1);
}

TEST(OrdinaryFilesOfOtherNodes, AreMadeOnOneNodeOnly) {
  CoveredNodes covered(3);
  for (int round = 0; round < 40; ++round) {
    const std::string name = "f" + std::to_string(round);
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < 6; ++i)
      threads.emplace_back([&, i] {
        const int result = cairn_shared_mknod(covered.job(i % 3), name.c_str(), 0640, 0);
        EXPECT_TRUE(result == 0 || result == -EEXIST || result == -ESTALE) << cairn_last_error();
      });
    for (std::thread& thread : threads) thread.join();
    int nodes = 0;
    for (uint32_t node = 0; node < 3; ++node)
      if (covered.mode(node, name.c_str()) != 0) ++nodes;
    EXPECT_EQ(nodes, 1) << name;
  }
}

TEST(OrdinaryFilesOfOtherNodes, AreRenamedToOneNameOnOneNodeOnly) {
  CoveredNodes covered(3);
  for (int round = 0; round < 40; ++round) {
    const std::string name = "to" + std::to_string(round);
    std::vector<std::thread> threads;
    for (uint32_t node = 0; node < 3; ++node) covered.make_file(node, ("from" + name).c_str());
    for (uint32_t node = 0; node < 3; ++node)
      threads.emplace_back([&, node] {
        EXPECT_EQ(
            cairn_shared_rename_name(covered.job(node), ("from" + name).c_str(), name.c_str(), 0),
            0)
            << cairn_last_error();
      });
    for (std::thread& thread : threads) thread.join();
    int nodes = 0;
    for (uint32_t node = 0; node < 3; ++node)
      if (covered.mode(node, name.c_str()) != 0) ++nodes;
    EXPECT_EQ(nodes, 1) << name;
  }
}

TEST(OrdinaryFilesOfOtherNodes, AFullPoolTakesNone) {
  CoveredNodes covered(2, 32 << 20);
  write_own(covered, 0, "here", bytes_of(20'000'000));
  write_own(covered, 1, "file", bytes_of(16'000'000));
  EXPECT_EQ(cairn_shared_make_plain(covered.job(0), "file", 0), -ENOSPC);
  EXPECT_EQ(covered.mode(0, "file"), 0U);
  EXPECT_TRUE(read_own(covered, 1, "file") == bytes_of(16'000'000));
}

TEST(OrdinaryFilesOfOtherNodes, OneOfManyMakesIt) {
  CoveredNodes covered(3);
  for (int round = 0; round < 20; ++round) {
    const std::string name = "lock" + std::to_string(round);
    std::atomic<int> made = 0;
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < 6; ++i)
      threads.emplace_back([&, i] {
        const int result = cairn_shared_mknod(covered.job(i % 3), name.c_str(), 0640, 1);
        EXPECT_TRUE(result == 0 || result == -EEXIST) << cairn_last_error();
        if (result == 0) ++made;
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(made, 1);
  }
}

cairn_file* open_writer(const CoveredNodes& covered, uint32_t node, const char* path, int flags) {
  cairn_file* file = nullptr;
  EXPECT_EQ(cairn_shared_open_writer(covered.job(node), path, flags, &file), 0)
      << path << " on node " << node << ": " << cairn_last_error();
  return file;
}

uint64_t size_of(cairn_file* file) {
  cairn_stat st = {};
  EXPECT_EQ(cairn_fstat(file, &st), 0) << cairn_last_error();
  return st.size;
}

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

// As a process does it that knows nothing of nodes: looks, then opens what is there or makes it.
cairn_file* open_or_make(const CoveredNodes& covered, uint32_t node, const char* path) {
  cairn_job* const job = covered.job(node);
  cairn_file* file = nullptr;
  for (int i = 0; i < 10'000; ++i) {
    cairn_stat st = {};
    int error = 0;
    if (cairn_lookup(covered.pool(node), covered.top(node), path, 0, &st) == 0) {
      error = cairn_open_ino(covered.pool(node), st.ino, st.generation, O_RDWR, &file);
    } else if (cairn_shared_stat_ordinary(job, path, &st) == 0) {
      error = cairn_shared_make_plain(job, path, 0);
      if (error == -EBUSY) error = cairn_shared_open_writer(job, path, O_RDWR, &file);
    } else {
      error = cairn_shared_create(job, path, O_RDWR | O_CREAT, 0640, &file);
    }
    if (file != nullptr) return file;
    EXPECT_TRUE(error == 0 || error == -ESTALE || error == -EEXIST || error == -ENOENT)
        << error << ": " << cairn_last_error();
  }
  ADD_FAILURE() << path << " changes faster than it can be opened";
  return nullptr;
}

// As IOR opens its file on all ranks.
TEST(OrdinaryFilesOfOtherNodes, AllThatMakeOneAtOnceHaveTheSame) {
  CoveredNodes covered(3);
  constexpr uint32_t writers = 6;
  for (int round = 0; round < 60; ++round) {
    const std::string name = "together" + std::to_string(round);
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < writers; ++i)
      threads.emplace_back([&, i] {
        cairn_file* file = open_or_make(covered, i % 3, name.c_str());
        if (file == nullptr) return;
        const char byte = static_cast<char>('a' + i);
        EXPECT_EQ(cairn_pwrite(file, &byte, 1, i), 1) << cairn_last_error();
        cairn_close(file);
      });
    for (std::thread& thread : threads) thread.join();
    int nodes = 0;
    for (uint32_t node = 0; node < 3; ++node) {
      if (covered.mode(node, name.c_str()) == 0) continue;
      ++nodes;
      EXPECT_EQ(read_own(covered, node, name.c_str()), "abcdef");
    }
    EXPECT_EQ(nodes, 1) << name;
  }
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

// Several processes of a node open it for writing at once: each has it then.
TEST(OrdinaryFilesOfOtherNodes, ManyOfANodeFetchIt) {
  CoveredNodes covered(2, 256 << 20);
  const std::string bytes = bytes_of(1'000'000);
  for (int round = 0; round < 20; ++round) {
    const std::string name = "f" + std::to_string(round);
    write_own(covered, 0, name.c_str(), bytes);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        // Busy while another one moves it, which takes long on a machine that has other things to do.
        int result = -EBUSY;
        while (result == -EBUSY) result = cairn_shared_make_plain(covered.job(1), name.c_str(), 0);
        EXPECT_TRUE(result == 0 || result == -ENOENT) << result << ": " << cairn_last_error();
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(read_own(covered, 1, name.c_str()), bytes);
  }
}

}  // namespace
}  // namespace cairn::test
