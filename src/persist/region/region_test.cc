// Runs every backend of this CPU against the same contract, and tests the region's own bookkeeping.
#include "persist/region/region.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "persist/machine/machine.h"

namespace cairn::persist {
namespace {

class Mapping {
 public:
  explicit Mapping(size_t size, const char* directory = "/dev/shm") : size_(size) {
    std::string path = std::string(directory) + "/cairn-region-test-XXXXXX";
    fd_ = mkstemp(path.data());
    EXPECT_GE(fd_, 0);
    unlink(path.c_str());
    EXPECT_EQ(posix_fallocate(fd_, 0, static_cast<off_t>(size)), 0);
    map();
  }
  ~Mapping() {
    munmap(base_, size_);
    close(fd_);
  }
  // Starts over with an empty page table.
  void map() {
    if (base_ != nullptr) munmap(base_, size_);
    base_ = static_cast<uint8_t*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0));
  }
  [[nodiscard]] RegionOptions options(Granularity granularity, bool kernel_copies = true) const {
    RegionOptions options;
    options.base = base_;
    options.size = size_;
    options.fd = kernel_copies ? fd_ : -1;
    options.granularity = granularity;
    return options;
  }
  [[nodiscard]] uint8_t* base() const { return base_; }
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] size_t size() const { return size_; }

 private:
  size_t size_;
  int fd_ = -1;
  uint8_t* base_ = nullptr;
};

struct Case {
  std::string name;
  Granularity granularity;
  const Backend* backend;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases = {{"generic", Granularity::none, &generic_backend},
                             {"page", Granularity::page, &page_backend}};
  X86Features have = x86_features();
  const X86Features kinds[] = {
      {false, false, false, false}, {true, false, true, false}, {true, true, true, true}};
  for (Granularity granularity :
       {Granularity::none, Granularity::cache_line, Granularity::byte, Granularity::page}) {
    int number = 0;
    for (X86Features kind : kinds) {
      ++number;
      if (kind.avx2 > have.avx2 || kind.avx512 > have.avx512 || kind.clflushopt > have.clflushopt ||
          kind.clwb > have.clwb) {
        continue;
      }
      const Backend* backend = x86_64_backend(granularity, kind);
      if (backend == nullptr) continue;
      std::string name = std::string("x86_") + std::to_string(number) + "_" + name_of(granularity);
      for (char& c : name) {
        if (c == ' ') c = '_';
      }
      cases.push_back({name, granularity, backend});
    }
  }
  return cases;
}

class EveryBackend : public testing::TestWithParam<Case> {
 protected:
  static constexpr size_t size = size_t{8} << 20;
};

// Random pieces of every size and alignment, mirrored in ordinary memory: exactly the bytes asked
// for change, whether the chunk is cold or warm.
TEST_P(EveryBackend, CopiesZeroesAndReadsExactly) {
  Mapping mapping(size);
  Region region;
  ASSERT_TRUE(
      region.open(mapping.options(GetParam().granularity), GetParam().backend, nullptr).ok());
  std::vector<uint8_t> model(size, 0);
  std::vector<uint8_t> source(size_t{5} << 20);
  std::mt19937_64 random(7);
  for (size_t i = 0; i < source.size(); i += 8) {
    uint64_t bits = random();
    std::memcpy(&source[i], &bits, 8);
  }
  const size_t sizes[] = {0,      1,    8,    63,   64,    65,    255,   256,     257,
                          320,    4095, 4096, 4097, 32767, 32768, 40000, 1 << 20, (2 << 20) + 5,
                          5 << 20};
  for (int round = 0; round < 20; ++round) {
    for (size_t bytes : sizes) {
      size_t offset = random() % (size - bytes + 1);
      size_t from = random() % (source.size() - bytes + 1);
      if (random() % 4 == 0) {
        ASSERT_TRUE(region.zero(offset, bytes).ok());
        std::memset(&model[0] + offset, 0, bytes);
      } else {
        ASSERT_TRUE(region.copy(offset, source.data() + from, bytes).ok());
        std::memcpy(&model[0] + offset, source.data() + from, bytes);
      }
      offset = random() % (size - bytes + 1);
      std::vector<uint8_t> back(bytes + 1, 0x5A);
      ASSERT_TRUE(region.read(back.data(), offset, bytes).ok());
      ASSERT_EQ(std::memcmp(back.data(), model.data() + offset, bytes), 0);
      ASSERT_EQ(back[bytes], 0x5A);
    }
    ASSERT_TRUE(region.fence().ok());
    ASSERT_EQ(std::memcmp(mapping.base(), model.data(), size), 0) << "round " << round;
  }
}

TEST_P(EveryBackend, WordsDoWhatTheyReturn) {
  Mapping mapping(size);
  Region region;
  ASSERT_TRUE(
      region.open(mapping.options(GetParam().granularity), GetParam().backend, nullptr).ok());
  Word& word = *reinterpret_cast<Word*>(mapping.base() + 4096);
  region.store(word, 5);
  EXPECT_EQ(region.fetch_add(word, 3), 5U);
  EXPECT_EQ(region.fetch_or(word, 16), 8U);
  EXPECT_EQ(region.fetch_and(word, 16), 24U);
  EXPECT_EQ(region.exchange(word, 9), 16U);
  uint64_t expected = 1;
  EXPECT_FALSE(region.compare_exchange(word, expected, 2));
  EXPECT_EQ(expected, 9U);
  EXPECT_TRUE(region.compare_exchange(word, expected, 2));
  EXPECT_EQ(word.load(), 2U);
  region.flush(&word, sizeof word);
  EXPECT_TRUE(region.fence().ok());
}

INSTANTIATE_TEST_SUITE_P(Backends, EveryBackend, testing::ValuesIn(all_cases()),
                         [](const auto& test) { return test.param.name; });

TEST(Region, RefusesNothingToMap) {
  Region region;
  EXPECT_EQ(region.open(RegionOptions()).code(), EINVAL);
}

TEST(Region, MachineBackendFitsTheGranularity) {
  EXPECT_EQ(machine_backend(Granularity::page), &page_backend);
  for (Granularity granularity : {Granularity::none, Granularity::cache_line, Granularity::byte}) {
    EXPECT_NE(machine_backend(granularity), nullptr);
  }
}

TEST(Region, PopulateChecksItsRangeAndWarms) {
  Mapping mapping(size_t{4} << 20);
  Region region;
  ASSERT_TRUE(region.open(mapping.options(Granularity::none)).ok());
  EXPECT_EQ(region.populate(0, (size_t{4} << 20) + 1).code(), EINVAL);
  EXPECT_EQ(region.populate(uint64_t{5} << 20, 1).code(), EINVAL);
  ASSERT_TRUE(region.populate(0, size_t{4} << 20).ok());
  unsigned char present[1024];
  ASSERT_EQ(mincore(mapping.base(), size_t{4} << 20, present), 0);
  for (unsigned char page : present) EXPECT_TRUE(page & 1);
}

// The kernel's copy reports what a store would have died of.
TEST(Region, TheFirstCopyToAnUntouchedLargePageIsExact) {
  const Mapping mapping(4 * first_touch::chunk_size);
  Region region;
  RegionOptions options = mapping.options(Granularity::none);
  options.large_pages = true;
  ASSERT_TRUE(region.open(options).ok());
  std::vector<uint8_t> source(2 * first_touch::chunk_size);
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<uint8_t>(i * 7 + i / 4096);
  const uint64_t at = first_touch::chunk_size + 12345;
  // Into the next chunk, and again where it has been touched.
  for (const size_t size : {source.size() - 1, source.size() / 2, size_t{100}}) {
    region.note_untouched(first_touch::chunk_size);
    ASSERT_TRUE(region.copy(at, source.data(), size).ok()) << last_detail();
    EXPECT_EQ(std::memcmp(mapping.base() + at, source.data(), size), 0) << size;
    EXPECT_EQ(mapping.base()[at - 1], 0);
  }
}

TEST(Region, KernelCopiesReportWhatTheKernelSays) {
  Mapping mapping(size_t{4} << 20);
  RegionOptions options = mapping.options(Granularity::none);
  options.fd = open("/dev/full", O_RDWR | O_CLOEXEC);
  ASSERT_GE(options.fd, 0);
  Region region;
  ASSERT_TRUE(region.open(options).ok());
  std::vector<char> bytes(8192, 'x');
  errno = 77;
  EXPECT_EQ(region.copy(0, bytes.data(), bytes.size()).code(), ENOSPC);
  EXPECT_EQ(errno, 77);
  EXPECT_NE(std::strstr(last_detail(), "segment offset 0"), nullptr);
  close(options.fd);
}

// SIGXFSZ would end the process.
TEST(Region, TheKernelDoesNotWriteBeyondTheLimitToTheSizeOfFiles) {
  Mapping mapping(size_t{4} << 20);
  Region region;
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = {size_t{1} << 20, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_TRUE(region.open(mapping.options(Granularity::none)).ok());
  std::vector<char> bytes(8192, 'x');
  EXPECT_TRUE(region.copy((size_t{1} << 20) - 4096, bytes.data(), bytes.size()).ok());
  EXPECT_TRUE(region.copy(size_t{3} << 20, bytes.data(), bytes.size()).ok());
  EXPECT_TRUE(region.zero((size_t{3} << 20) + 4096, bytes.size()).ok());
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  note_file_size_limit();
  EXPECT_EQ(mapping.base()[size_t{1} << 20], 'x');
  EXPECT_EQ(mapping.base()[size_t{3} << 20], 'x');
  EXPECT_EQ(mapping.base()[(size_t{3} << 20) + 4096], 0);
}

TEST(Region, AForkedChildSeesAndWritesTheSameBytes) {
  Mapping mapping(size_t{4} << 20);
  Region region;
  ASSERT_TRUE(region.open(mapping.options(Granularity::none)).ok());
  std::vector<char> bytes(size_t{1} << 20, 'p');
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(region.copy(0, bytes.data(), bytes.size()).ok());
  pid_t child = fork();
  if (child == 0) {
    std::vector<char> back(bytes.size());
    bool same = region.read(back.data(), 0, back.size()).ok() && back == bytes;
    bool wrote = region.copy(size_t{2} << 20, "child", 5).ok();
    _exit(same && wrote ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(std::memcmp(mapping.base() + (size_t{2} << 20), "child", 5), 0);
}

// The page backend's error is there at every later fence.
TEST(PageBackend, AFailedWriteBackSticks) {
  Mapping mapping(size_t{1} << 20);
  Region region;
  ASSERT_TRUE(region.open(mapping.options(Granularity::page)).ok());
  EXPECT_TRUE(region.fence().ok());
  // msync of what is not mapped fails with ENOMEM: a stand-in for a failing disk.
  uint8_t* last_page = mapping.base() + mapping.size() - 4096;
  ASSERT_EQ(munmap(last_page, 4096), 0);
  region.flush(last_page, 1);
  EXPECT_EQ(region.fence().code(), ENOMEM);
  EXPECT_EQ(region.fence().code(), ENOMEM);
  region.close();
  ASSERT_TRUE(region.open(mapping.options(Granularity::page)).ok());
  EXPECT_TRUE(region.fence().ok());
}

TEST(PageBackend, MoreNotesThanItRemembersAreWrittenBackEarly) {
  Mapping mapping(size_t{4} << 20);
  Region region;
  ASSERT_TRUE(region.open(mapping.options(Granularity::page)).ok());
  for (size_t page = 0; page < 512; page += 2) {
    ASSERT_TRUE(region.copy(page * 4096, "x", 1).ok());
  }
  EXPECT_TRUE(region.fence().ok());
}

}  // namespace
}  // namespace cairn::persist
