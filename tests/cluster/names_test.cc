// Directories and symbolic links in a job on several nodes: what one process does with them, the
// pools of all nodes get.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>
#include <thread>

#include "cluster/covered_nodes.h"

namespace cairn::test {
namespace {

TEST(NamesOfAJob, AreMadeAndRemovedOnAllNodes) {
  CoveredNodes covered(3);
  EXPECT_EQ(cairn_shared_mkdir(covered.job(1), "out", 0750), 0) << cairn_last_error();
  EXPECT_EQ(covered.mode("out"), S_IFDIR | 0750U);
  for (uint32_t node = 0; node < 3; ++node)
    EXPECT_EQ(cairn_shared_mkdir(covered.job(node), "out", 0700), -EEXIST);
  EXPECT_EQ(cairn_shared_mkdir(covered.job(2), "out/a", 0700), 0);
  EXPECT_EQ(cairn_shared_mkdir(covered.job(2), "none/a", 0700), -ENOENT);
  EXPECT_EQ(cairn_shared_set_everywhere(covered.job(0), "out/a", 0711, UINT32_MAX, UINT32_MAX,
                                        CAIRN_TIME_OMIT, CAIRN_TIME_OMIT),
            0);
  EXPECT_EQ(covered.mode("out/a"), S_IFDIR | 0711U);
  EXPECT_EQ(cairn_shared_symlink(covered.job(0), "a/b", "out/link"), 0);
  EXPECT_EQ(covered.mode("out/link"), S_IFLNK | 0777U);
  EXPECT_EQ(cairn_shared_symlink(covered.job(1), "a/b", "out/link"), -EEXIST);
  EXPECT_EQ(cairn_shared_rmdir(covered.job(1), "out"), -ENOTEMPTY);
  EXPECT_EQ(cairn_shared_rmdir(covered.job(1), "out/link"), -ENOTDIR);
  EXPECT_EQ(cairn_shared_unlink(covered.job(2), "out/link"), 0);
  EXPECT_EQ(covered.mode("out/link"), 0U);
  EXPECT_EQ(cairn_shared_rmdir(covered.job(0), "out/a"), 0);
  EXPECT_EQ(cairn_shared_rmdir(covered.job(0), "out/a"), -ENOENT);
  EXPECT_EQ(covered.mode("out/a"), 0U);
}

TEST(NamesOfAJob, ModeOwnerAndTimesAreSetOnAllNodes) {
  CoveredNodes covered(3);
  ASSERT_EQ(cairn_shared_mkdir(covered.job(0), "directory", 0755), 0);
  ASSERT_EQ(cairn_shared_mknod(covered.job(0), "fifo", S_IFIFO | 0600, 1), 0);
  ASSERT_EQ(cairn_shared_mknod(covered.job(1), "socket", S_IFSOCK | 0600, 1), 0);
  ASSERT_EQ(cairn_shared_symlink(covered.job(2), "fifo", "link"), 0);
  for (const char* path : {"directory", "fifo", "socket", "link"}) {
    const uint32_t mode = path[0] == 'l' ? UINT32_MAX : 0640;
    EXPECT_EQ(cairn_shared_set_everywhere(covered.job(1), path, mode, 12, 34, 5'000'000'007,
                                          CAIRN_TIME_OMIT),
              0)
        << cairn_last_error();
    EXPECT_EQ(cairn_shared_set_everywhere(covered.job(2), path, UINT32_MAX, UINT32_MAX, 35,
                                          CAIRN_TIME_OMIT, 8),
              0);
    for (uint32_t node = 0; node < 3; ++node) {
      cairn_stat st = {};
      ASSERT_EQ(cairn_lookup(covered.pool(node), covered.top(node), path, CAIRN_NOFOLLOW, &st), 0);
      EXPECT_EQ(st.mode & 07777U, path[0] == 'l' ? 0777U : 0640U) << path;
      EXPECT_EQ(st.uid, 12U);
      EXPECT_EQ(st.gid, 35U);
      EXPECT_EQ(st.atime_ns, 5'000'000'007);
      EXPECT_EQ(st.mtime_ns, 8);
    }
  }
  EXPECT_EQ(cairn_shared_set_everywhere(covered.job(1), "none", 0600, 1, 1, 0, 0), -ENOENT);
}

TEST(NamesOfAJob, AttributesOfAnInodeAreSetUnderAllItsNames) {
  CoveredNodes covered(3);
  ASSERT_EQ(cairn_shared_mkdir(covered.job(0), "directory", 0755), 0);
  ASSERT_EQ(cairn_shared_mknod(covered.job(0), "directory/fifo", S_IFIFO | 0600, 1), 0);
  cairn_stat st = {};
  ASSERT_EQ(cairn_lookup(covered.pool(1), covered.top(1), "directory/fifo", CAIRN_NOFOLLOW, &st),
            0);
  ASSERT_EQ(cairn_shared_link(covered.job(1), st.ino, st.generation, "second"), 0);
  const auto set = [&](uint64_t generation) {
    return cairn_shared_set_inode_everywhere(covered.job(1), st.ino, generation, 0640, UINT32_MAX,
                                             UINT32_MAX, CAIRN_TIME_OMIT, CAIRN_TIME_OMIT);
  };
  EXPECT_EQ(set(st.generation + 1), -ENOENT);
  EXPECT_EQ(set(st.generation), 0) << cairn_last_error();
  EXPECT_EQ(covered.mode("directory/fifo"), S_IFIFO | 0640U);
  EXPECT_EQ(covered.mode("second"), S_IFIFO | 0640U);
}

std::vector<cairn_ino> removed_specials;

TEST(NamesOfAJob, NodesAreToldOfSpecialFilesThatOthersRemove) {
  CoveredNodes covered(2);
  cairn_job_on_special_removed(covered.job(1), [](cairn_ino ino, uint64_t, uint32_t mode) {
    EXPECT_TRUE(S_ISFIFO(mode) || S_ISSOCK(mode));
    removed_specials.push_back(ino);
  });
  const auto make = [&](const char* path, uint32_t type) {
    EXPECT_EQ(cairn_shared_mknod(covered.job(0), path, type | 0600, 1), 0) << cairn_last_error();
    cairn_stat st = {};
    EXPECT_EQ(cairn_lookup(covered.pool(1), covered.top(1), path, CAIRN_NOFOLLOW, &st), 0);
    return st.ino;
  };
  const cairn_ino removed = make("removed", S_IFIFO);
  const cairn_ino replaced = make("replaced", S_IFSOCK);
  make("moved", S_IFIFO);
  ASSERT_EQ(cairn_shared_symlink(covered.job(0), "x", "link"), 0);
  EXPECT_EQ(cairn_shared_unlink(covered.job(0), "removed"), 0);
  EXPECT_EQ(cairn_shared_rename_name(covered.job(0), "link", "replaced", 0), 0);
  EXPECT_EQ(cairn_shared_rename_name(covered.job(0), "moved", "there", 0), 0);
  EXPECT_EQ(cairn_shared_unlink(covered.job(0), "replaced"), 0);
  EXPECT_EQ(removed_specials, (std::vector<cairn_ino>{removed, replaced}));
}

TEST(NamesOfAJob, WhatAnotherNodeHasStandsInTheWay) {
  CoveredNodes covered(3);
  ASSERT_EQ(cairn_shared_mkdir(covered.job(0), "out", 0755), 0);
  covered.make_file(2, "out/mine");
  EXPECT_EQ(cairn_shared_rmdir(covered.job(1), "out"), -ENOTEMPTY);
  EXPECT_EQ(covered.mode("out"), S_IFDIR | 0755U);
  covered.make_file(2, "file");
  EXPECT_EQ(cairn_shared_mkdir(covered.job(1), "file", 0755), -EEXIST);
  EXPECT_EQ(cairn_shared_symlink(covered.job(1), "out", "file"), -EEXIST);
  for (uint32_t node = 0; node < 2; ++node) EXPECT_EQ(covered.mode(node, "file"), 0U);
  // Not a directory that another one could take the place of.
  ASSERT_EQ(cairn_shared_mkdir(covered.job(0), "new", 0755), 0);
  EXPECT_EQ(cairn_shared_rename_name(covered.job(0), "new", "out", 0), -ENOTEMPTY);
  EXPECT_EQ(cairn_shared_rename_name(covered.job(0), "new", "file", 0), -ENOTDIR);
  EXPECT_EQ(covered.mode("new"), S_IFDIR | 0755U);
}

TEST(NamesOfAJob, DirectoriesAreRenamedWithWhatEachNodeHasInThem) {
  CoveredNodes covered(3);
  ASSERT_EQ(cairn_shared_mkdir(covered.job(0), "step.tmp", 0755), 0);
  for (uint32_t node = 0; node < 3; ++node)
    covered.make_file(node, ("step.tmp/" + std::to_string(node)).c_str());
  ASSERT_EQ(cairn_shared_mkdir(covered.job(2), "step", 0755), 0);
  EXPECT_EQ(cairn_shared_rename_name(covered.job(1), "step.tmp", "step", 1), -EEXIST);
  EXPECT_EQ(cairn_shared_rename_name(covered.job(1), "step.tmp", "step", 0), 0)
      << cairn_last_error();
  EXPECT_EQ(covered.mode("step.tmp"), 0U);
  for (uint32_t node = 0; node < 3; ++node)
    EXPECT_NE(covered.mode(node, ("step/" + std::to_string(node)).c_str()), 0U);
  ASSERT_EQ(cairn_shared_symlink(covered.job(0), "step", "latest.new"), 0);
  ASSERT_EQ(cairn_shared_symlink(covered.job(1), "none", "latest"), 0);
  EXPECT_EQ(cairn_shared_rename_name(covered.job(2), "latest.new", "latest", 0), 0);
  EXPECT_EQ(covered.mode(0, "latest/0"), S_IFREG | 0600U);
  for (uint32_t node = 0; node < 3; ++node) covered.drain(node);
  namespace fs = std::filesystem;
  const fs::path lower = covered.directory();
  EXPECT_TRUE(fs::exists(lower / "latest/0") && fs::exists(lower / "step/1") &&
              fs::exists(lower / "step/2"));
  EXPECT_FALSE(fs::exists(lower / "step.tmp"));
  // Drained, it is in the directory that all see: others may know what this one does not.
  EXPECT_EQ(cairn_shared_rename_name(covered.job(1), "step", "moved", 0), -EXDEV);
}

// There are none but those that lie below; the other nodes could not make them.
TEST(NamesOfAJob, DevicesGetNoFurtherNames) {
  CoveredNodes covered(2, 64 << 20, [&](const std::string& directory) {
    // The one device that everybody may make (Linux 5.8).
    ASSERT_EQ(mknod((directory + "/device").c_str(), S_IFCHR | 0600, makedev(0, 0)), 0);
  });
  cairn_stat st = {};
  ASSERT_EQ(cairn_lookup(covered.pool(0), covered.top(0), "device", CAIRN_NOFOLLOW, &st), 0);
  EXPECT_EQ(cairn_shared_link(covered.job(0), st.ino, st.generation, "other"), -EPERM);
  EXPECT_EQ(covered.mode("other"), 0U);
}

// Before it was a job, each host's programs made what they needed.
TEST(NamesOfAJob, DirectoriesOfBeforeAreMadeWhereTheyAreMissing) {
  CoveredNodes covered(2);
  ASSERT_EQ(cairn_mkdir(covered.pool(1), covered.top(1), "a", 0700), 0);
  ASSERT_EQ(cairn_mkdir(covered.pool(1), covered.top(1), "a/b", 0711), 0);
  EXPECT_EQ(cairn_shared_mkdir(covered.job(1), "a/b/c", 0755), 0) << cairn_last_error();
  EXPECT_EQ(covered.mode("a"), S_IFDIR | 0700U);
  EXPECT_EQ(covered.mode("a/b"), S_IFDIR | 0711U);
  EXPECT_EQ(covered.mode("a/b/c"), S_IFDIR | 0755U);
  ASSERT_EQ(cairn_mkdir(covered.pool(1), covered.top(1), "new", 0755), 0);
  EXPECT_EQ(cairn_shared_rename_name(covered.job(1), "a/b/c", "new/c", 0), 0);
  EXPECT_EQ(covered.mode("new/c"), S_IFDIR | 0755U);
}

TEST(NamesOfAJob, OneOfManyMakesIt) {
  CoveredNodes covered(4);
  for (int round = 0; round < 20; ++round) {
    const std::string name = "d" + std::to_string(round);
    std::atomic<int> made = 0;
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < 8; ++i)
      threads.emplace_back([&, i] {
        const int result = cairn_shared_mkdir(covered.job(i % 4), name.c_str(), 0755);
        EXPECT_TRUE(result == 0 || result == -EEXIST) << cairn_last_error();
        // Whoever is told so finds it.
        EXPECT_NE(covered.mode(i % 4, name.c_str()), 0U);
        if (result == 0) ++made;
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(made, 1);
    EXPECT_EQ(covered.mode(name.c_str()), S_IFDIR | 0755U);
  }
}

TEST(NamesOfAJob, AllNodesDrainThemAtOnce) {
  CoveredNodes covered(3);
  for (int round = 0; round < 10; ++round) {
    const std::string name = "d" + std::to_string(round);
    ASSERT_EQ(cairn_shared_mkdir(covered.job(0), name.c_str(), 0755), 0);
    for (int i = 0; i < 10; ++i)
      ASSERT_EQ(cairn_shared_symlink(covered.job(1), "x", (name + "/" + std::to_string(i)).c_str()),
                0);
    std::vector<std::thread> threads;
    for (uint32_t node = 0; node < 3; ++node)
      threads.emplace_back([&, node] { covered.drain(node); });
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_TRUE(std::filesystem::is_symlink(covered.directory() + "/d9/9"));
}

TEST(NamesOfAJob, APoolThatIsFullTakesItBack) {
  CoveredNodes covered(2, 8 << 20);
  cairn_file* file = nullptr;
  ASSERT_EQ(cairn_open(covered.pool(1), covered.top(1), "full", O_RDWR | O_CREAT, 0600, &file), 0);
  const std::string bytes(4096, 'x');
  uint64_t at = 0;
  while (cairn_pwrite(file, bytes.data(), bytes.size(), at) > 0) at += bytes.size();
  int result = 0;
  std::string name;
  for (int i = 0; i < 10000 && result == 0; ++i) {
    name = "directory" + std::to_string(i);
    result = cairn_shared_mkdir(covered.job(0), name.c_str(), 0755);
  }
  EXPECT_EQ(result, -ENOSPC);
  EXPECT_NE(std::string(cairn_last_error()).find("node1"), std::string::npos) << cairn_last_error();
  EXPECT_EQ(covered.mode(name.c_str()), 0U);
  cairn_close(file);
}

TEST(NamesOfAJob, TwoNodesDrainTheirRemovalAtOnce) {
  constexpr int count = 1000;
  CoveredNodes covered(2, 64 << 20, [](const std::string& directory) {
    for (int i = 0; i < count; ++i)
      std::filesystem::create_directories(directory + "/old" + std::to_string(i));
  });
  for (int i = 0; i < count; ++i)
    EXPECT_EQ(cairn_shared_rmdir(covered.job(0), ("old" + std::to_string(i)).c_str()), 0);
  std::vector<std::thread> threads;
  for (uint32_t node = 0; node < 2; ++node)
    threads.emplace_back([&, node] { covered.drain(node); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(std::filesystem::exists(covered.directory() + "/old0"));
}

}  // namespace
}  // namespace cairn::test
