// What lies in the covered directory is changed by one node, which claims it before.
#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "cluster/files_of_before.h"

namespace cairn::test {
namespace {

TEST(ClaimedFiles, OneNodeWritesThem) {
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

TEST(ClaimedFiles, WhatAnotherNodeWritesIsNotClaimed) {
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

TEST(ClaimedFiles, OneOfManyClaimsThem) {
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
TEST(ClaimedFiles, WhatIsClaimedIsFound) {
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

// As all ranks of a restart open one file of the last job to write it, one after the other or at
// once.
TEST(ClaimedFiles, WhoWritesThemTakesThemFromEachOther) {
  constexpr uint32_t nodes = 2;
  CoveredNodes covered(nodes, 64 << 20, [](const std::string& directory) {
    for (int i = 0; i < 20; ++i) write_lower(directory, "f" + std::to_string(i), "old");
  });
  covered.nodes().latency = std::chrono::microseconds(300);
  for (int i = 0; i < 20; ++i) {
    const std::string name = "f" + std::to_string(i);
    // What open(2) does for writing.
    const auto open = [&](uint32_t node) {
      while (true) {
        const bool is_here = covered.mode(node, name.c_str()) != 0;
        const int result = is_here ? cairn_shared_claim(covered.job(node), name.c_str())
                                   : cairn_shared_make_plain(covered.job(node), name.c_str(), 0);
        if (is_here && result == 0) return;
        // It is somewhere else by now, or changes hands too fast; it is not that two have changed
        // it.
        const bool again =
            result == 0 || result == -ESTALE || result == -ENOENT || (result == -EBUSY && !is_here);
        EXPECT_TRUE(again) << result << " on " << node << ": " << cairn_last_error();
        if (!again) return;
      }
    };
    std::vector<std::thread> threads;
    for (uint32_t rank = 0; rank < 3 * nodes; ++rank)
      threads.emplace_back([&, rank] {
        for (int time = 0; time < 8; ++time) open(rank % nodes);
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_NE(covered.mode(0, name.c_str()) == 0, covered.mode(1, name.c_str()) == 0) << name;
  }
}

}  // namespace
}  // namespace cairn::test
