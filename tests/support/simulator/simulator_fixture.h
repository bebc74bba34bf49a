// What the simulator's tests share: one region, and a publish of one word by another.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "support/simulator/simulator.h"

namespace cairn::persist {

inline constexpr size_t region_size = 64 << 10;
inline constexpr uint64_t all = 1 << 20;

// Two words on different lines: `data` must be there when `flag` says so.
inline constexpr uint64_t data_at = 0;
inline constexpr uint64_t flag_at = 256;

class SimulatorTest : public testing::Test {
 protected:
  explicit SimulatorTest(Granularity granularity = Granularity::cache_line) : sim(granularity) {
    id = sim.add_region(region_size);
    EXPECT_TRUE(sim.attach(region, id).ok());
    EXPECT_TRUE(sim.attach_image(image, id).ok());
    Simulator::set_cpu(0);
  }
  Word& at(uint64_t offset) { return *reinterpret_cast<Word*>(region.base() + offset); }
  Word& image_at(uint64_t offset) { return *reinterpret_cast<Word*>(image.base() + offset); }
  void persist(Word& word, Site site = Site::here()) {
    region.flush(&word, sizeof word, site);
    EXPECT_TRUE(region.fence(site).ok());
  }
  // How many images, over all crash points, break `holds`.
  template <typename Holds>
  uint64_t failures(Holds holds, uint64_t limit = all) {
    uint64_t failed = 0;
    for (uint64_t point : sim.crash_points()) {
      sim.enumerate(point, limit, 1, [&] {
        failed += holds(point) ? 0 : 1;
        return true;
      });
    }
    return failed;
  }
  bool flag_implies_data() {
    return image_at(flag_at).load() == 0 || image_at(data_at).load() == 7;
  }
  uint64_t publish_failures() {
    return failures([&](uint64_t) { return flag_implies_data(); });
  }

  Simulator sim;
  int id = 0;
  Region region;
  Region image;
};

}  // namespace cairn::persist
