// Filling ahead: what it may cost in space, and that it comes back.
#include <cairn/cairn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace {

constexpr size_t block = 4096;
constexpr size_t mib = 1 << 20;

class FillAhead : public testing::Test {
 protected:
  void SetUp() override { make_pool(64 * mib); }
  void TearDown() override {
    cairn_pool_detach(pool_);
    cairn_pool_remove(path_.c_str());
  }
  void make_pool(size_t size) {
    path_ = "/dev/shm/cairn-fill-ahead-" + std::to_string(getpid());
    cairn_pool_remove(path_.c_str());
    cairn_pool_options options = {};
    options.struct_size = sizeof options;
    options.size = size;
    ASSERT_EQ(cairn_pool_create(path_.c_str(), &options), 0) << cairn_last_error();
    ASSERT_EQ(cairn_pool_attach(path_.c_str(), 0, &pool_), 0) << cairn_last_error();
  }
  cairn_file* open(const char* name) {
    cairn_file* file = nullptr;
    EXPECT_EQ(cairn_open(pool_, CAIRN_ROOT, name, O_RDWR | O_CREAT, 0600, &file), 0);
    return file;
  }
  static uint64_t blocks_of(cairn_file* file) {
    cairn_stat st = {};
    EXPECT_EQ(cairn_fstat(file, &st), 0);
    return st.blocks / (block / 512);
  }
  // Writes `size` bytes in sequence from the start, a block at a time.
  static void write_sequence(cairn_file* file, size_t size, size_t from = 0) {
    const std::vector<char> bytes(block, 'x');
    for (size_t at = from; at < from + size; at += block)
      ASSERT_EQ(cairn_pwrite(file, bytes.data(), block, at), static_cast<ssize_t>(block))
          << cairn_last_error();
  }

  std::string path_;
  cairn_pool* pool_ = nullptr;
};

TEST_F(FillAhead, ASequenceBelowTheEndGetsAFewBlocksMore) {
  cairn_file* file = open("file");
  ASSERT_EQ(cairn_ftruncate(file, 16 * mib), 0);
  write_sequence(file, mib + block);
  const uint64_t written = mib / block + 1;
  EXPECT_GT(blocks_of(file), written);
  EXPECT_LE(blocks_of(file), written + 1 + written / 4);  // a quarter at most
  std::vector<char> ahead(4 * mib, 'y');
  ASSERT_EQ(cairn_pread(file, ahead.data(), ahead.size(), mib + block),
            static_cast<ssize_t>(ahead.size()));
  EXPECT_EQ(ahead, std::vector<char>(ahead.size(), 0));
  cairn_close(file);
}

TEST_F(FillAhead, ClosingGivesBackWhatIsStillZero) {
  cairn_file* file = open("file");
  ASSERT_EQ(cairn_ftruncate(file, 16 * mib), 0);
  size_t size = 5 * mib;
  write_sequence(file, size);
  for (; blocks_of(file) < size / block + 20; size += block) write_sequence(file, block, size);
  cairn_stat before = {};
  ASSERT_EQ(cairn_fstat(file, &before), 0);
  cairn_close(file);
  file = open("file");
  cairn_stat after = {};
  ASSERT_EQ(cairn_fstat(file, &after), 0);
  EXPECT_LT(after.blocks, before.blocks);
  EXPECT_LE(after.blocks / 8, size / block + 8);
  EXPECT_EQ(after.mtime_ns, before.mtime_ns);
  EXPECT_EQ(after.size, 16 * mib);
  std::vector<char> bytes(size);
  ASSERT_EQ(cairn_pread(file, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  EXPECT_EQ(bytes, std::vector<char>(bytes.size(), 'x'));
  cairn_close(file);
}

TEST_F(FillAhead, WhatIsPreallocatedStays) {
  cairn_file* file = open("file");
  ASSERT_EQ(cairn_ftruncate(file, 16 * mib), 0);
  write_sequence(file, mib + block);
  ASSERT_GT(blocks_of(file), mib / block + 4);
  ASSERT_EQ(cairn_fallocate(file, 0, 0, 4 * mib), 0);
  const uint64_t before = blocks_of(file);
  EXPECT_GE(before, 4 * mib / block);
  cairn_close(file);
  file = open("file");
  EXPECT_EQ(blocks_of(file), before);
  cairn_close(file);
}

TEST_F(FillAhead, WhatOthersWroteThereStays) {
  cairn_file* file = open("file");
  cairn_file* other = open("file");
  ASSERT_EQ(cairn_ftruncate(file, 16 * mib), 0);
  write_sequence(file, mib + block);
  ASSERT_EQ(cairn_pwrite(other, "z", 1, mib + 5 * block), 1);
  cairn_close(file);
  char byte = 0;
  ASSERT_EQ(cairn_pread(other, &byte, 1, mib + 5 * block), 1);
  EXPECT_EQ(byte, 'z');
  cairn_close(other);
}

TEST_F(FillAhead, RandomAndExtendingWritesGetNone) {
  cairn_file* file = open("random");
  ASSERT_EQ(cairn_ftruncate(file, 16 * mib), 0);
  for (size_t i = 0; i < 512; ++i)
    ASSERT_EQ(cairn_pwrite(file, "x", 1, i * 7919 % 4096 * block), 1);
  EXPECT_LE(blocks_of(file), 512 + 16);
  cairn_close(file);
  file = open("extending");
  write_sequence(file, 2 * mib);
  EXPECT_LE(blocks_of(file), 2 * mib / block + 2);
  cairn_close(file);
}

TEST_F(FillAhead, AFullPoolTakesItBackBeforeItSaysSo) {
  cairn_file* sequence = open("sequence");
  ASSERT_EQ(cairn_ftruncate(sequence, 64 * mib), 0);
  write_sequence(sequence, 17 * mib);
  cairn_file* rest = open("rest");
  const std::vector<char> bytes(block, 'r');
  size_t size = 0;
  while (cairn_pwrite(rest, bytes.data(), block, size) == static_cast<ssize_t>(block))
    size += block;
  cairn_pool_info info = {};
  ASSERT_EQ(cairn_pool_get_info(pool_, &info), 0);
  EXPECT_LE(info.usable - info.used, info.reserve);
  EXPECT_LE(blocks_of(sequence), 17 * mib / block + 16);
  cairn_close(rest);
  cairn_close(sequence);
}

// A process of its own that writes `size` bytes of a file of 64 MiB in sequence, and then waits
// with the file open until it is told to close it and end.
class Writer {
 public:
  Writer(const std::string& pool, const char* name, size_t size) {
    EXPECT_EQ(pipe(ready_), 0);
    EXPECT_EQ(pipe(end_), 0);
    child_ = fork();
    if (child_ == 0) write(pool, name, size);
    close(ready_[1]);
    close(end_[0]);
    char byte = 0;
    EXPECT_EQ(read(ready_[0], &byte, 1), 1);
    EXPECT_EQ(byte, 'r');
  }
  void finish() {
    EXPECT_EQ(::write(end_[1], "e", 1), 1);
    int status = 0;
    EXPECT_EQ(waitpid(child_, &status, 0), child_);
    EXPECT_EQ(status, 0);
    close(ready_[0]);
    close(end_[1]);
  }

 private:
  [[noreturn]] void write(const std::string& path, const char* name, size_t size) {
    cairn_pool* pool = nullptr;
    cairn_file* file = nullptr;
    const std::vector<char> bytes(block, 'x');
    bool good = cairn_pool_attach(path.c_str(), 0, &pool) == 0 &&
                cairn_open(pool, CAIRN_ROOT, name, O_RDWR | O_CREAT, 0600, &file) == 0 &&
                cairn_ftruncate(file, 64 * mib) == 0;
    for (size_t at = 0; good && at < size; at += block)
      good = cairn_pwrite(file, bytes.data(), block, at) == static_cast<ssize_t>(block);
    char byte = good ? 'r' : 'w';
    good = ::write(ready_[1], &byte, 1) == 1 && read(end_[0], &byte, 1) == 1 && good;
    if (file != nullptr) cairn_close(file);
    if (pool != nullptr) cairn_pool_detach(pool);
    _exit(good ? 0 : 1);
  }

  int ready_[2] = {};
  int end_[2] = {};
  pid_t child_ = 0;
};

TEST_F(FillAhead, AFullPoolTakesBackWhatOthersGot) {
  Writer writer(path_, "sequence", 17 * mib + block);
  cairn_file* sequence = open("sequence");
  ASSERT_GT(blocks_of(sequence), 17 * mib / block + 64);
  cairn_file* rest = open("rest");
  const std::vector<char> bytes(block, 'r');
  iovec vector = {const_cast<char*>(bytes.data()), block};
  size_t size = 0;
  while (cairn_appendv(rest, &vector, 1) == static_cast<ssize_t>(block)) size += block;
  EXPECT_GT(size, 40 * mib);
  EXPECT_LE(blocks_of(sequence), 17 * mib / block + 16);
  cairn_pool_info info = {};
  ASSERT_EQ(cairn_pool_get_info(pool_, &info), 0);
  EXPECT_LE(info.usable - info.used, info.reserve);
  std::vector<char> read(17 * mib + block);
  ASSERT_EQ(cairn_pread(sequence, read.data(), read.size(), 0), static_cast<ssize_t>(read.size()));
  EXPECT_EQ(read, std::vector<char>(read.size(), 'x'));
  cairn_close(rest);
  cairn_close(sequence);
  writer.finish();
}

TEST_F(FillAhead, NamesGetTheRoomToo) {
  Writer writer(path_, "sequence", 17 * mib + block);
  cairn_file* rest = open("rest");
  ASSERT_EQ(cairn_fallocate(rest, 0, 0, 36 * mib), 0) << cairn_last_error();
  // Everything but what was filled ahead.
  const std::vector<char> bytes(block, 'r');
  cairn_pool_info info = {};
  ASSERT_EQ(cairn_pool_get_info(pool_, &info), 0);
  const size_t left = info.usable - info.used - info.reserve;
  ASSERT_EQ(cairn_fallocate(rest, 0, 36 * mib, left - 4 * block), 0) << cairn_last_error();
  int made = 0;
  for (; made < 60; ++made) {
    const std::string name = std::string(200, 'd') + std::to_string(made);
    if (cairn_mkdir(pool_, CAIRN_ROOT, name.c_str(), 0700) != 0) break;
    cairn_file* inside = nullptr;
    if (cairn_open(pool_, CAIRN_ROOT, (name + "/file").c_str(), O_RDWR | O_CREAT, 0600, &inside) !=
        0)
      break;
    cairn_close(inside);
  }
  EXPECT_EQ(made, 60) << cairn_last_error();
  cairn_close(rest);
  writer.finish();
}

TEST_F(FillAhead, WhatAnotherProcessPreallocatedStays) {
  Writer writer(path_, "file", mib + block);
  cairn_file* file = open("file");
  ASSERT_GT(blocks_of(file), mib / block + 4);
  ASSERT_EQ(cairn_fallocate(file, 0, 0, 4 * mib), 0);
  const uint64_t before = blocks_of(file);
  EXPECT_GE(before, 4 * mib / block);
  writer.finish();
  EXPECT_EQ(blocks_of(file), before);
  cairn_close(file);
}

// The table of open files has room for as many as there ever were.
TEST_F(FillAhead, PreallocationsTakeNoLongerAfterManyFilesWereOpen) {
  cairn_file* file = open("file");
  cairn_file* other = open("file");
  size_t end = 0;
  const auto seconds = [&] {
    double least = 1e9;
    for (int i = 0; i < 20; ++i) {
      const auto begun = std::chrono::steady_clock::now();
      for (int calls = 0; calls < 20; ++calls)
        EXPECT_EQ(cairn_fallocate(file, 0, end += block, block), 0) << cairn_last_error();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
      least = std::min(least, took.count());
    }
    return least;
  };
  const double before = seconds();
  std::vector<cairn_file*> many;
  for (int i = 0; i < 6000; ++i) many.push_back(open("another"));
  for (cairn_file* each : many) cairn_close(each);
  EXPECT_LT(seconds(), 5 * before);
  cairn_close(other);
  cairn_close(file);
}

TEST_F(FillAhead, MappedPagesAreLeftAlone) {
  cairn_file* file = open("file");
  ASSERT_EQ(cairn_ftruncate(file, 16 * mib), 0);
  write_sequence(file, mib + block);
  void* mapped = nullptr;
  cairn_file* other = open("file");
  ASSERT_EQ(cairn_mmap(other, nullptr, 2 * mib, PROT_READ | PROT_WRITE, MAP_SHARED, 0, &mapped), 0)
      << cairn_last_error();
  cairn_close(file);
  static_cast<char*>(mapped)[mib + 9 * block] = 'm';
  char byte = 0;
  ASSERT_EQ(cairn_pread(other, &byte, 1, mib + 9 * block), 1);
  EXPECT_EQ(byte, 'm');
  cairn_munmap(pool_, mapped, 2 * mib);
  cairn_close(other);
}

}  // namespace
