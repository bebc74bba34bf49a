// The simulator on trial: protocols that are right pass, each mistake of theirs is caught.
#include "support/simulator/simulator.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "support/simulator/simulator_fixture.h"

namespace cairn::persist {
namespace {

TEST_F(SimulatorTest, ARightPublishPasses) {
  region.store(at(data_at), 7);
  persist(at(data_at));
  region.store(at(flag_at), 1);
  persist(at(flag_at));
  uint64_t acknowledged = sim.mark();
  EXPECT_EQ(publish_failures(), 0U);
  EXPECT_EQ(failures([&](uint64_t point) {
              return point < acknowledged || image_at(flag_at).load() == 1;
            }),
            0U);
}

TEST_F(SimulatorTest, AMissingFlushIsCaught) {
  region.store(at(data_at), 7);
  EXPECT_TRUE(region.fence().ok());
  region.store(at(flag_at), 1);
  persist(at(flag_at));
  EXPECT_GT(publish_failures(), 0U);
}

TEST_F(SimulatorTest, AMissingFenceIsCaught) {
  region.store(at(data_at), 7);
  region.flush(&at(data_at), 8);
  region.store(at(flag_at), 1);
  persist(at(flag_at));
  EXPECT_GT(publish_failures(), 0U);
}

TEST_F(SimulatorTest, TheWrongOrderIsCaught) {
  region.store(at(flag_at), 1);
  persist(at(flag_at));
  region.store(at(data_at), 7);
  persist(at(data_at));
  EXPECT_GT(publish_failures(), 0U);
}

TEST_F(SimulatorTest, AFlushBeforeItsStoreIsCaught) {
  region.flush(&at(data_at), 8);
  region.store(at(data_at), 7);
  EXPECT_TRUE(region.fence().ok());
  region.store(at(flag_at), 1);
  EXPECT_GT(publish_failures(), 0U);
}

TEST_F(SimulatorTest, AMissingFinalFenceLosesWhatWasAcknowledged) {
  region.store(at(data_at), 7);
  region.flush(&at(data_at), 8);
  uint64_t acknowledged = sim.mark();
  EXPECT_GT(failures([&](uint64_t point) {
              return point < acknowledged || image_at(data_at).load() == 7;
            }),
            0U);
}

TEST_F(SimulatorTest, LockedInstructionsDrainNothing) {
  region.store(at(data_at), 7);
  region.flush(&at(data_at), 8);
  region.fetch_add(at(512), 1);
  uint64_t expected = 0;
  EXPECT_TRUE(region.compare_exchange(at(flag_at), expected, 1));
  EXPECT_GT(publish_failures(), 0U);
}

TEST_F(SimulatorTest, WordsOfOneLineArriveInOrder) {
  region.store(at(0), 7);
  region.store(at(8), 1);
  EXPECT_EQ(failures([&](uint64_t) { return image_at(8).load() == 0 || image_at(0).load() == 7; }),
            0U);
}

TEST_F(SimulatorTest, OnlyTheCpuThatFlushedCanDrain) {
  region.store(at(data_at), 7);
  region.flush(&at(data_at), 8);
  Simulator::set_cpu(1);
  EXPECT_TRUE(region.fence().ok());
  region.store(at(flag_at), 1);
  EXPECT_GT(publish_failures(), 0U);
}

TEST_F(SimulatorTest, AnotherCpuMayFlushForTheWriter) {
  region.store(at(data_at), 7);
  Simulator::set_cpu(1);
  persist(at(data_at));
  region.store(at(flag_at), 1);
  EXPECT_EQ(publish_failures(), 0U);
}

TEST_F(SimulatorTest, WhatRecoveryStoresIsRolledBack) {
  region.store(at(0), 5);
  persist(at(0));
  region.store(at(64), 6);
  int visits = 0;
  sim.enumerate(sim.mark(), all, 1, [&] {
    ++visits;
    EXPECT_EQ(image_at(0).load(), 5U);
    EXPECT_EQ(image_at(4096).load(), 0U);
    image.store(image_at(0), 1);
    image.fetch_add(image_at(64), 1);
    image.fetch_add(image_at(64), 1);
    EXPECT_TRUE(image.copy(4096, "recovery", 8).ok());
    EXPECT_TRUE(image.zero(0, 32).ok());
    image.flush(image.base(), 64);
    EXPECT_TRUE(image.fence().ok());
    return true;
  });
  EXPECT_EQ(visits, 2);
  EXPECT_EQ(image_at(0).load(), 5U);
  EXPECT_EQ(at(0).load(), 5U);
}

TEST_F(SimulatorTest, AVisitorMayStopAndEarlierPointsCanBeAskedAgain) {
  for (uint64_t i = 0; i < 8; ++i) {
    region.store(at(i * 64), 1);
    persist(at(i * 64));
  }
  Enumeration stopped = sim.enumerate(sim.mark(), all, 1, [] { return false; });
  EXPECT_TRUE(stopped.stopped);
  EXPECT_EQ(stopped.images, 1U);
  sim.enumerate(0, all, 1, [&] {
    EXPECT_EQ(image_at(0).load(), 0U);
    return true;
  });
}

TEST_F(SimulatorTest, SettlingStartsHistoryAfresh) {
  region.store(at(0), 5);
  sim.settle();
  EXPECT_EQ(sim.mark(), 0U);
  region.store(at(64), 6);
  EXPECT_EQ(failures([&](uint64_t) { return image_at(0).load() == 5; }), 0U);
  // Going back keeps what was settled.
  sim.enumerate(0, all, 1, [&] {
    EXPECT_EQ(image_at(0).load(), 5U);
    return true;
  });
}

TEST_F(SimulatorTest, SeveralRegionsShareOneOrderAndOneFence) {
  int other = sim.add_region(region_size);
  Region second;
  Region second_image;
  ASSERT_TRUE(sim.attach(second, other).ok());
  ASSERT_TRUE(sim.attach_image(second_image, other).ok());
  Word& flag = *reinterpret_cast<Word*>(second.base());
  Word& flag_image = *reinterpret_cast<Word*>(second_image.base());
  region.store(at(data_at), 7);
  region.flush(&at(data_at), 8);
  ASSERT_TRUE(second.fence().ok());
  second.store(flag, 1);
  EXPECT_EQ(
      failures([&](uint64_t) { return flag_image.load() == 0 || image_at(data_at).load() == 7; }),
      0U);
}

TEST_F(SimulatorTest, AttachmentsSeeEachOther) {
  Region second;
  ASSERT_TRUE(sim.attach(second, id).ok());
  region.store(at(0), 3);
  EXPECT_EQ(second.fetch_add(*reinterpret_cast<Word*>(second.base()), 1), 3U);
  uint64_t held = 9;
  EXPECT_FALSE(region.compare_exchange(at(0), held, 1));
  EXPECT_EQ(held, 4U);
  // The swap that failed is no event: two stores are.
  EXPECT_EQ(sim.mark(), 2U);
}

TEST_F(SimulatorTest, RecordsThreadsInOneOrder) {
  std::vector<std::thread> threads;
  for (int cpu = 1; cpu <= 4; ++cpu) {
    threads.emplace_back([&, cpu] {
      Simulator::set_cpu(cpu);
      for (int i = 0; i < 1000; ++i) region.fetch_add(at(0), 1);
      region.flush(&at(0), 8);
      EXPECT_TRUE(region.fence().ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  sim.enumerate(sim.mark(), all, 1, [&] {
    EXPECT_EQ(image_at(0).load(), 4000U);
    return true;
  });
}

// Each flush and fence of a right protocol, taken out in turn, must be missed by someone.
TEST(SimulatorMutation, EachSiteCanBeTakenOut) {
  auto run = [](const SiteHits* without, std::vector<SiteHits>* sites) {
    Simulator sim(Granularity::cache_line);
    int id = sim.add_region(region_size);
    Region region;
    Region image;
    EXPECT_TRUE(sim.attach(region, id).ok());
    EXPECT_TRUE(sim.attach_image(image, id).ok());
    if (without != nullptr) sim.ignore(without->kind, without->site);
    auto word = [](Region& of, uint64_t offset) -> Word& {
      return *reinterpret_cast<Word*>(of.base() + offset);
    };
    region.store(word(region, data_at), 7);
    region.flush(&word(region, data_at), 8);
    EXPECT_TRUE(region.fence().ok());
    region.store(word(region, flag_at), 1);
    region.flush(&word(region, flag_at), 8);
    EXPECT_TRUE(region.fence().ok());
    uint64_t acknowledged = sim.mark();
    bool failed = false;
    for (uint64_t point : sim.crash_points()) {
      sim.enumerate(point, all, 1, [&] {
        bool flag = word(image, flag_at).load() == 1;
        failed |= flag && word(image, data_at).load() != 7;
        failed |= point >= acknowledged && !flag;
        return true;
      });
    }
    if (sites != nullptr) *sites = sim.sites();
    return failed;
  };
  std::vector<SiteHits> sites;
  EXPECT_FALSE(run(nullptr, &sites));
  ASSERT_EQ(sites.size(), 4U);
  for (const SiteHits& site : sites) {
    EXPECT_EQ(site.hits, 1U);
    EXPECT_TRUE(run(&site, nullptr)) << site.site.file << ":" << site.site.line;
  }
}

TEST(SimulatorRegions, StartFromGivenContents) {
  std::vector<uint8_t> initial(4096, 'i');
  Simulator sim(Granularity::cache_line);
  int id = sim.add_region(initial.size(), initial.data());
  EXPECT_EQ(sim.region_count(), 1U);
  EXPECT_EQ(std::memcmp(sim.memory(id), initial.data(), initial.size()), 0);
  sim.enumerate(0, 1, 1, [&] {
    EXPECT_EQ(std::memcmp(sim.image(id), initial.data(), initial.size()), 0);
    return true;
  });
}

}  // namespace
}  // namespace cairn::persist
