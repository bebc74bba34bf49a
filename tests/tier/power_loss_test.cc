// A power loss before the drain: what was synced is in the pool, and the next drain brings it to
// lower.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>

#include "format/layout.h"
#include "tier/cover_fixture.h"

namespace cairn::test {
namespace {

// The machine was started anew: every store of the dead has arrived, locks and lanes are void.
void pretend_another_boot(const std::string& pool) {
  std::fstream image(pool + "/segment.0", std::ios::in | std::ios::out | std::ios::binary);
  const auto at = static_cast<std::streamoff>(format::state_block * format::block_size +
                                              offsetof(format::State, boot_id));
  uint64_t id = 0;
  image.seekg(at);
  image.read(reinterpret_cast<char*>(&id), sizeof id);
  id ^= 1;
  image.seekp(at);
  image.write(reinterpret_cast<const char*>(&id), sizeof id);
  ASSERT_TRUE(image.good());
}

class PowerLoss : public CoverTest, public ::testing::WithParamInterface<uint32_t> {
 protected:
  void SetUp() override {
    cairn_pool_options options = {};
    options.struct_size = sizeof options;
    options.size = 32 << 20;
    options.granularity = GetParam();
    ASSERT_EQ(cairn_pool_create(pool_.c_str(), &options), 0) << cairn_last_error();
    fs::create_directories(lower_);
    put(lower_ + "/file", "old bytes");
    fs::last_write_time(lower_ + "/file", fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
  // Another process changes the file and syncs it; the power goes while it is open, or after its
  // close.
  void change_and_lose_power(bool closes) {
    const pid_t child = fork();
    if (child == 0) {
      cairn_pool* pool = nullptr;
      cairn_cover* cover = nullptr;
      cairn_file* file = nullptr;
      cairn_cover_options options = {};
      options.struct_size = sizeof options;
      options.keep = 1;
      const bool good = cairn_pool_attach(pool_.c_str(), 0, &pool) == 0 &&
                        cairn_cover_open(pool, lower_.c_str(), &options, &cover) == 0 &&
                        cairn_open(pool, cairn_cover_top(cover), "file", O_RDWR, 0, &file) == 0 &&
                        cairn_pwrite(file, "NEW", 3, 0) == 3 && cairn_fsync(file) == 0 &&
                        (!closes || cairn_close(file) == 0);
      if (!good) _exit(1);
      kill(getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    pretend_another_boot(pool_);
  }
};

TEST_P(PowerLoss, WhatWasSyncedIsDrained) {
  const time_t before = time(nullptr);
  change_and_lose_power(false);
  Covered covered(pool_, lower_, true);
  EXPECT_EQ(covered.read("file"), "NEW bytes");
  EXPECT_GE(covered.stat("file").mtime_ns / 1'000'000'000, static_cast<int64_t>(before))
      << "the time of the write was lost";
  const Drained drained = covered.drain();
  EXPECT_EQ(drained.code, 0);
  EXPECT_EQ(drained.report.files, 1U);
  EXPECT_EQ(get(lower_ + "/file"), "NEW bytes");
}

TEST_P(PowerLoss, AlsoAfterItsClose) {
  change_and_lose_power(true);
  Covered covered(pool_, lower_, true);
  EXPECT_EQ(covered.drain().code, 0);
  EXPECT_EQ(get(lower_ + "/file"), "NEW bytes");
}

INSTANTIATE_TEST_SUITE_P(Granularities, PowerLoss, ::testing::Values(2U, 3U));

}  // namespace
}  // namespace cairn::test
