// Directories and symbolic links in a job on several nodes: what one process does with them, the pools of all nodes get.
#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
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
  EXPECT_EQ(cairn_shared_chmod(covered.job(0), "out/a", 0711), 0);
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

void write_lower(const std::string& directory, const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(directory + "/" + path).parent_path());
  std::ofstream(directory + "/" + path) << text;
}

std::string text_in_lower(const CoveredNodes& covered, const char* path) {
  std::ifstream file(covered.directory() + "/" + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

cairn_file* open_to_write(const CoveredNodes& covered, uint32_t node, const char* path) {
  cairn_file* file = nullptr;
  EXPECT_EQ(cairn_open(covered.pool(node), covered.top(node), path, O_RDWR | O_CREAT, 0644, &file),
            0)
      << cairn_last_error();
  return file;
}

void write_on(const CoveredNodes& covered, uint32_t node, const char* path,
              const std::string& text) {
  cairn_file* file = open_to_write(covered, node, path);
  EXPECT_EQ(cairn_ftruncate(file, 0), 0);
  EXPECT_EQ(cairn_pwrite(file, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  cairn_close(file);
}

uint64_t size_elsewhere(const CoveredNodes& covered, uint32_t node, const char* path) {
  cairn_stat st = {};
  EXPECT_EQ(cairn_shared_stat_ordinary(covered.job(node), path, &st), 0) << cairn_last_error();
  return st.size;
}

// As rank 0 clears away what an earlier job has left.
TEST(FilesOfBefore, OneNodeRemovesThem) {
  for (const bool backwards : {false, true}) {
    CoveredNodes covered(2, 64 << 20, [](const std::string& directory) {
      for (const char* path : {"old/f", "old/empty", "old/sub/g", "kept"})
        write_lower(directory, path, path);
      std::filesystem::create_symlink("f", directory + "/old/link");
      std::filesystem::resize_file(directory + "/old/empty", 0);
    });
    EXPECT_NE(covered.mode("old/sub/g"), 0U);
    EXPECT_EQ(cairn_shared_rmdir(covered.job(0), "old"), -ENOTEMPTY);
    for (const char* path : {"old/sub/g", "old/f", "old/empty", "old/link"}) {
      EXPECT_EQ(cairn_shared_unlink(covered.job(0), path), 0) << cairn_last_error();
      EXPECT_EQ(covered.mode(path), 0U);
    }
    EXPECT_EQ(cairn_shared_rmdir(covered.job(0), "old/sub"), 0) << cairn_last_error();
    EXPECT_EQ(cairn_shared_rmdir(covered.job(0), "old"), 0) << cairn_last_error();
    covered.drain(backwards ? 1 : 0);
    covered.drain(backwards ? 0 : 1);
    EXPECT_FALSE(std::filesystem::exists(covered.directory() + "/old"));
    EXPECT_EQ(text_in_lower(covered, "kept"), "kept");
  }
}

// As benchmarks do: each node removes some of the directories, one the directory that they were in.
TEST(FilesOfBefore, SeveralNodesRemoveATree) {
  for (const bool backwards : {false, true}) {
    CoveredNodes covered(2, 64 << 20, [](const std::string& directory) {
      for (const char* path : {"tree/0/f", "tree/1/f"}) write_lower(directory, path, path);
    });
    for (const uint32_t node : {0U, 1U}) {
      const std::string own = "tree/" + std::to_string(node);
      EXPECT_EQ(cairn_shared_unlink(covered.job(node), (own + "/f").c_str()), 0);
      EXPECT_EQ(cairn_shared_rmdir(covered.job(node), own.c_str()), 0) << cairn_last_error();
    }
    EXPECT_EQ(cairn_shared_rmdir(covered.job(0), "tree"), 0) << cairn_last_error();
    covered.drain(backwards ? 1 : 0);
    covered.drain(backwards ? 0 : 1);
    EXPECT_FALSE(std::filesystem::exists(covered.directory() + "/tree"));
  }
}

TEST(FilesOfBefore, OneNodeWritesThem) {
  for (const bool backwards : {false, true}) {
    CoveredNodes covered(3, 64 << 20, [](const std::string& directory) {
      for (const char* path : {"written", "replaced", "moved"}) write_lower(directory, path, "old");
    });
    EXPECT_EQ(cairn_shared_claim(covered.job(1), "written"), 0) << cairn_last_error();
    write_on(covered, 1, "written", "written anew");
    EXPECT_EQ(cairn_shared_claim(covered.job(1), "written"), 0);
    write_on(covered, 1, "new", "replaced!");
    EXPECT_EQ(cairn_shared_rename_name(covered.job(1), "new", "replaced", 0), 0);
    EXPECT_EQ(cairn_shared_rename_name(covered.job(1), "moved", "there", 0), 0)
        << cairn_last_error();
    for (const uint32_t node : {0U, 2U}) {
      for (const char* path : {"written", "replaced", "moved", "there"})
        EXPECT_EQ(covered.mode(node, path), 0U) << path;
      EXPECT_EQ(size_elsewhere(covered, node, "written"), 12U);
      EXPECT_EQ(size_elsewhere(covered, node, "replaced"), 9U);
      EXPECT_EQ(size_elsewhere(covered, node, "there"), 3U);
    }
    // It is on node 1 now, and comes from there to who writes it.
    EXPECT_EQ(cairn_shared_make_plain(covered.job(2), "written", 0), 0) << cairn_last_error();
    for (uint32_t i = 0; i < 3; ++i) covered.drain(backwards ? 2 - i : i);
    EXPECT_EQ(text_in_lower(covered, "written"), "written anew");
    EXPECT_EQ(text_in_lower(covered, "replaced"), "replaced!");
    EXPECT_EQ(text_in_lower(covered, "there"), "old");
    EXPECT_FALSE(std::filesystem::exists(covered.directory() + "/moved"));
  }
}

// As when rank 0 clears or moves away what an earlier job has left, and all ranks write it anew.
TEST(FilesOfBefore, WhatOneNodeRemovesAnotherMakesAnew) {
  for (const bool backwards : {false, true}) {
    CoveredNodes covered(2, 64 << 20, [](const std::string& directory) {
      for (const char* path : {"removed", "moved", "exclusive", "renamed", "replaced", "tree/f",
                               "tree/sub/g", "step/f", "step/old", "sub/file", "name"})
        write_lower(directory, path, std::string("old ") + path);
      std::filesystem::create_symlink("removed", directory + "/latest");
    });
    const auto remove = [&](const char* path) {
      EXPECT_EQ(cairn_shared_unlink(covered.job(0), path), 0) << path << cairn_last_error();
    };
    for (const char* path : {"removed", "exclusive", "renamed", "tree/f", "tree/sub/g", "step/f",
                             "step/old", "sub/file", "name", "latest"})
      remove(path);
    for (const char* path : {"tree/sub", "tree", "step", "sub"})
      EXPECT_EQ(cairn_shared_rmdir(covered.job(0), path), 0) << path << cairn_last_error();
    EXPECT_EQ(cairn_shared_rename_name(covered.job(0), "moved", "there", 0), 0);

    for (const char* path : {"removed", "moved"})
      EXPECT_EQ(cairn_shared_mknod(covered.job(1), path, 0640, 0), 0) << cairn_last_error();
    EXPECT_EQ(cairn_shared_mknod(covered.job(1), "exclusive", 0640, 1), 0) << cairn_last_error();
    covered.make_file(1, "new");
    EXPECT_EQ(cairn_shared_rename_name(covered.job(1), "new", "renamed", 0), 0);
    EXPECT_EQ(cairn_shared_mkdir(covered.job(1), "tree", 0755), 0) << cairn_last_error();
    EXPECT_EQ(cairn_shared_mkdir(covered.job(0), "tree/sub", 0755), 0) << cairn_last_error();
    EXPECT_EQ(cairn_shared_mkdir(covered.job(1), "step.tmp", 0755), 0);
    EXPECT_EQ(cairn_shared_mknod(covered.job(1), "step.tmp/f", 0640, 0), 0);
    EXPECT_EQ(cairn_shared_rename_name(covered.job(1), "step.tmp", "step", 0), 0)
        << cairn_last_error();
    // What was a directory is a file now, and the other way round.
    EXPECT_EQ(cairn_shared_mknod(covered.job(1), "sub", 0640, 0), 0) << cairn_last_error();
    EXPECT_EQ(cairn_shared_mkdir(covered.job(1), "name", 0755), 0) << cairn_last_error();
    EXPECT_EQ(cairn_shared_symlink(covered.job(1), "step", "latest"), 0) << cairn_last_error();
    for (const char* path : {"removed", "moved", "exclusive", "renamed", "tree/f", "tree/sub/g",
                             "step/f", "sub", "name/f"}) {
      EXPECT_EQ(covered.mode(0, path), 0U) << path;
      write_on(covered, 1, path, std::string("new ") + path);
    }
    covered.drain(backwards ? 1 : 0);
    covered.drain(backwards ? 0 : 1);
    for (const char* path : {"removed", "moved", "exclusive", "renamed", "tree/f", "tree/sub/g",
                             "step/f", "sub", "name/f"})
      EXPECT_EQ(text_in_lower(covered, path), std::string("new ") + path);
    namespace fs = std::filesystem;
    EXPECT_EQ(text_in_lower(covered, "there"), "old moved");
    EXPECT_FALSE(fs::exists(covered.directory() + "/step/old"));
    EXPECT_EQ(fs::read_symlink(covered.directory() + "/latest"), "step");
    for (const auto& entry : fs::directory_iterator(covered.directory()))
      EXPECT_NE(entry.path().filename().string().rfind(".cairn-drain", 0), 0U) << entry.path();
  }
}

TEST(FilesOfBefore, SeveralNodesMakeAnewWhatOneHasRemoved) {
  constexpr int count = 30;
  CoveredNodes covered(3, 64 << 20, [](const std::string& directory) {
    for (int i = 0; i < count; ++i) write_lower(directory, "f" + std::to_string(i), "old");
    write_lower(directory, "claimed", "old");
  });
  for (int i = 0; i < count; ++i) {
    const std::string name = "f" + std::to_string(i);
    EXPECT_EQ(cairn_shared_unlink(covered.job(0), name.c_str()), 0);
    std::vector<std::thread> threads;
    for (uint32_t node = 0; node < 3; ++node)
      threads.emplace_back([&, node] {
        const int result = cairn_shared_mknod(covered.job(node), name.c_str(), 0640, 0);
        EXPECT_TRUE(result == 0 || result == -EEXIST || result == -ESTALE) << cairn_last_error();
      });
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(cairn_shared_claim(covered.job(2), "claimed"), 0);
  covered.make_file(1, "new");
  EXPECT_EQ(cairn_shared_rename_name(covered.job(1), "new", "claimed", 0), 0) << cairn_last_error();
  for (const uint32_t node : {1U, 2U, 0U}) covered.drain(node);
  for (int i = 0; i < count; ++i)
    EXPECT_EQ(text_in_lower(covered, ("f" + std::to_string(i)).c_str()), "");
  EXPECT_EQ(text_in_lower(covered, "claimed"), "");
}

// Somebody else's file is in the way: both are kept, and it is told.
TEST(FilesOfBefore, WhatWasChangedThereIsNotPutAway) {
  CoveredNodes covered(2, 64 << 20,
                       [](const std::string& directory) { write_lower(directory, "f", "old"); });
  EXPECT_EQ(cairn_shared_unlink(covered.job(0), "f"), 0);
  write_lower(covered.directory(), "f", "changed behind our back");
  EXPECT_EQ(cairn_shared_mknod(covered.job(1), "f", 0640, 0), 0) << cairn_last_error();
  EXPECT_EQ(text_in_lower(covered, "f"), "changed behind our back");
}

TEST(FilesOfBefore, WhatAnotherNodeWritesIsNotClaimed) {
  CoveredNodes covered(2, 64 << 20, [](const std::string& directory) {
    for (const char* path : {"open", "changed", "read"}) write_lower(directory, path, "old");
  });
  // As before MPI_Init.
  cairn_file* open = open_to_write(covered, 0, "open");
  write_on(covered, 0, "changed", "changed");
  cairn_file* read = nullptr;
  ASSERT_EQ(cairn_open(covered.pool(0), covered.top(0), "read", O_RDONLY, 0, &read), 0);
  EXPECT_EQ(cairn_shared_claim(covered.job(1), "open"), -EBUSY);
  EXPECT_EQ(cairn_shared_claim(covered.job(1), "changed"), -EBUSY);
  EXPECT_NE(std::string(cairn_last_error()).find("node0"), std::string::npos) << cairn_last_error();
  EXPECT_EQ(cairn_shared_claim(covered.job(1), "read"), 0) << cairn_last_error();
  char text[4] = {};
  EXPECT_EQ(cairn_pread(read, text, 3, 0), 3) << cairn_last_error();
  EXPECT_EQ(std::string(text), "old");
  cairn_close(read);
  cairn_close(open);
  EXPECT_EQ(covered.mode(0, "read"), 0U);
}

TEST(FilesOfBefore, OneOfManyClaimsThem) {
  CoveredNodes covered(3, 64 << 20, [](const std::string& directory) {
    for (int i = 0; i < 20; ++i) write_lower(directory, "f" + std::to_string(i), "old");
  });
  for (int i = 0; i < 20; ++i) {
    const std::string name = "f" + std::to_string(i);
    std::atomic<int> claimed = 0;
    std::vector<std::thread> threads;
    for (uint32_t node = 0; node < 3; ++node)
      threads.emplace_back([&, node] {
        const int result = cairn_shared_claim(covered.job(node), name.c_str());
        EXPECT_TRUE(result == 0 || result == -ESTALE || result == -ENOENT) << result;
        if (covered.mode(node, name.c_str()) != 0) ++claimed;
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(claimed, 1) << name;
  }
}

// Opened to be written, and nothing is: it is there for all.
TEST(FilesOfBefore, WhatIsClaimedIsFound) {
  CoveredNodes covered(2, 64 << 20, [](const std::string& directory) {
    for (const char* path : {"open", "mode", "busy"}) write_lower(directory, path, "old");
  });
  EXPECT_EQ(cairn_shared_claim(covered.job(1), "open"), 0) << cairn_last_error();
  EXPECT_EQ(size_elsewhere(covered, 0, "open"), 3U);
  EXPECT_EQ(cairn_shared_make_plain(covered.job(0), "open", 0), 0) << cairn_last_error();
  EXPECT_EQ(covered.mode(1, "open"), 0U);
  EXPECT_EQ(cairn_shared_claim(covered.job(1), "mode"), 0) << cairn_last_error();
  cairn_stat st = {};
  ASSERT_EQ(cairn_lookup(covered.pool(1), covered.top(1), "mode", 0, &st), 0);
  EXPECT_EQ(cairn_chmod(covered.pool(1), st.ino, st.generation, 0600), 0);
  ASSERT_EQ(cairn_shared_stat_ordinary(covered.job(0), "mode", &st), 0) << cairn_last_error();
  EXPECT_EQ(st.mode & 07777U, 0600U);
  // A claim that fails leaves nothing to drain.
  cairn_file* busy = open_to_write(covered, 0, "busy");
  EXPECT_EQ(cairn_shared_claim(covered.job(1), "busy"), -EBUSY);
  EXPECT_EQ(cairn_pwrite(busy, "new", 3, 0), 3);
  cairn_close(busy);
  for (uint32_t node = 0; node < 2; ++node) covered.drain(node);
  EXPECT_EQ(text_in_lower(covered, "open"), "old");
  EXPECT_EQ(text_in_lower(covered, "busy"), "new");
  EXPECT_EQ(std::filesystem::status(covered.directory() + "/mode").permissions(),
            std::filesystem::perms(0600));
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
