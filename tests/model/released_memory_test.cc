// Memory that no file has used for a while goes back to the system; a process that is killed while
// it gives some back leaves neither bytes that nobody wrote nor blocks that nobody can take.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "capi/core/handles.h"
#include "model/temporary_pool.h"
#include "pool/lanes/seats.h"
#include "pool/space/release.h"
#include "pool/space/space.h"
#include "support/pool_stores.h"
#include "support/sizes.h"

namespace cairn::test {
namespace {

constexpr uint64_t size = 8 * mebibyte;
constexpr uint64_t long_enough_ns = 10'000'000'000;

// Gives back all that is free, however short a time it has been so.
void release_all(cairn_pool* pool) {
  pool::Pool& opened = capi::fs_of(pool).pool;
  const pool::SeatGuard seat(opened);
  ASSERT_TRUE(seat.ok());
  EXPECT_FALSE(pool::release_chunks(opened, *seat, 0, long_enough_ns));
}

void write_file(cairn_pool* pool, const char* name, uint8_t value) {
  cairn_file* file = nullptr;
  ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, name, O_WRONLY | O_CREAT | O_TRUNC, 0600, &file), 0)
      << cairn_last_error();
  const std::vector<uint8_t> bytes(size, value);
  ASSERT_EQ(cairn_pwrite(file, bytes.data(), size, 0), static_cast<ssize_t>(size));
  ASSERT_EQ(cairn_close(file), 0);
}

// One byte at the start of every other block: what lies around it must read as zeros.
void expect_zeros_around(cairn_pool* pool) {
  cairn_file* file = nullptr;
  ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, "sparse", O_RDWR | O_CREAT | O_TRUNC, 0600, &file), 0);
  std::vector<uint8_t> expected(size);
  for (uint64_t at = 0; at < size; at += 8192) {
    const uint8_t byte = expected[at] = 7;
    ASSERT_EQ(cairn_pwrite(file, &byte, 1, at), 1) << cairn_last_error();
  }
  std::vector<uint8_t> found(size, 0xff);
  const ssize_t n = cairn_pread(file, found.data(), size, 0);
  ASSERT_GT(n, 0);
  expected.resize(static_cast<size_t>(n));
  found.resize(static_cast<size_t>(n));
  EXPECT_TRUE(found == expected) << "bytes that nobody wrote";
  ASSERT_EQ(cairn_close(file), 0);
  ASSERT_EQ(cairn_unlink(pool, CAIRN_ROOT, "sparse"), 0);
}

struct ReleasedMemory : testing::Test {
  ReleasedMemory() {
    make_pool(path, 32 * mebibyte, 8);
    pool = attach(path);
  }
  ~ReleasedMemory() override {
    cairn_pool_detach(pool);
    EXPECT_EQ(check_pool(path), 0);
  }
  [[nodiscard]] uint64_t memory_taken() const {
    struct stat st {};
    EXPECT_EQ(stat((path + "/segment.0").c_str(), &st), 0);
    return static_cast<uint64_t>(st.st_blocks) * 512;
  }
  [[nodiscard]] cairn_pool_info info() const {
    cairn_pool_info info;
    EXPECT_EQ(cairn_pool_get_info(pool, &info), 0) << cairn_last_error();
    return info;
  }

  TemporaryFolder folder;
  std::string path = folder.path() + "/pool";
  cairn_pool* pool = nullptr;
};

TEST_F(ReleasedMemory, GoesBackToTheSystemAndIsTakenAgain) {
  write_file(pool, "kept", 3);
  const uint64_t before = memory_taken();
  for (int round = 0; round < 3; ++round) {
    write_file(pool, "file", 0xff);
    EXPECT_GE(memory_taken(), before + size);
    ASSERT_EQ(cairn_unlink(pool, CAIRN_ROOT, "file"), 0);
    release_all(pool);
    EXPECT_LT(memory_taken(), before + 4 * mebibyte);
    EXPECT_LT(info().free_held, 4 * mebibyte);
    expect_zeros_around(pool);
  }
}

TEST_F(ReleasedMemory, StaysForAMinute) {
  write_file(pool, "file", 0xff);
  ASSERT_EQ(cairn_unlink(pool, CAIRN_ROOT, "file"), 0);
  const uint64_t held = info().free_held;
  EXPECT_GE(held, size);
  pool::Pool& opened = capi::fs_of(pool).pool;
  const pool::SeatGuard seat(opened);
  ASSERT_TRUE(seat.ok());
  pool::release_idle(opened, *seat);
  EXPECT_FALSE(pool::release_chunks(opened, *seat, pool::idle_ns, long_enough_ns));
  EXPECT_EQ(pool::usage(opened).held * 4096, held);
}

TEST_F(ReleasedMemory, StaysWhereThePoolSaysSo) {
  ASSERT_EQ(cairn_pool_set_release(pool, CAIRN_RELEASE_NEVER), 0);
  write_file(pool, "file", 0xff);
  ASSERT_EQ(cairn_unlink(pool, CAIRN_ROOT, "file"), 0);
  const uint64_t held = info().free_held;
  release_all(pool);
  EXPECT_EQ(info().free_held, held);
  ASSERT_EQ(cairn_pool_set_release(pool, CAIRN_RELEASE_IDLE), 0);
  release_all(pool);
  EXPECT_LT(info().free_held, held);
}

TEST_F(ReleasedMemory, StaysInAPoolThatWasPopulated) {
  ASSERT_EQ(cairn_pool_populate(pool, nullptr, nullptr), 0);
  write_file(pool, "file", 0xff);
  ASSERT_EQ(cairn_unlink(pool, CAIRN_ROOT, "file"), 0);
  const uint64_t held = info().free_held;
  release_all(pool);
  EXPECT_EQ(info().free_held, held);
}

// Somebody may populate the segment while a chunk's memory goes back: what is said to be backed is
// not.
TEST_F(ReleasedMemory, IsReservedAnewInAPoolThatWasPopulatedMeanwhile) {
  write_file(pool, "file", 0xff);
  ASSERT_EQ(cairn_unlink(pool, CAIRN_ROOT, "file"), 0);
  release_all(pool);
  pool::Pool& opened = capi::fs_of(pool).pool;
  pool::note_backed(opened, *opened.segment[0]);
  const uint64_t before = memory_taken();
  cairn_file* file = nullptr;
  ASSERT_EQ(cairn_open(pool, CAIRN_ROOT, "file", O_WRONLY | O_CREAT, 0600, &file), 0);
  // First into what the pool still holds; the first block beyond that needs a chunk.
  const std::vector<uint8_t> block(4096, 1);
  for (uint64_t at = 0; memory_taken() == before; at += block.size()) {
    ASSERT_LT(at, size);
    ASSERT_EQ(cairn_pwrite(file, block.data(), block.size(), at), 4096);
  }
  EXPECT_GE(memory_taken(), before + 2 * mebibyte) << "most of a chunk has no memory";
  ASSERT_EQ(cairn_close(file), 0);
}

// Another process that has had the chunk mapped must not take it for warm, nor read what it held.
TEST_F(ReleasedMemory, IsColdInAllProcesses) {
  cairn_pool* other = attach(path);
  write_file(other, "file", 0xff);
  write_file(other, "file", 0xfe);
  ASSERT_EQ(cairn_unlink(other, CAIRN_ROOT, "file"), 0);
  release_all(pool);
  expect_zeros_around(other);
  write_file(other, "file", 5);
  cairn_pool_detach(other);
}

// Gives memory back in a process of its own, which is killed before its store `kill_at`. What it
// reports, if it lives: after which stores a chunk's state had changed, and last how many stores
// there were.
std::vector<uint64_t> release_apart(const std::string& path, uint64_t kill_at) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    cairn_pool* own = nullptr;
    if (cairn_pool_attach(path.c_str(), 0, &own) != 0) _exit(2);
    pool::Pool& opened = capi::fs_of(own).pool;
    const pool::SeatGuard seat(opened);
    if (!seat.ok()) _exit(3);
    const pool::Segment& segment = *opened.segment[0];
    const auto states = [&segment] {
      uint64_t sum = 0;
      for (uint64_t c = pool::first_chunk(segment); c < segment.chunks; ++c)
        sum = sum * 5 + segment.chunk[c].state.load();
      return sum;
    };
    std::vector<uint64_t> report;
    uint64_t last_states = states();
    uint64_t stores = 0;
    set_store_hook(opened, [&](uint64_t number) {
      if (number == kill_at) kill(getpid(), SIGKILL);
      if (states() != last_states) report.push_back(number);
      last_states = states();
      stores = number;
    });
    pool::release_chunks(opened, *seat, 0, long_enough_ns);
    report.push_back(stores);
    (void)!write(ends[1], report.data(), report.size() * sizeof(uint64_t));
    _exit(0);
  }
  close(ends[1]);
  std::vector<uint64_t> report(256);
  const ssize_t n = read(ends[0], report.data(), report.size() * sizeof(uint64_t));
  report.resize(static_cast<size_t>(n) / sizeof(uint64_t));
  close(ends[0]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) ? WEXITSTATUS(status) == 0 : WTERMSIG(status) == SIGKILL);
  return report;
}

// At whichever store to the pool the process dies that gives memory back, or around its system
// call.
TEST_F(ReleasedMemory, IsNobodysBytesWhereverItsReleaseIsCutShort) {
  const auto free_a_file = [this] {
    write_file(pool, "file", 0xff);
    ASSERT_EQ(cairn_unlink(pool, CAIRN_ROOT, "file"), 0);
  };
  write_file(pool, "kept", 3);
  free_a_file();
  const std::vector<uint64_t> changes = release_apart(path, UINT64_MAX);
  ASSERT_GE(changes.size(), 2 * 3 + 1U) << "too few chunks were released";
  const uint64_t stores = changes.back();
  std::vector<uint64_t> kills;
  for (const uint64_t change : changes)
    for (uint64_t at = change - 2; at <= change + 2; ++at) kills.push_back(at);
  for (uint64_t at = 1; at < 16; ++at) kills.push_back(at);
  for (uint64_t at = 16; at < stores; at += stores / 50) kills.push_back(at);
  for (const uint64_t kill_at : kills) {
    free_a_file();
    release_apart(path, kill_at);
    cairn_pool_detach(attach(path));  // recovers the dead
    ASSERT_EQ(check_pool(path), 0) << "killed at store " << kill_at;
    ASSERT_LE(info().used, size + 2 * mebibyte) << "killed at store " << kill_at;
    expect_zeros_around(pool);
    ASSERT_EQ(check_pool(path), 0) << "killed at store " << kill_at;
    if (HasFailure()) FAIL() << "killed at store " << kill_at;
  }
}

}  // namespace
}  // namespace cairn::test
