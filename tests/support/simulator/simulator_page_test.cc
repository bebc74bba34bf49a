// The simulator as a page medium: flushes are remembered, and can be taken back.
#include <gtest/gtest.h>

#include "support/simulator/simulator_fixture.h"

namespace cairn::persist {
namespace {

class PageSimulatorTest : public SimulatorTest {
 protected:
  PageSimulatorTest() : SimulatorTest(Granularity::page) {}
  static constexpr uint64_t other_page = 8192;
  uint64_t lost() {
    region.store(at(other_page), 1);
    persist(at(other_page));
    return failures([&](uint64_t) {
      return image_at(other_page).load() == 0 || image_at(data_at).load() == 7;
    });
  }
};

TEST_F(PageSimulatorTest, AFlushThatIsNotDroppedArrivesWithTheFence) {
  region.store(at(data_at), 7);
  region.flush(&at(data_at), sizeof(Word));
  ASSERT_TRUE(region.fence().ok());
  EXPECT_EQ(lost(), 0U);
}

TEST_F(PageSimulatorTest, ADroppedFlushDoesNotArrive) {
  region.store(at(data_at), 7);
  region.flush(&at(data_at), sizeof(Word));
  region.drop_flushes();
  ASSERT_TRUE(region.fence().ok());
  EXPECT_NE(lost(), 0U);
}

}  // namespace
}  // namespace cairn::persist
