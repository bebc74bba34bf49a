// Random operations in a cover, drained now and then, against the same on a plain directory.
#include "tier/exercise.h"

#include <cstdlib>

namespace cairn::test {
namespace {

class ExerciseTest : public CoverTest {
 protected:
  void run(uint64_t seed) {
    SCOPED_TRACE("CAIRN_SEED=" + std::to_string(seed));
    const std::string pool = shared_.path("pool-" + std::to_string(seed));
    const std::string lower = disk_.path("lower-" + std::to_string(seed));
    const std::string plain = disk_.path("plain-" + std::to_string(seed));
    pool_ = pool;
    make_pool();
    fs::create_directory(lower);
    fs::create_directory(plain);
    Exercise(seed).populate(lower);
    Exercise(seed).populate(plain);
    TreeOptions without_times;
    without_times.times = false;
    Exercise exercise(seed + 1);
    auto covered = std::make_unique<Covered>(pool, lower);
    for (int round = 0; round < 6 && !HasFailure(); ++round) {
      for (int i = 0; i < 60 && !HasFatalFailure(); ++i) exercise.step(*covered, plain);
      if (HasFatalFailure()) return;
      const auto shown = covered->describe();
      ASSERT_EQ(difference(covered->describe(without_times), describe(plain, without_times)), "");
      const Drained drained = covered->drain();
      ASSERT_EQ(drained.code, 0) << cairn_last_error()
                                 << (drained.problems.empty() ? "" : drained.problems[0]);
      ASSERT_EQ(difference(shown, describe(lower)), "") << "round " << round;
      if (round % 2 == 1) {  // begin anew from lower, or go on with what the pool knows
        const bool anew = round % 4 == 1;
        const int ended = anew ? covered->discard() : 0;
        ASSERT_EQ(ended, 0) << cairn_last_error();
        covered.reset();
        if (anew) break_links(lower);
        if (anew) break_links(plain);
        covered = std::make_unique<Covered>(pool, lower);
      }
    }
  }
};

TEST_F(ExerciseTest, LowerBecomesWhatThePlainDirectoryIs) {
  if (const char* seed = std::getenv("CAIRN_SEED")) return run(std::strtoull(seed, nullptr, 10));
  const uint64_t first = std::random_device()();
  for (uint64_t i = 0; i < 20 && !HasFailure(); ++i) run(first + i);
}

}  // namespace
}  // namespace cairn::test
