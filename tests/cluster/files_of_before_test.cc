// What an earlier job has left in the covered directory is removed by one node, and perhaps made
// anew by others.
#include "cluster/files_of_before.h"

#include <sys/stat.h>

#include <filesystem>
#include <thread>

namespace cairn::test {
namespace {

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

// As the next job deletes a checkpoint: one of its files another node has claimed, so it is removed
// where that one has it, and in the covered directory at once.
TEST(FilesOfBefore, OneNodeRemovesWhatAnotherHasClaimed) {
  for (const bool backwards : {false, true}) {
    CoveredNodes covered(3, 64 << 20, [](const std::string& directory) {
      for (const char* path : {"step/meta", "step/rank.0"}) write_lower(directory, path, path);
    });
    EXPECT_NE(covered.mode("step/meta"), 0U);
    EXPECT_EQ(cairn_shared_claim(covered.job(1), "step/meta"), 0) << cairn_last_error();
    EXPECT_EQ(cairn_shared_remove(covered.job(0), "step/meta"), 0) << cairn_last_error();
    EXPECT_EQ(cairn_shared_remove_below(covered.job(0), "step/meta"), 1) << cairn_last_error();
    EXPECT_EQ(cairn_shared_remove_below(covered.job(0), "step/meta"), 0);
    EXPECT_EQ(cairn_shared_unlink(covered.job(0), "step/rank.0"), 0);
    EXPECT_EQ(cairn_shared_rmdir(covered.job(0), "step"), 0) << cairn_last_error();
    for (uint32_t node = 0; node < 3; ++node) covered.drain(backwards ? 2 - node : node);
    EXPECT_FALSE(std::filesystem::exists(covered.directory() + "/step"));
  }
}

// A file that all wrote through MPI-IO is in the covered directory, and each node knows it from
// there.
TEST(FilesOfBefore, WhatOthersKnowGoesWithTheFile) {
  CoveredNodes covered(3, 64 << 20, [](const std::string& directory) {
    for (const char* path : {"old/f", "old/changed"}) write_lower(directory, path, path);
  });
  EXPECT_NE(covered.mode("old/f"), 0U);
  write_on(covered, 2, "old/changed", "new");
  EXPECT_EQ(cairn_unlink(covered.pool(0), covered.top(0), "old/f"), 0);
  EXPECT_EQ(cairn_shared_remove_below(covered.job(0), "old/f"), 1) << cairn_last_error();
  for (uint32_t node = 0; node < 3; ++node) EXPECT_EQ(covered.mode(node, "old/f"), 0U) << node;
  // A node's own file is its own.
  EXPECT_EQ(cairn_shared_remove_below(covered.job(0), "old/changed"), 1);
  EXPECT_NE(covered.mode(2, "old/changed"), 0U);
  EXPECT_EQ(cairn_shared_rmdir(covered.job(0), "old"), -ENOTEMPTY);
  EXPECT_EQ(cairn_unlink(covered.pool(2), covered.top(2), "old/changed"), 0);
  EXPECT_EQ(cairn_shared_unlink(covered.job(0), "old/changed"), 0);
  EXPECT_EQ(cairn_shared_rmdir(covered.job(0), "old"), 0) << cairn_last_error();
}

// A drain in the middle of the job puts a node's file where the others see it. Once its node writes
// it again, they find it there.
TEST(FilesOfBefore, WhatWasDrainedMeanwhileIsFoundWhereItIsWritten) {
  CoveredNodes covered(2, 64 << 20, [](const std::string& directory) {
    write_lower(directory, "sub/other", "other");
  });
  write_on(covered, 0, "sub/f", "old");
  covered.drain(0);
  EXPECT_EQ(text_in_lower(covered, "sub/f"), "old");
  EXPECT_NE(covered.mode(1, "sub/f"), 0U);
  EXPECT_EQ(cairn_shared_claim(covered.job(0), "sub/f"), 0) << cairn_last_error();
  write_on(covered, 0, "sub/f", "newer");
  EXPECT_EQ(covered.mode(1, "sub/f"), 0U) << "it still reads what was drained";
  EXPECT_EQ(size_elsewhere(covered, 1, "sub/f"), 5U);
  covered.drain(0);
  EXPECT_EQ(text_in_lower(covered, "sub/f"), "newer");
}

// Who can rename what lies in the covered directory has put it there.
TEST(FilesOfBefore, NothingIsRemovedInAnotherDirectory) {
  CoveredNodes covered(2, 64 << 20, [](const std::string& directory) {
    for (const char* path : {"sub/f", "private/f"}) write_lower(directory, path, path);
  });
  EXPECT_NE(covered.mode("sub/f"), 0U);
  const std::string sub = covered.directory() + "/sub";
  std::filesystem::rename(sub, covered.directory() + "/moved");
  std::filesystem::rename(covered.directory() + "/private", sub);
  EXPECT_EQ(cairn_shared_remove_below(covered.job(0), "sub/f"), -ESTALE);
  EXPECT_EQ(text_in_lower(covered, "sub/f"), "private/f");
  EXPECT_EQ(text_in_lower(covered, "moved/f"), "sub/f");
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

TEST(FilesOfBefore, WhatOneNodeRemovesAnotherLinksTo) {
  for (const bool backwards : {false, true}) {
    CoveredNodes covered(2, 64 << 20, [](const std::string& directory) {
      for (const char* path : {"linked", "first", "pointer", "fifo"})
        write_lower(directory, path, "old");
    });
    for (const char* path : {"linked", "first", "pointer", "fifo"})
      EXPECT_EQ(cairn_shared_unlink(covered.job(0), path), 0) << cairn_last_error();
    write_on(covered, 1, "file", "new");
    ASSERT_EQ(cairn_shared_symlink(covered.job(1), "file", "link"), 0);
    const auto link = [&](const char* from, const char* to) {
      cairn_stat st = {};
      EXPECT_EQ(cairn_lookup(covered.pool(1), covered.top(1), from, CAIRN_NOFOLLOW, &st), 0);
      EXPECT_EQ(cairn_shared_link(covered.job(1), st.ino, st.generation, to), 0)
          << cairn_last_error();
      EXPECT_EQ(cairn_shared_link(covered.job(1), st.ino, st.generation + 1, "none"), -ESTALE);
    };
    link("file", "linked");
    link("link", "pointer");
    EXPECT_EQ(cairn_shared_mknod(covered.job(1), "fifo", S_IFIFO | 0640, 1), 0);
    EXPECT_EQ(cairn_shared_mknod(covered.job(0), "fifo", S_IFIFO | 0640, 1), -EEXIST);
    EXPECT_EQ(covered.mode("fifo"), S_IFIFO | 0640U);
    link("fifo", "fifo.too");
    cairn_file* unnamed = nullptr;
    ASSERT_EQ(cairn_open(covered.pool(1), covered.top(1), ".", O_TMPFILE | O_RDWR, 0600, &unnamed),
              0);
    EXPECT_EQ(cairn_pwrite(unnamed, "first", 5, 0), 5);
    cairn_stat st = {};
    ASSERT_EQ(cairn_fstat(unnamed, &st), 0);
    write_on(covered, 0, "held", "held");
    EXPECT_EQ(cairn_shared_link(covered.job(1), st.ino, st.generation, "held"), -EEXIST);
    EXPECT_EQ(cairn_shared_link(covered.job(1), st.ino, st.generation, "first"), 0)
        << cairn_last_error();
    cairn_close(unnamed);
    covered.drain(backwards ? 1 : 0);
    covered.drain(backwards ? 0 : 1);
    for (const char* path : {"linked", "file", "pointer"})
      EXPECT_EQ(text_in_lower(covered, path), "new") << path;
    EXPECT_EQ(text_in_lower(covered, "first"), "first");
    for (const char* path : {"fifo", "fifo.too"})
      EXPECT_TRUE(std::filesystem::is_fifo(covered.directory() + "/" + path)) << path;
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
TEST(FilesOfBefore, WhatANodeRemovesItLinksTo) {
  for (const bool backwards : {false, true}) {
    CoveredNodes covered(2, 64 << 20, [](const std::string& directory) {
      for (const char* path : {"pointer", "fifo"}) write_lower(directory, path, "old");
    });
    ASSERT_EQ(cairn_shared_symlink(covered.job(0), "file", "a"), 0);
    ASSERT_EQ(cairn_shared_mknod(covered.job(0), "b", S_IFIFO | 0640, 1), 0);
    for (const auto& [from, to] : {std::pair("a", "pointer"), std::pair("b", "fifo")}) {
      EXPECT_EQ(cairn_shared_unlink(covered.job(0), to), 0) << cairn_last_error();
      cairn_stat st = {};
      EXPECT_EQ(cairn_lookup(covered.pool(0), covered.top(0), from, CAIRN_NOFOLLOW, &st), 0);
      EXPECT_EQ(cairn_shared_link(covered.job(0), st.ino, st.generation, to), 0)
          << cairn_last_error();
    }
    covered.drain(backwards ? 1 : 0);
    covered.drain(backwards ? 0 : 1);
    EXPECT_EQ(std::filesystem::read_symlink(covered.directory() + "/pointer"), "file");
    EXPECT_TRUE(std::filesystem::is_fifo(covered.directory() + "/fifo"));
  }
}

// Its name is there, on the other node: who links looks again, and finds that.
TEST(FilesOfBefore, WhatWasFetchedAwayIsLookedForAgain) {
  CoveredNodes covered(2);
  write_on(covered, 0, "file", "text");
  cairn_stat st = {};
  ASSERT_EQ(cairn_lookup(covered.pool(0), covered.top(0), "file", 0, &st), 0);
  ASSERT_EQ(cairn_shared_fetch(covered.job(1), "file"), 0) << cairn_last_error();
  EXPECT_EQ(cairn_shared_link(covered.job(0), st.ino, st.generation, "link"), -ESTALE);
  cairn_file* removed = open_to_write(covered, 0, "removed");
  ASSERT_EQ(cairn_fstat(removed, &st), 0);
  ASSERT_EQ(cairn_shared_unlink(covered.job(0), "removed"), 0);
  EXPECT_EQ(cairn_shared_link(covered.job(0), st.ino, st.generation, "link"), -ESTALE);
  cairn_close(removed);
  write_on(covered, 1, "other", "text");
  ASSERT_EQ(cairn_lookup(covered.pool(1), covered.top(1), "other", 0, &st), 0);
  EXPECT_EQ(cairn_shared_link(covered.job(1), st.ino, st.generation, "none/link"), -ENOENT);
}

// It has taken the place of what was removed, so that the other node's asks in vain; and then it is
// gone again.
TEST(FilesOfBefore, WhatGivesWayLeavesNothingToBeRemoved) {
  for (const bool backwards : {false, true}) {
    CoveredNodes covered(
        2, 64 << 20, [](const std::string& directory) { write_lower(directory, "name", "old"); });
    EXPECT_EQ(cairn_shared_unlink(covered.job(0), "name"), 0) << cairn_last_error();
    write_on(covered, 1, "name", "new");
    EXPECT_EQ(cairn_shared_mknod(covered.job(0), "name", 0600, 0), -ESTALE);
    EXPECT_EQ(covered.mode(0, "name"), 0U);
    covered.drain(backwards ? 1 : 0);
    covered.drain(backwards ? 0 : 1);
    EXPECT_EQ(text_in_lower(covered, "name"), "new");
  }
}

TEST(FilesOfBefore, WhatWasChangedThereIsNotPutAway) {
  CoveredNodes covered(2, 64 << 20,
                       [](const std::string& directory) { write_lower(directory, "f", "old"); });
  EXPECT_EQ(cairn_shared_unlink(covered.job(0), "f"), 0);
  write_lower(covered.directory(), "f", "changed behind our back");
  EXPECT_EQ(cairn_shared_mknod(covered.job(1), "f", 0640, 0), 0) << cairn_last_error();
  EXPECT_EQ(text_in_lower(covered, "f"), "changed behind our back");
}

}  // namespace
}  // namespace cairn::test
