// Calls of two processes that overlap, switched from one to the other at each store in turn.
//
//   CAIRN_SEED, CAIRN_CRASH_IMAGES   repeat a failure; images for each crash point
//   CAIRN_INTERLEAVINGS              how many switches are tried of each pair (default: a few,
//   drawn)
#include "crash/interleaved.h"

#include "crash/apart.h"

namespace cairn::test {
namespace {

constexpr unsigned longest_s = 60;

class Interleaved : public testing::TestWithParam<size_t> {
 protected:
  Interleaved() : random(test_seed() ^ GetParam()) {
    options.seed = test_seed();
    options.processes = 2;
    options.images_per_point = number_from_environment("CAIRN_CRASH_IMAGES", 4);
  }
  const Pair& pair = all_pairs()[GetParam()];
  LabOptions options;
  Random random;
  uint64_t switches = number_from_environment("CAIRN_INTERLEAVINGS", 6);
};

// The places where a call of `events` events is interrupted: `switches` of them, or every one.
std::vector<uint64_t> places(Random& random, uint64_t events, uint64_t switches) {
  std::vector<uint64_t> chosen;
  for (uint64_t i = 1; i < events; ++i) {
    if (switches >= events || random.below(events) < switches) chosen.push_back(i);
  }
  return chosen;
}

TEST_P(Interleaved, PowerLossesAndKillsOfBoth) {
  const Outcomes outcomes(pair, options);
  uint64_t images = 0;
  for (int first : {0, 1}) {
    const uint64_t events =
        interrupt(pair, outcomes, options, first, Turns::to_the_end, 0, &images).events;
    ASSERT_GT(events, 0U);
    for (uint64_t at : places(random, events, switches)) {
      // All of the other call, or a part of it before the first goes on.
      const uint64_t other = random.one_in(2) ? Turns::to_the_end : 1 + random.below(60);
      const Overlap overlap = interrupt(pair, outcomes, options, first, at, other, &images);
      ASSERT_EQ(overlap.wrong, "") << pair.name << ", call " << first << " interrupted after " << at
                                   << " events, for " << other;
    }
  }
  RecordProperty("images", std::to_string(images));
}

// In processes of their own: the threads of the killed stand still in them.
TEST_P(Interleaved, OneIsKilledAndTheOtherLivesOn) {
  const Outcomes outcomes(pair, options);
  uint64_t images = 0;
  for (int first : {0, 1}) {
    const uint64_t events =
        interrupt(pair, outcomes, options, first, Turns::to_the_end, 0, &images).events;
    // With a mapping in the end it matters at which store, and of which it has flushed.
    const uint64_t kills = pair.mapped == nullptr ? 3 * switches : 256;
    const std::vector<uint64_t> all = places(random, events, kills);
    constexpr size_t batch = 16;
    for (size_t from = 0; from < all.size(); from += batch) {
      const auto kill_some = [&] {
        std::string wrong;
        for (size_t i = from; i < std::min(all.size(), from + batch) && wrong.empty(); ++i)
          wrong = kill_one(pair, outcomes, options, first, all[i]).wrong;
        return wrong;
      };
      ASSERT_EQ(apart(longest_s, kill_some), "")
          << pair.name << ", call " << first << " killed after " << all[from] << "... events";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Pairs, Interleaved, testing::Range(size_t{0}, all_pairs().size()),
                         [](const auto& pair) {
                           std::string name = all_pairs()[pair.param].name;
                           for (char& c : name) c = c == ' ' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace cairn::test
