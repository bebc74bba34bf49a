// Ordinary files of other nodes come into the pool of who is about to write them.
#include <fcntl.h>
#include <sys/stat.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "cairn/cover.h"
#include "capi/job/job.h"
#include "cluster/files_of_nodes.h"
#include "cluster/local/local_entry.h"
#include "file/inode/moving.h"
#include "pool/lanes/seats.h"

namespace cairn::test {
namespace {

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

// Its node is asked for it as before, although its bytes lie where all nodes see them.
TEST(OrdinaryFilesOfOtherNodes, AnEvictedOneComesToo) {
  CoveredNodes covered(2);
  const std::string bytes = bytes_of(1'000'000);
  EXPECT_EQ(covered.mode(0, "file"), 0U);  // it has listed the directory before
  write_own(covered, 1, "file", bytes);
  covered.drain(1);
  cairn_stat st = {};
  ASSERT_EQ(cairn_lookup(covered.pool(1), covered.top(1), "file", 0, &st), 0);
  ASSERT_EQ(cairn_evict(covered.pool(1), st.ino, st.generation, nullptr), 0) << cairn_last_error();
  ASSERT_EQ(cairn_lookup(covered.pool(1), covered.top(1), "file", 0, &st), 0);
  EXPECT_EQ(st.flags, CAIRN_FILE_LAZY | CAIRN_FILE_EVICTED);
  cairn_stat seen = {};
  ASSERT_EQ(cairn_shared_stat_ordinary(covered.job(0), "file", &seen), 0) << cairn_last_error();
  EXPECT_EQ(seen.size, bytes.size());
  EXPECT_EQ(cairn_shared_make_plain(covered.job(0), "file", 0), 0) << cairn_last_error();
  EXPECT_EQ(covered.mode(1, "file"), 0U);
  EXPECT_TRUE(read_own(covered, 0, "file") == bytes);
}

TEST(OrdinaryFilesOfOtherNodes, AFullPoolTakesNone) {
  CoveredNodes covered(2, 32 << 20);
  write_own(covered, 0, "here", bytes_of(20'000'000));
  write_own(covered, 1, "file", bytes_of(16'000'000));
  EXPECT_EQ(cairn_shared_make_plain(covered.job(0), "file", 0), -ENOSPC);
  EXPECT_EQ(covered.mode(0, "file"), 0U);
  EXPECT_TRUE(read_own(covered, 1, "file") == bytes_of(16'000'000));
}

// Who answers for a node is the one who would be told that it has moved.
TEST(OrdinaryFilesOfOtherNodes, AreNotWaitedForByWhoAnswers) {
  CoveredNodes covered(2);
  write_own(covered, 1, "file", "text");
  cluster::Job& job = covered.job(1)->job;
  const auto entry = cluster::local_entry(job, "file");
  ASSERT_TRUE(entry.ok() && file::begin_moving(job.fs(), entry->map).ok());
  const uint64_t words[2] = {entry->map.number, entry->generation};
  cluster::Uuid id = {};
  std::memcpy(id.data(), words, sizeof words);
  for (const bool writing : {false, true})
    EXPECT_EQ(job.held().hold(id, writing).code(), EAGAIN) << writing;
  const pool::SeatGuard seat(job.fs().pool);
  file::end_moving(job.fs(), *seat, entry->map, entry->generation);
  EXPECT_TRUE(job.held().hold(id, true).ok());
  job.held().release(id, true);
}

TEST(OrdinaryFilesOfOtherNodes, OnlyWhatWasSeenIsForgotten) {
  CoveredNodes covered(2);
  write_own(covered, 1, "file", "old");
  write_own(covered, 1, "new", "new");
  cluster::Job& job = covered.job(1)->job;
  const auto seen = cluster::local_entry(job, "file");
  ASSERT_TRUE(seen.ok());
  ASSERT_EQ(cairn_rename(covered.pool(1), covered.top(1), "new", covered.top(1), "file", 0), 0);
  EXPECT_EQ(cluster::forget(job, *seen).code(), ENOENT);
  EXPECT_EQ(read_own(covered, 1, "file"), "new");
}

TEST(OrdinaryFilesOfOtherNodes, WhatIsChangedMeanwhileIsNotForgotten) {
  CoveredNodes covered(2);
  write_own(covered, 1, "file", "text");
  cluster::Job& job = covered.job(1)->job;
  const auto seen = cluster::local_entry(job, "file");
  ASSERT_TRUE(seen.ok());
  cairn_stat st = {};
  ASSERT_EQ(cairn_lookup(covered.pool(1), covered.top(1), "file", 0, &st), 0);
  const auto before = static_cast<uint64_t>(st.ctime_ns);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // its clock has moved on
  ASSERT_EQ(cairn_chmod(covered.pool(1), st.ino, st.generation, 0600), 0);
  EXPECT_EQ(cluster::forget(job, *seen, before).code(), ESTALE);
  EXPECT_EQ(covered.mode(1, "file"), S_IFREG | 0600U);
  ASSERT_EQ(cairn_lookup(covered.pool(1), covered.top(1), "file", 0, &st), 0);
  EXPECT_TRUE(cluster::forget(job, *seen, static_cast<uint64_t>(st.ctime_ns)).ok());
  EXPECT_EQ(covered.mode(1, "file"), 0U);
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
        // Busy while another one moves it, which takes long on a machine that has other things to
        // do.
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
