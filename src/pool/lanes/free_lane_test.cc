// Searches a free lane while other processes take theirs, and die.
#include "pool/lanes/free_lane.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "pool/medium/files.h"
#include "pool/medium/format_io.h"

namespace cairn::pool {
namespace {

// A lock that is overtaken: when it is first taken, another process has had that lane in the
// meantime, and has died.
class Overtaken final : public LaneLock {
 public:
  Overtaken(Pool& pool, LaneLock& lock) : pool_(pool), lock_(lock) {}
  Status take(uint32_t lane) override {
    const Status status = lock_.take(lane);
    if (status.ok() && first_ == UINT32_MAX) {
      first_ = lane;
      pool_.fetch_add(pool_.lanes[lane].generation, 1);
    }
    return status;
  }
  void give_back(uint32_t lane) override { lock_.give_back(lane); }
  [[nodiscard]] uint32_t first() const { return first_; }

 private:
  Pool& pool_;
  LaneLock& lock_;
  uint32_t first_ = UINT32_MAX;
};

class FreeLane : public testing::Test {
 protected:
  FreeLane() {
    EXPECT_NE(mkdtemp(place_.data()), nullptr);
    const std::string path = place_ + "/pool";
    CreateOptions options;
    options.size_bytes = least_pool_bytes;
    options.lanes = 4;
    HiddenPlace hidden;
    auto made = create_files(path, options, &hidden);
    EXPECT_TRUE(made.ok()) << last_detail();
    EXPECT_TRUE(publish_identity(**made).ok());
    EXPECT_TRUE(give_name(**made, path, hidden).ok());
    auto opened = open_files(path, false);
    EXPECT_TRUE(opened.ok()) << last_detail();
    pool_ = std::move(*opened);
    file_ = open(pool_->lock_path.c_str(), O_RDWR | O_CLOEXEC);
  }
  ~FreeLane() override {
    close(file_);
    pool_.reset();
    const std::string command = "rm -rf '" + place_ + "'";
    (void)!std::system(command.c_str());
  }

  // Takes a lane by `lock` and expects another one than the dead one's, whose lock is free.
  void expect_the_next(bool for_exec, LaneLock& lock) {
    Overtaken overtaken(*pool_, lock);
    const auto lane = take_free_lane(*pool_, for_exec, overtaken);
    ASSERT_TRUE(lane.ok()) << last_detail();
    ASSERT_NE(overtaken.first(), UINT32_MAX);
    EXPECT_NE(*lane, overtaken.first());
    EXPECT_TRUE(*media::is_held(file_, lane_lock_byte(*lane)));
    EXPECT_FALSE(*media::is_held(file_, lane_lock_byte(overtaken.first())));
  }

  std::string place_ = "/dev/shm/cairn-lane-XXXXXX";
  std::unique_ptr<Pool> pool_;
  int file_ = -1;
};

TEST_F(FreeLane, ADeadOnesIsNotHeldOnTheWay) {
  media::LivenessLock held;
  OwnLock lock(*pool_, media::Inheritance::own, &held, -1);
  expect_the_next(false, lock);
}

// The description holds all locks that were taken through it while one of them is mapped.
TEST_F(FreeLane, NorThroughADescriptionThatIsKept) {
  const int descriptor = open(pool_->lock_path.c_str(), O_RDWR | O_CLOEXEC);
  media::LivenessLock held;
  OwnLock lock(*pool_, media::Inheritance::own, &held, descriptor);
  expect_the_next(false, lock);
  close(descriptor);
}

TEST_F(FreeLane, NorByADescriptorThatSurvivesExec) {
  int descriptor = -1;
  LockForExec lock(file_, &descriptor);
  expect_the_next(true, lock);
  EXPECT_GE(descriptor, 0);
  close(descriptor);
}

}  // namespace
}  // namespace cairn::pool
