// Tests which images a history leaves: combinations, samples, torn copies, other granularities,
// kills.
#include "support/simulator/crash_images.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "support/simulator/simulator_fixture.h"

namespace cairn::persist {
namespace {

TEST_F(SimulatorTest, EveryCombinationOfLinesIsShownOnce) {
  for (int line = 0; line < 4; ++line) {
    for (uint64_t value = 1; value <= 2; ++value) {
      region.store(at(static_cast<uint64_t>(line) * 64), value);
    }
  }
  std::set<std::vector<uint64_t>> seen;
  Enumeration result = sim.enumerate(sim.mark(), all, 1, [&] {
    seen.insert(
        {image_at(0).load(), image_at(64).load(), image_at(128).load(), image_at(192).load()});
    return true;
  });
  EXPECT_TRUE(result.exhaustive);
  EXPECT_EQ(result.images, 81U);
  EXPECT_EQ(seen.size(), 81U);
}

TEST_F(SimulatorTest, LongHistoriesAreSampledBySeed) {
  for (uint64_t line = 0; line < 100; ++line) region.store(at(line * 64), line + 1);
  auto draw = [&](uint64_t seed) {
    std::vector<uint64_t> sums;
    Enumeration result = sim.enumerate(sim.mark(), 1000, seed, [&] {
      uint64_t sum = 0;
      for (uint64_t line = 0; line < 100; ++line) sum += image_at(line * 64).load() * (line + 3);
      sums.push_back(sum);
      return true;
    });
    EXPECT_FALSE(result.exhaustive);
    EXPECT_EQ(result.images, 1000U);
    return sums;
  };
  EXPECT_EQ(draw(1), draw(1));
  EXPECT_NE(draw(1), draw(2));
}

TEST_F(SimulatorTest, BulkDataAreOldNewOrTorn) {
  std::vector<uint8_t> old_bytes(4096, 'o');
  std::vector<uint8_t> new_bytes(4096, 'n');
  ASSERT_TRUE(region.copy(4096, old_bytes.data(), 4096).ok());
  ASSERT_TRUE(region.fence().ok());
  ASSERT_TRUE(region.copy(4096, new_bytes.data(), 4096).ok());
  std::set<uint64_t> counts;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    sim.enumerate(sim.mark(), all, seed, [&] {
      uint64_t fresh = 0;
      for (size_t i = 0; i < 4096; i += 8) {
        const uint8_t* word = image.base() + 4096 + i;
        bool is_new = word[0] == 'n';
        // 8 bytes are never torn.
        for (size_t b = 0; b < 8; ++b) EXPECT_EQ(word[b], is_new ? 'n' : 'o');
        fresh += is_new;
      }
      counts.insert(fresh);
      return true;
    });
  }
  EXPECT_TRUE(counts.count(0) == 1 && counts.count(512) == 1);
  EXPECT_GT(counts.size(), 10U);
}

TEST_F(SimulatorTest, CopiesNeedOnlyAFence) {
  ASSERT_TRUE(region.copy(4096, "payload", 8).ok());
  ASSERT_TRUE(region.fence().ok());
  region.store(at(flag_at), 1);
  EXPECT_EQ(failures([&](uint64_t) {
              return image_at(flag_at).load() == 0 ||
                     std::memcmp(image.base() + 4096, "payload", 8) == 0;
            }),
            0U);
}

TEST_F(SimulatorTest, CopiesWithoutAFenceAreCaught) {
  ASSERT_TRUE(region.copy(4096, "payload", 8).ok());
  region.store(at(flag_at), 1);
  EXPECT_GT(failures([&](uint64_t) {
              return image_at(flag_at).load() == 0 ||
                     std::memcmp(image.base() + 4096, "payload", 8) == 0;
            }),
            0U);
}

class ByteSimulator : public SimulatorTest {
 protected:
  ByteSimulator() : SimulatorTest(Granularity::byte) {}
};

TEST_F(ByteSimulator, NeedsOnlyFences) {
  region.store(at(data_at), 7);
  ASSERT_TRUE(region.fence().ok());
  region.store(at(flag_at), 1);
  EXPECT_EQ(publish_failures(), 0U);
}

TEST_F(ByteSimulator, NeedsThem) {
  region.store(at(data_at), 7);
  region.store(at(flag_at), 1);
  EXPECT_GT(publish_failures(), 0U);
}

class PageSimulator : public SimulatorTest {
 protected:
  PageSimulator() : SimulatorTest(Granularity::page) {}
};

TEST_F(PageSimulator, AFlushTakesTheWholePage) {
  region.store(at(data_at), 7);
  region.flush(&at(2048), 8);
  ASSERT_TRUE(region.fence().ok());
  region.store(at(flag_at), 1);
  EXPECT_EQ(publish_failures(), 0U);
}

TEST_F(PageSimulator, PagesAreWrittenBackInAnyOrder) {
  region.store(at(8192), 7);
  region.store(at(flag_at), 1);
  EXPECT_GT(failures([&](uint64_t) {
              return image_at(flag_at).load() == 0 || image_at(8192).load() == 7;
            }),
            0U);
}

TEST_F(SimulatorTest, KilledProcessesLeaveEveryStoreBeforeThePoint) {
  std::vector<uint8_t> bytes(256, 'x');
  region.store(at(data_at), 7);
  region.store(at(flag_at), 1);
  ASSERT_TRUE(region.copy(4096, bytes.data(), bytes.size()).ok());
  region.store(at(flag_at), 2);
  sim.visit_killed(1, 8, 1, [&] {
    EXPECT_EQ(image_at(data_at).load(), 7U);
    EXPECT_EQ(image_at(flag_at).load(), 0U);
    return true;
  });
  std::set<size_t> lengths;
  Enumeration result = sim.visit_killed(2, 50, 1, [&] {
    EXPECT_EQ(image_at(flag_at).load(), 1U);
    size_t length = 0;
    while (length < 256 && image.base()[4096 + length] == 'x') ++length;
    for (size_t i = length; i < 256; ++i) EXPECT_EQ(image.base()[4096 + i], 0);
    lengths.insert(length);
    return true;
  });
  EXPECT_EQ(result.images, 51U);
  EXPECT_GT(lengths.size(), 5U);
  sim.visit_killed(4, 8, 1, [&] {
    EXPECT_EQ(image_at(flag_at).load(), 2U);
    return true;
  });
}

TEST_F(SimulatorTest, DescribesTheImageThatFailed) {
  region.store(at(data_at), 7);
  region.store(at(flag_at), 1);
  std::string text;
  sim.enumerate(sim.mark(), all, 1, [&] {
    if (!flag_implies_data()) text = sim.describe_image();
    return true;
  });
  EXPECT_NE(text.find("region 0 line 0x0: 0 of 1 pending stores"), std::string::npos) << text;
  EXPECT_NE(text.find("region 0 line 0x100: 1 of 1 pending stores"), std::string::npos) << text;
}

}  // namespace
}  // namespace cairn::persist
