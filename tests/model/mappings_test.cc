// Mappings of a file that is cut and grows again: they show what the file holds, as mmap(2) has it.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "model/temporary_pool.h"

namespace cairn::test {
namespace {

constexpr uint64_t mib = uint64_t{1} << 20;

class MappedFile : public testing::Test {
 protected:
  void SetUp() override {
    make_pool(path, 16 * mib, 4);
    pool = attach(path);
    ASSERT_NE(pool, nullptr);
    file = open();
    fill('a');
  }
  void TearDown() override {
    cairn_close(file);
    cairn_pool_detach(pool);
    EXPECT_EQ(check_pool(path), 0);
  }
  cairn_file* open() {
    cairn_file* opened = nullptr;
    EXPECT_EQ(cairn_open(pool, CAIRN_ROOT, "f", O_CREAT | O_RDWR, 0600, &opened), 0);
    return opened;
  }
  void fill(char byte) {
    const std::vector<char> bytes(size, byte);
    ASSERT_EQ(cairn_pwrite(file, bytes.data(), size, 0), static_cast<ssize_t>(size))
        << cairn_last_error();
  }
  static const char* map(cairn_file* of) {
    void* mapped = nullptr;
    EXPECT_EQ(cairn_mmap(of, nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, 0, &mapped), 0)
        << cairn_last_error();
    return static_cast<char*>(mapped);
  }
  void unmap(const char* mapped) {
    EXPECT_EQ(cairn_munmap(pool, const_cast<char*>(mapped), size), 0);
  }
  static bool holds(const char* mapped, char byte) {
    return static_cast<uint64_t>(std::count(mapped, mapped + size, byte)) == size;
  }
  uint64_t bytes_held() {
    cairn_stat st;
    EXPECT_EQ(cairn_fstat(file, &st), 0);
    return st.blocks * 512;
  }

  static constexpr uint64_t size = mib + 4096;
  TemporaryFolder folder;
  const std::string path = folder.path() + "/pool";
  cairn_pool* pool = nullptr;
  cairn_file* file = nullptr;
};

TEST_F(MappedFile, ShowsWhatIsWrittenAfterACut) {
  const char* mapped = map(file);
  for (const uint64_t cut : {uint64_t{0}, uint64_t{100}, uint64_t{4096}, mib}) {
    ASSERT_EQ(cairn_ftruncate(file, cut), 0);
    ASSERT_EQ(cairn_ftruncate(file, size), 0);
    EXPECT_EQ(std::count(mapped + cut, mapped + size, '\0'), static_cast<ssize_t>(size - cut));
    fill('b');
    EXPECT_TRUE(holds(mapped, 'b')) << "cut at " << cut;
    const_cast<char*>(mapped)[size - 1] = 'c';
    char byte = 0;
    EXPECT_EQ(cairn_pread(file, &byte, 1, size - 1), 1);
    EXPECT_EQ(byte, 'c') << "a store through the mapping is not the file's";
  }
  unmap(mapped);
}

// As a reader that has a file mapped which its writer replaces by opening it with O_TRUNC.
TEST_F(MappedFile, ShowsWhatAnotherProcessWritesAfterACut) {
  const char* mapped = map(file);
  const pid_t child = fork();
  if (child == 0) {
    cairn_pool* own = attach(path);
    cairn_file* opened = nullptr;
    const std::vector<char> bytes(size, 'n');
    const bool is_done = own != nullptr &&
                         cairn_open(own, CAIRN_ROOT, "f", O_TRUNC | O_RDWR, 0, &opened) == 0 &&
                         cairn_pwrite(opened, bytes.data(), size, 0) == static_cast<ssize_t>(size);
    _exit(is_done ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_TRUE(holds(mapped, 'n'));
  unmap(mapped);
}

TEST_F(MappedFile, TakesNoMoreRoomHoweverOftenItIsCut) {
  const char* mapped = map(file);
  for (int i = 0; i < 40; ++i) {
    ASSERT_EQ(cairn_ftruncate(file, 0), 0);
    fill(static_cast<char>('a' + i % 26));
  }
  unmap(mapped);
}

TEST_F(MappedFile, GivesBackWhatWasCutWhenNobodyHasItMapped) {
  const char* mapped = map(file);
  const char* again = map(file);
  ASSERT_EQ(cairn_ftruncate(file, 5000), 0);
  unmap(mapped);
  EXPECT_GE(bytes_held(), size);
  unmap(again);
  EXPECT_EQ(bytes_held(), 2U * 4096);
  char byte = 1;
  ASSERT_EQ(cairn_pread(file, &byte, 1, 4999), 1);
  EXPECT_EQ(byte, 'a');
}

// The addresses that one thread gives back are the next ones that the kernel hands to another.
TEST_F(MappedFile, ShowsWhatItHeldAlsoWhenAnotherMappingOfItIsGone) {
  const char* first = map(file);
  const char* second = map(file);
  unmap(first);
  cairn_file* other = nullptr;
  ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, "other", O_CREAT | O_RDWR, 0600, &other), 0);
  ASSERT_EQ(cairn_ftruncate(file, 0), 0);
  const std::vector<char> bytes(size, 'o');
  for (uint64_t at = 0; cairn_pwrite(other, bytes.data(), size, at) > 0;) at += size;
  EXPECT_EQ(std::count(second, second + size, 'o'), 0);
  EXPECT_EQ(cairn_close(other), 0);
  unmap(second);
}

// The system allows some 65 thousand, and takes the next one as quickly as the first.
TEST_F(MappedFile, IsMappedFortyThousandTimes) {
  std::vector<void*> mapped(40'000);
  for (size_t i = 0; i < mapped.size(); ++i)
    // Neighbours that do not continue each other count apart.
    ASSERT_EQ(cairn_mmap(file, nullptr, 4096, PROT_READ, MAP_SHARED, i % 2 * 4096, &mapped[i]), 0)
        << i << ": " << cairn_last_error();
  for (void* one : mapped) ASSERT_EQ(cairn_munmap(pool, one, 4096), 0);
  ASSERT_EQ(cairn_ftruncate(file, 0), 0);
  EXPECT_EQ(bytes_held(), 0U);
}

TEST_F(MappedFile, IsStillMappedWhenAnotherThreadHasUnmappedWhatLayThere) {
  const auto use = [&](const std::string& name) {
    cairn_file* own = nullptr;
    ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, name.c_str(), O_CREAT | O_RDWR, 0600, &own), 0);
    ASSERT_EQ(cairn_ftruncate(own, 1), 0);
    for (int i = 0; i < 4000 && !HasFailure(); ++i) {
      void* mapped = nullptr;
      ASSERT_EQ(cairn_mmap(own, nullptr, 1, PROT_READ, MAP_SHARED, 0, &mapped), 0);
      ASSERT_EQ(cairn_ftruncate(own, 0), 0);
      const char byte = static_cast<char>('a' + i % 26);
      ASSERT_EQ(cairn_pwrite(own, &byte, 1, 0), 1) << cairn_last_error();
      EXPECT_EQ(*static_cast<const char*>(mapped), byte) << "round " << i;
      ASSERT_EQ(cairn_munmap(pool, mapped, 1), 0);
    }
    cairn_close(own);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back(use, "of" + std::to_string(i));
  for (std::thread& thread : threads) thread.join();
}

// Mapping fills holes, and for that moment nobody else may write through the handle either.
TEST_F(MappedFile, IsNeverWrittenThroughAHandleForReadingThatThreadsMap) {
  cairn_file* reading = nullptr;
  ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, "f", O_RDONLY, 0, &reading), 0) << cairn_last_error();
  std::atomic<bool> over{false};
  const auto use = [&] {
    while (!over) {
      void* mapped = nullptr;
      ASSERT_EQ(cairn_mmap(reading, nullptr, size, PROT_READ, MAP_SHARED, 0, &mapped), 0)
          << cairn_last_error();
      ASSERT_EQ(cairn_munmap(pool, mapped, size), 0);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) threads.emplace_back(use);
  for (int i = 0; i < 20'000 && !HasFailure(); ++i)
    EXPECT_EQ(cairn_pwrite(reading, "x", 1, 0), -EBADF) << "attempt " << i;
  over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cairn_pwrite(reading, "x", 1, 0), -EBADF) << "at the end";
  cairn_close(reading);
}

TEST_F(MappedFile, IsMappedByAChildThatIsForkedWhileThreadsMapIt) {
  std::atomic<bool> over{false};
  const auto use = [&] {
    while (!over) unmap(map(file));
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(use);
  for (int round = 0; round < 40 && !HasFailure(); ++round) {
    ASSERT_EQ(cairn_fork_prepare(pool), 0) << cairn_last_error();
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // waiting for a thread that it does not have
      cairn_fork_child(pool);
      unmap(map(file));
      _exit(HasFailure() ? 1 : 0);
    }
    cairn_fork_parent(pool);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "round " << round;
  }
  over = true;
  for (std::thread& thread : threads) thread.join();
}

TEST_F(MappedFile, GivesBackWhatAKilledProcessHadMapped) {
  const pid_t child = fork();
  if (child == 0) {
    cairn_pool* own = attach(path);
    cairn_file* opened = nullptr;
    if (own == nullptr || cairn_open(own, CAIRN_ROOT, "f", O_RDWR, 0, &opened) != 0) _exit(1);
    map(opened);
    _exit(cairn_ftruncate(opened, 0) == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_GE(bytes_held(), size);
  cairn_close(open());
  EXPECT_EQ(bytes_held(), 0U);
}

}  // namespace
}  // namespace cairn::test
