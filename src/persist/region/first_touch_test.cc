// The policy, by what the kernel says about the pages afterwards.
#include "persist/region/first_touch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "persist/region/region.h"

namespace cairn::persist {
namespace {

constexpr size_t size = 4 * first_touch::chunk_size;

class FirstTouch : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = "/dev/shm/cairn-first-touch-XXXXXX";
    fd_ = mkstemp(path.data());
    unlink(path.c_str());
    ASSERT_EQ(posix_fallocate(fd_, 0, size), 0);
    base_ = static_cast<uint8_t*>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0));
    table_ = first_touch::create_table(size);
  }
  void TearDown() override {
    first_touch::destroy_table(table_, size);
    munmap(base_, size);
    close(fd_);
  }
  [[nodiscard]] first_touch::MappedMemory place() const { return {base_, size, true, true}; }
  void fill(uint64_t offset, size_t bytes) {
    std::vector<uint8_t> data(bytes, 1);
    ASSERT_EQ(pwrite(fd_, data.data(), bytes, static_cast<off_t>(offset)),
              static_cast<ssize_t>(bytes));
  }
  // Pages of the chunk that are mapped in this process.
  size_t mapped(uint64_t chunk) {
    int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    std::vector<uint64_t> entries(512);
    off_t at = static_cast<off_t>(
        reinterpret_cast<uintptr_t>(base_ + chunk * first_touch::chunk_size) / 4096 * 8);
    EXPECT_EQ(pread(pagemap, entries.data(), 4096, at), 4096);
    close(pagemap);
    size_t count = 0;
    for (uint64_t entry : entries) count += entry >> 63;
    return count;
  }

  int fd_ = -1;
  uint8_t* base_ = nullptr;
  uint16_t* table_ = nullptr;
};

TEST_F(FirstTouch, AChunkWithDataIsPopulatedAtTheFirstLook) {
  fill(0, first_touch::chunk_size);
  for (int i = 1; i < first_touch::first_look; ++i) {
    first_touch::charge(place(), table_, 0, 64);
    ASSERT_EQ(table_[0], i);
  }
  EXPECT_EQ(mapped(0), 0U);
  errno = 5;
  first_touch::charge(place(), table_, 0, 64);
  EXPECT_EQ(errno, 5);
  EXPECT_EQ(table_[0], first_touch::warm);
  EXPECT_EQ(mapped(0), 512U);
  EXPECT_EQ(mapped(1), 0U);
}

TEST_F(FirstTouch, AnEmptyChunkIsPopulatedWhenItHasProvedUsed) {
  first_touch::charge(place(), table_, 0, 400 * 4096);
  EXPECT_EQ(table_[0], 400);
  EXPECT_EQ(mapped(0), 0U);
  fill(0, first_touch::chunk_size);
  // Filled once; it may never be used again.
  first_touch::charge(place(), table_, 0, 112 * 4096);
  EXPECT_EQ(table_[0], 512);
  first_touch::charge(place(), table_, 0, 33 * 4096);
  EXPECT_EQ(table_[0], first_touch::warm);
  // Small accesses to a chunk that stays mostly empty: at last it is cheaper to have it all.
  for (int i = 0; i < 1023; ++i) first_touch::charge(place(), table_, first_touch::chunk_size, 64);
  EXPECT_EQ(table_[1], 1023);
  first_touch::charge(place(), table_, first_touch::chunk_size, 64);
  EXPECT_EQ(table_[1], first_touch::warm);
  EXPECT_EQ(mapped(1), 512U);
}

TEST_F(FirstTouch, WarmPagesCanBeStoredToWithoutAFault) {
  fill(0, first_touch::chunk_size);
  ASSERT_TRUE(first_touch::populate(place(), 0, first_touch::chunk_size).ok());
  size_t before = mapped(0);
  for (size_t at = 0; at < first_touch::chunk_size; at += 4096) base_[at] = 2;
  EXPECT_EQ(before, 512U);
  uint8_t byte = 0;
  EXPECT_EQ(pread(fd_, &byte, 1, 8192), 1);
  EXPECT_EQ(byte, 2);
}

TEST_F(FirstTouch, TheLastChunkMayBeShort) {
  first_touch::MappedMemory shorter = {base_, first_touch::chunk_size + 12288, true, true};
  first_touch::charge(shorter, table_, first_touch::chunk_size, 2048 * 4096);
  first_touch::charge(shorter, table_, first_touch::chunk_size, 2048 * 4096);
  EXPECT_EQ(table_[1], first_touch::warm);
  EXPECT_EQ(mapped(1), 3U);
}

TEST_F(FirstTouch, PopulatingBeyondTheFileSaysSo) {
  ASSERT_EQ(ftruncate(fd_, static_cast<off_t>(first_touch::chunk_size)), 0);
  EXPECT_EQ(first_touch::populate(place(), first_touch::chunk_size, 4096).code(), ENOSPC);
  EXPECT_TRUE(first_touch::populate(place(), 0, 0).ok());
  munmap(base_ + first_touch::chunk_size, first_touch::chunk_size);
  EXPECT_EQ(first_touch::populate(place(), first_touch::chunk_size, 4096).code(), ENOMEM);
}

TEST_F(FirstTouch, ReadOnlyRegionsAreOnlyRead) {
  fill(0, first_touch::chunk_size);
  void* view = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd_, 0);
  RegionOptions options;
  options.base = view;
  options.size = size;
  options.fd = fd_;
  options.writable = false;
  Region region;
  ASSERT_TRUE(region.open(options).ok());
  std::vector<uint8_t> back(first_touch::chunk_size);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(region.read(back.data(), 0, back.size()).ok());
    EXPECT_EQ(back[77], 1);
  }
  ASSERT_TRUE(region.populate(0, size).ok());
  munmap(view, size);
}

}  // namespace
}  // namespace cairn::persist
