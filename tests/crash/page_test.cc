// Plain files as a medium: what fsync acknowledged is there after a power loss, whatever the page
// cache wrote back in between, and no size without its bytes.
#include <fcntl.h>

#include <utility>
#include <vector>

#include "crash/crash_lab.h"

namespace cairn::test {
namespace {

class Page : public testing::Test {
 protected:
  static LabOptions page_medium() {
    LabOptions options;
    options.granularity = persist::Granularity::page;
    options.images_per_point = number_from_environment("CAIRN_CRASH_IMAGES", 60);
    options.seed = test_seed();
    return options;
  }
  Page() : lab(page_medium()) {}
  void SetUp() override {
    ASSERT_EQ(cairn_open(lab.pool(), CAIRN_ROOT, "file", O_RDWR | O_CREAT, 0600, &file), 0);
    lab.begin();
  }
  void TearDown() override { EXPECT_EQ(cairn_close(file), 0); }
  void write(char c, size_t size, uint64_t offset) {
    EXPECT_EQ(cairn_pwrite(file, std::string(size, c).data(), size, offset),
              static_cast<ssize_t>(size));
  }
  static char byte_at(const Item& item, uint64_t offset) {
    const auto block = item.blocks.find(offset / 4096);
    return block == item.blocks.end() ? '\0' : block->second[offset % 4096];
  }

  CrashLab lab;
  cairn_file* file = nullptr;
};

TEST_F(Page, WhatWasSyncedIsThere) {
  write('a', 10'000, 0);
  write('b', 5000, 40'000);
  ASSERT_EQ(cairn_fsync(file), 0) << cairn_last_error();
  const uint64_t synced = lab.simulator().mark();
  write('c', 9000, 20'000);
  write('d', 1000, 0);
  uint64_t lost = 0;
  lab.set_judge([&](const Snapshot& found, uint64_t point) -> std::string {
    const Item& item = found.at("/file");
    if (point < synced) return "";
    if (item.size != 45'000) return "size " + std::to_string(item.size);
    for (uint64_t at = 0; at < item.size; ++at) {
      const char is = byte_at(item, at);
      const char was = at < 10'000 ? 'a' : at >= 40'000 ? 'b' : '\0';
      const char will = at < 1000 ? 'd' : at >= 20'000 && at < 29'000 ? 'c' : was;
      if (is != was && is != will)
        return "byte " + std::to_string(at) + " is " + std::to_string(is);
      if (at == 25'000 && is == '\0') ++lost;
    }
    return "";
  });
  EXPECT_EQ(lab.power_losses(), "");
  EXPECT_GT(lost, 0U) << "what was not synced survived every power loss: this test saw none";
}

// Without a call of fsync: descriptors with O_SYNC or O_DSYNC, and pools whose every write is to
// last.
class PageDurable : public Page, public testing::WithParamInterface<int> {};

TEST_P(PageDurable, WhatWasWrittenIsThere) {
  const bool by_pool = GetParam() == 0;
  ASSERT_EQ(cairn_close(file), 0);
  if (by_pool) {
    ASSERT_EQ(cairn_pool_set_durability(lab.pool(), CAIRN_DURABILITY_WRITE), 0)
        << cairn_last_error();
  }
  ASSERT_EQ(cairn_open(lab.pool(), CAIRN_ROOT, "file", O_RDWR | GetParam(), 0600, &file), 0);
  cairn_file* log = nullptr;
  ASSERT_EQ(cairn_open(lab.pool(), CAIRN_ROOT, "log", O_RDWR | O_CREAT | O_APPEND | GetParam(),
                       0600, &log),
            0);
  std::vector<std::pair<uint64_t, std::pair<uint64_t, uint64_t>>>
      sizes;  // at a mark: of file and log
  const auto told = [&](uint64_t of_file, uint64_t of_log) {
    sizes.push_back({lab.simulator().mark(), {of_file, of_log}});
  };
  told(0, 0);
  write('x', 5000, 0);
  told(5000, 0);
  ASSERT_EQ(cairn_write(log, std::string(3000, 'x').data(), 3000), 3000);
  told(5000, 3000);
  write('x', 3000, 1000);  // over what is there
  write('x', 10'000, 5000);
  told(15'000, 3000);
  ASSERT_EQ(cairn_write(log, std::string(9000, 'x').data(), 9000), 9000);
  told(15'000, 12'000);
  lab.set_judge([&](const Snapshot& found, uint64_t point) -> std::string {
    for (const auto& [mark, least] : sizes) {
      if (point < mark) break;
      for (const auto& [name, size] : {std::pair{"/file", least.first}, {"/log", least.second}}) {
        const Item& item = found.at(name);
        if (item.size < size)
          return std::string(name) + ": acknowledged " + std::to_string(size) + ", found " +
                 std::to_string(item.size);
        for (uint64_t at = 0; at < size; ++at) {
          if (byte_at(item, at) != 'x') return std::string(name) + ": byte " + std::to_string(at);
        }
      }
    }
    return "";
  });
  EXPECT_EQ(lab.power_losses(), "");
  EXPECT_EQ(cairn_close(log), 0);
}

INSTANTIATE_TEST_SUITE_P(Ways, PageDurable, testing::Values(0, O_SYNC, O_DSYNC));

// A size goes with the last fsync: no power loss shows one whose bytes it took.
TEST_F(Page, NoSizeSurvivesWithoutItsBytes) {
  write('x', 9000, 0);
  ASSERT_EQ(cairn_fsync(file), 0) << cairn_last_error();
  const uint64_t synced = lab.simulator().mark();
  write('x', 30'000, 9000);
  ASSERT_EQ(cairn_ftruncate(file, 5000), 0) << cairn_last_error();
  const uint64_t cut = lab.simulator().mark();
  write('x', 20'000, 5000);
  ASSERT_EQ(cairn_ftruncate(file, 60'000), 0) << cairn_last_error();
  uint64_t shortened = 0;
  lab.set_judge([&](const Snapshot& found, uint64_t point) -> std::string {
    const Item& item = found.at("/file");
    if (item.size != 0 && item.size != 9000 && item.size != 5000)
      return "size " + std::to_string(item.size);
    if (point >= synced && item.size == 0) return "what was synced is gone";
    if (point >= cut && item.size != 5000) return "cut, and of size " + std::to_string(item.size);
    for (uint64_t at = 0; at < item.size; ++at) {
      if (byte_at(item, at) != 'x') return "foreign byte at " + std::to_string(at);
    }
    shortened += point >= cut ? 1 : 0;
    return "";
  });
  EXPECT_EQ(lab.power_losses(), "");
  EXPECT_GT(shortened, 0U);
}

// What all have detached from in order is there for good, although nobody called fsync: also after
// the power loss of a later time.
TEST_F(Page, WhatWasDetachedInOrderOutlivesLaterPowerLosses) {
  write('x', 9000, 0);
  ASSERT_EQ(cairn_close(file), 0);
  lab.detach_all();
  lab.attach_all();
  lab.begin_as_it_is();
  ASSERT_EQ(cairn_open(lab.pool(), CAIRN_ROOT, "file", O_RDWR, 0, &file), 0);
  write('y', 9000, 9000);
  lab.set_judge([&](const Snapshot& found, uint64_t) -> std::string {
    const Item& item = found.at("/file");
    if (item.size != 9000) return "size " + std::to_string(item.size);
    for (uint64_t at = 0; at < 9000; ++at) {
      if (byte_at(item, at) != 'x') return "foreign byte at " + std::to_string(at);
    }
    return "";
  });
  EXPECT_EQ(lab.power_losses(), "");
}

// "Write aside, rename over" without fsync: the name shows the old file or the new one, both whole.
TEST_F(Page, ARenameOverAFileReplacesItByAWholeOne) {
  write('o', 9000, 0);
  ASSERT_EQ(cairn_fsync(file), 0) << cairn_last_error();
  const uint64_t old_is_there = lab.simulator().mark();
  ASSERT_EQ(cairn_close(file), 0);
  ASSERT_EQ(cairn_open(lab.pool(), CAIRN_ROOT, "aside", O_RDWR | O_CREAT, 0600, &file), 0);
  write('n', 13'000, 0);
  ASSERT_EQ(cairn_rename(lab.pool(), CAIRN_ROOT, "aside", CAIRN_ROOT, "file", 0), 0)
      << cairn_last_error();
  const uint64_t renamed = lab.simulator().mark();
  uint64_t old_ones = 0;
  uint64_t new_ones = 0;
  lab.set_judge([&](const Snapshot& found, uint64_t point) -> std::string {
    if (point < old_is_there) return "";
    const Item& item = found.at("/file");
    const bool is_new = item.size == 13'000;
    if (!is_new && (item.size != 9000 || point >= renamed))
      return "size " + std::to_string(item.size);
    for (uint64_t at = 0; at < item.size; ++at) {
      if (byte_at(item, at) != (is_new ? 'n' : 'o')) return "foreign byte at " + std::to_string(at);
    }
    ++(is_new ? new_ones : old_ones);
    return "";
  });
  EXPECT_EQ(lab.power_losses(), "");
  EXPECT_GT(old_ones, 0U);
  EXPECT_GT(new_ones, 0U);
}

TEST_F(Page, ExchangedFilesAreWholeToo) {
  write('a', 9000, 0);
  cairn_file* other = nullptr;
  ASSERT_EQ(cairn_open(lab.pool(), CAIRN_ROOT, "other", O_RDWR | O_CREAT, 0600, &other), 0);
  ASSERT_EQ(cairn_pwrite(other, std::string(5000, 'b').data(), 5000, 0), 5000);
  ASSERT_EQ(cairn_rename(lab.pool(), CAIRN_ROOT, "file", CAIRN_ROOT, "other", 2), 0)
      << cairn_last_error();
  const uint64_t exchanged = lab.simulator().mark();
  lab.set_judge([&](const Snapshot& found, uint64_t point) -> std::string {
    if (point < exchanged) return "";
    const uint64_t one = found.at("/file").size;
    const uint64_t two = found.at("/other").size;
    return one == 5000 && two == 9000 ? "" : std::to_string(one) + " and " + std::to_string(two);
  });
  EXPECT_EQ(lab.power_losses(), "");
  ASSERT_EQ(cairn_close(other), 0);
}

}  // namespace
}  // namespace cairn::test
