#include "file/pins.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "file/process.h"
#include "pool/seats.h"

namespace cairn::file {
namespace {

class Pins : public testing::Test {
 protected:
  Pins() {
    EXPECT_NE(mkdtemp(place_.data()), nullptr);
    const std::string path = place_ + "/pool";
    pool::CreateOptions options;
    options.size_bytes = uint64_t{8} << 20;
    options.lanes = 4;
    EXPECT_TRUE(create(path, options, 0700).ok()) << last_detail();
    auto attached = attach(path, {});
    EXPECT_TRUE(attached.ok()) << last_detail();
    fs = std::move(*attached);
  }
  ~Pins() override {
    detach(*fs);
    fs.reset();
    const std::string command = "rm -rf '" + place_ + "'";
    (void)!std::system(command.c_str());
  }
  std::vector<PinHandle> take(size_t count) {
    const pool::SeatGuard seat(fs->pool);
    std::vector<PinHandle> pins;
    for (size_t i = 0; i < count; ++i) {
      auto pin = pin_inode(*fs, *seat, 1);
      EXPECT_TRUE(pin.ok()) << last_detail();
      pins.push_back(std::move(*pin));
    }
    return pins;
  }
  void give_back(std::vector<PinHandle>& pins) {
    for (PinHandle& pin : pins) unpin(*fs, pin);
  }
  [[nodiscard]] uint64_t looked_at() const { return fs->pool.state->pin_cursor.load(); }

  std::unique_ptr<FileSystem> fs;

 private:
  std::string place_ = "/dev/shm/cairn-pins-XXXXXX";
};

// Whoever cuts a file looks at all that were ever taken: their number was that of all pins of a program's life.
TEST_F(Pins, TakenAndGivenBackForEverAreNoMoreThanAtOnce) {
  constexpr size_t at_once = 300;
  for (int round = 0; round < 100; ++round) {
    auto pins = take(at_once);
    give_back(pins);
  }
  EXPECT_LE(looked_at(), 3 * at_once);
  EXPECT_FALSE(is_pinned(*fs, 1));
}

TEST_F(Pins, AForkedChildTakesBackWhatItGaveBack) {
  auto pins = take(1);
  // As if another thread of the parent were just looking there.
  fs->free_pins.lock.store(1);
  ForkedLane forked;
  ASSERT_TRUE(prepare_fork(*fs, &forked).ok()) << last_detail();
  const pid_t child = fork();
  if (child == 0) {
    finish_fork_in_child(*fs, &forked);
    auto own = take(1);
    const uint64_t number = own[0].number;
    give_back(own);
    _exit(take(1)[0].number == number ? 0 : 1);
  }
  finish_fork_in_parent(*fs, &forked);
  fs->free_pins.lock.store(0);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  give_back(pins);
}

}  // namespace
}  // namespace cairn::file
