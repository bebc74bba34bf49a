// Power losses and kills at every point of short histories of each operation.
//
//   CAIRN_SEED, CAIRN_CRASH_IMAGES   repeat a failure; images for each crash point
//   CAIRN_RECOVERY_STRIDE            how many images go by between two whose recovery is crashed as
//   well CAIRN_KILL_STRIDE                events between two kills
#include "crash/try_history.h"

namespace cairn::test {
namespace {

class Crash : public testing::TestWithParam<size_t> {
 protected:
  Crash() {
    options.seed = test_seed();
    options.images_per_point = number_from_environment("CAIRN_CRASH_IMAGES", 24);
    options.recovery_stride = number_from_environment("CAIRN_RECOVERY_STRIDE", 400);
    options.kill_stride = number_from_environment("CAIRN_KILL_STRIDE", 1);
  }
  const History& history = all_histories()[GetParam()];
  LabOptions options;
  uint64_t images = 0;
};

TEST_P(Crash, PowerLossWithCacheLines) {
  EXPECT_EQ(try_power_losses(history, options, &images), "") << history.name;
  RecordProperty("images", std::to_string(images));
}

TEST_P(Crash, PowerLossWithASafeCache) {
  options.granularity = persist::Granularity::byte;
  EXPECT_EQ(try_power_losses(history, options, &images), "") << history.name;
}

// Bytes are promised after fsync only; names as on persistent memory. Pages give more images than
// cache lines, and a recovery of each takes longer: the slow tests look at more of them.
TEST_P(Crash, PowerLossOfAFile) {
  options.granularity = persist::Granularity::page;
  options.images_per_point = number_from_environment("CAIRN_CRASH_IMAGES", 8);
  EXPECT_EQ(try_power_losses(history, options, &images), "") << history.name;
}

TEST_P(Crash, Kill) { EXPECT_EQ(try_kills(history, options, &images), "") << history.name; }

INSTANTIATE_TEST_SUITE_P(Histories, Crash, testing::Range(size_t{0}, all_histories().size()),
                         [](const auto& history) {
                           std::string name = all_histories()[history.param].name;
                           for (char& c : name) c = c == ' ' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace cairn::test
