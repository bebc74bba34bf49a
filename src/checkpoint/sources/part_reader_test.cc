#include "checkpoint/sources/part_reader.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

namespace cairn::checkpoint {
namespace {

// A node whose data file ends so many bytes behind the first requested one.
class ShortNode : public Exchange {
 public:
  explicit ShortNode(uint64_t bytes) : bytes_(bytes) {}

  [[nodiscard]] uint32_t node() const override { return 0; }
  [[nodiscard]] uint32_t nodes() const override { return 2; }
  [[nodiscard]] std::string name_of(uint32_t) const override { return "node 1"; }
  [[nodiscard]] Uuid pool_of(uint32_t) const override { return {}; }
  void serve_with(Serve) override {}
  Status begin_gather(Channel, const void*, size_t, void*) override { return {}; }
  Result<bool> test_gather(Channel) override { return true; }
  Result<size_t> ask(uint32_t, const void*, size_t, void* answer, size_t capacity) override {
    constexpr size_t head = 16;  // without an error
    const size_t n = std::min<size_t>(capacity - head, bytes_);
    std::memset(answer, 0, head + n);
    bytes_ -= n;
    return head + n;
  }
  void progress() override {}
  Status gather_to_all(const void*, size_t, void*) override { return {}; }
  Result<int64_t> maximum(int64_t value) override { return value; }

 private:
  uint64_t bytes_;
};

// Returns the most memory that this process ever had, in KiB.
uint64_t most_memory() {
  std::ifstream status("/proc/self/status");
  std::string word;
  uint64_t kib = 0;
  while (status >> word)
    if (word == "VmHWM:") status >> kib;
  return kib;
}

// A root may claim 2^46 bytes, whose checksums alone would take 1 GiB.
TEST(PartReader, TakesNoMoreMemoryForAListThanItsNodeSends) {
  ShortNode node(uint64_t{3} << 20);
  BlockCache cache;
  const auto reader = read_from(PartClient(&node, 1, 0), 7, uint64_t{256} << 10, &cache);
  const Area area{0, true, region_unit, max_region, 0};
  uint8_t byte = 0;
  const uint64_t before = most_memory();
  ASSERT_GT(before, 0U);
  EXPECT_EQ(reader->read(area, 0, &byte, 1).code(), EUCLEAN);
  EXPECT_STREQ(last_detail(), "node 1: its data is cut off");
  EXPECT_LT(most_memory() - before, uint64_t{128} << 10);
}

}  // namespace
}  // namespace cairn::checkpoint
