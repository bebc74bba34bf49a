// What a drain makes of lower.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>

#include "tier/cover_fixture.h"

namespace cairn::test {
namespace {

class DrainTest : public CoverTest {
 protected:
  void SetUp() override {
    make_pool();
    put_some_files();
  }
};

TEST_F(DrainTest, NothingChangedCostsNothing) {
  const auto before = describe(lower_);
  Covered covered(pool_, lower_);
  EXPECT_EQ(covered.read("dir/deep/b"), "bbb");
  const Drained drained = covered.drain();
  EXPECT_EQ(drained.code, 0) << cairn_last_error();
  EXPECT_EQ(drained.report.files, 0u);
  EXPECT_EQ(difference(describe(lower_), before), "");
}

TEST_F(DrainTest, ChangedAndNewFiles) {
  Covered covered(pool_, lower_);
  ASSERT_EQ(covered.write("dir/a", "XYZ", 100000), 0);
  ASSERT_EQ(covered.create("dir/new", "new file", 0600), 0);
  ASSERT_EQ(cairn_mkdir(covered.pool, covered.top, "made", 0751), 0);
  ASSERT_EQ(cairn_mkdir(covered.pool, covered.top, "made/below", 0500), 0);
  ASSERT_EQ(covered.create("made/x", std::string(5 << 20, 'x')), 0);
  ASSERT_EQ(cairn_symlink(covered.pool, "nowhere", covered.top, "made/dangling"), 0);
  ASSERT_EQ(cairn_mknod(covered.pool, covered.top, "made/fifo", S_IFIFO | 0620), 0)
      << cairn_last_error();
  ASSERT_EQ(cairn_setxattr(covered.pool, covered.stat("dir/new").ino, 0, "user.k", "v", 1, 0), 0);
  expect_drained(covered);
}

// The kernel copies a large piece to memory that this process has not touched, and stops where the
// buffer ends: -EFAULT, although some bytes have changed.
TEST_F(DrainTest, BytesOfAWriteThatFailedAreDrained) {
  constexpr size_t size = size_t{1} << 20;
  constexpr size_t readable = size_t{64} << 10;
  constexpr uint64_t places = 8;
  {
    Covered before(pool_, lower_);
    ASSERT_EQ(before.create("dir/large", std::string(places * size, 'o')), 0);
    ASSERT_EQ(before.drain().code, 0) << cairn_last_error();
  }
  void* buffer = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(buffer, MAP_FAILED);
  std::memset(buffer, 'n', readable);
  ASSERT_EQ(mprotect(static_cast<char*>(buffer) + readable, size - readable, PROT_NONE), 0);
  uint64_t failed = 0;
  for (uint64_t i = 0; i < places; ++i) {
    Covered covered(pool_, lower_, true);  // nothing is touched yet
    cairn_file* file = nullptr;
    ASSERT_EQ(cairn_open(covered.pool, covered.top, "dir/large", O_RDWR, 0, &file), 0);
    const cairn_piece piece = {buffer, size, i * size};
    const int64_t written = i % 2 == 0 ? cairn_pwrite(file, buffer, size, piece.offset)
                                       : cairn_write_pieces(file, &piece, 1);
    ASSERT_LE(written, static_cast<int64_t>(readable));
    char byte = 0;
    ASSERT_EQ(cairn_pread(file, &byte, 1, piece.offset), 1);
    if (written == -EFAULT && byte == 'n') ++failed;
    EXPECT_EQ(cairn_close(file), 0);
    expect_drained(covered);
  }
  munmap(buffer, size);
  EXPECT_GE(failed, 2U) << "no write failed after it had changed a byte: this shows nothing";
}

TEST_F(DrainTest, AttributesOfUntouchedFiles) {
  Covered covered(pool_, lower_);
  ASSERT_EQ(cairn_chmod(covered.pool, covered.stat("dir/a").ino, 0, 0640), 0);
  ASSERT_EQ(cairn_utimens(covered.pool, covered.stat("dir/a").ino, 0, 1'000'000'007, 2'000'000'003),
            0);
  ASSERT_EQ(cairn_chmod(covered.pool, covered.stat("dir/deep").ino, 0, 0700), 0);
  EXPECT_NE(covered.stat("dir/a").flags & CAIRN_FILE_LAZY, 0u);
  expect_drained(covered);
  EXPECT_EQ(covered.read("dir/a"), std::string(300000, 'a'));
}

TEST_F(DrainTest, RemovedAndReplacedNames) {
  Covered covered(pool_, lower_);
  cairn_pool* pool = covered.pool;
  ASSERT_EQ(cairn_unlink(pool, covered.top, "hello"), 0);
  ASSERT_EQ(cairn_mkdir(pool, covered.top, "hello", 0755), 0);  // a directory where a file was
  ASSERT_EQ(covered.create("hello/inside", "i"), 0);
  ASSERT_EQ(cairn_unlink(pool, covered.top, "dir/deep/b"), 0);
  ASSERT_EQ(cairn_rmdir(pool, covered.top, "dir/deep"), 0);
  ASSERT_EQ(covered.create("dir/deep", "a file now"), 0);  // a file where a directory was
  ASSERT_EQ(cairn_unlink(pool, covered.top, "link"), 0);
  expect_drained(covered);
  ASSERT_EQ(cairn_unlink(pool, covered.top, "dir/a"), 0);
  ASSERT_EQ(cairn_unlink(pool, covered.top, "dir/deep"), 0);
  ASSERT_EQ(cairn_rmdir(pool, covered.top, "dir"), 0);
  expect_drained(covered);
}

TEST_F(DrainTest, MovedFilesAndDirectories) {
  Covered covered(pool_, lower_);
  cairn_pool* pool = covered.pool;
  ASSERT_EQ(cairn_mkdir(pool, covered.top, "other", 0755), 0);
  ASSERT_EQ(cairn_rename(pool, covered.top, "dir", covered.top, "other/moved", 0), 0);
  ASSERT_EQ(cairn_rename(pool, covered.top, "hello", covered.top, "other/moved/a", 0), 0);
  expect_drained(covered);
  ASSERT_EQ(cairn_rename(pool, covered.top, "other/moved", covered.top, "dir", 0), 0);
  ASSERT_EQ(cairn_rename(pool, covered.top, "dir/deep", covered.top, "other", 0), 0)
      << cairn_last_error();
  expect_drained(covered);
  ASSERT_EQ(cairn_rename(pool, covered.top, "dir", covered.top, "other", 2 /* exchange */), 0);
  expect_drained(covered);
}

TEST_F(DrainTest, HardLinks) {
  Covered covered(pool_, lower_);
  cairn_pool* pool = covered.pool;
  ASSERT_EQ(cairn_link(pool, covered.top, "hello", covered.top, "dir/second", 0), 0)
      << cairn_last_error();
  ASSERT_EQ(cairn_link(pool, covered.top, "hello", covered.top, "third", 0), 0);
  expect_drained(covered);
  ASSERT_EQ(covered.write("third", "HELLO"), 0);
  expect_drained(covered);
  EXPECT_EQ(get(lower_ + "/dir/second"), "HELLO, world\n");
  ASSERT_EQ(cairn_unlink(pool, covered.top, "hello"), 0);
  expect_drained(covered);
}

// Two names of one file in lower are two files in the pool.
TEST_F(DrainTest, AttributesOfOneOfTwoNamesInLower) {
  put(lower_ + "/one", "bytes");
  fs::create_hard_link(lower_ + "/one", lower_ + "/two");
  Covered covered(pool_, lower_);
  const cairn_ino one = covered.stat("one").ino;
  ASSERT_EQ(cairn_utimens(covered.pool, one, 0, 1'000'000'007, 2'000'000'003), 0);
  ASSERT_EQ(cairn_chmod(covered.pool, one, 0, 0600), 0);
  ASSERT_EQ(covered.write("two", "more", 5), 0);
  expect_drained(covered);
  EXPECT_EQ(get(lower_ + "/one"), "bytes");
  EXPECT_EQ(get(lower_ + "/two"), "bytesmore");
  struct stat st = {};
  ASSERT_EQ(stat((lower_ + "/two").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0644U);
}

TEST_F(DrainTest, SparseFilesStaySparse) {
  Covered covered(pool_, lower_);
  ASSERT_EQ(covered.create("sparse", ""), 0);
  ASSERT_EQ(covered.write("sparse", "end", 200 << 20), 0);
  ASSERT_EQ(cairn_truncate(covered.pool, covered.stat("sparse").ino, 0, 300 << 20), 0);
  const Drained drained = covered.drain();
  EXPECT_EQ(drained.code, 0) << cairn_last_error();
  struct stat st = {};
  ASSERT_EQ(stat((lower_ + "/sparse").c_str(), &st), 0);
  EXPECT_EQ(st.st_size, 300 << 20);
  EXPECT_LT(st.st_blocks, 1000);
}

TEST_F(DrainTest, AFileChangedBehindOurBackIsNotOverwritten) {
  Covered covered(pool_, lower_);
  ASSERT_EQ(covered.write("dir/a", "ours"), 0);
  ASSERT_EQ(covered.create("dir/b", "ours too"), 0);
  ASSERT_EQ(covered.create("dir/c", "no trouble"), 0);
  ASSERT_EQ(cairn_unlink(covered.pool, covered.top, "hello"), 0);
  put(lower_ + "/dir/a", "theirs");
  put(lower_ + "/dir/b", "theirs too");
  put(lower_ + "/hello", "still wanted");
  for (int i = 0; i < 2; ++i) {
    const Drained drained = covered.drain();
    EXPECT_EQ(drained.code, -EIO);
    EXPECT_EQ(drained.report.conflicts, 2u);
    ASSERT_EQ(drained.problems.size(), 2u);
    for (const std::string& problem : drained.problems)
      EXPECT_NE(problem.find("outside Cairn"), std::string::npos) << problem;
    EXPECT_EQ(get(lower_ + "/dir/a"), "theirs");
    EXPECT_EQ(get(lower_ + "/dir/b"), "theirs too");
    EXPECT_EQ(get(lower_ + "/dir/c"), "no trouble");
    EXPECT_EQ(covered.read("dir/b"), "ours too");
  }
  // Whoever wants ours moves theirs away.
  fs::rename(lower_ + "/dir/a", lower_ + "/theirs-a");
  fs::rename(lower_ + "/dir/b", lower_ + "/theirs-b");
  const Drained drained = covered.drain();
  EXPECT_EQ(drained.code, -EIO);
  EXPECT_EQ(drained.report.conflicts, 1u);  // "hello" is not removed either
  EXPECT_EQ(get(lower_ + "/hello"), "still wanted");
  EXPECT_EQ(get(lower_ + "/dir/b"), "ours too");
}

TEST_F(DrainTest, ARemovedDirectoryThatChangedStays) {
  Covered covered(pool_, lower_);
  ASSERT_EQ(cairn_unlink(covered.pool, covered.top, "dir/deep/b"), 0);
  ASSERT_EQ(cairn_rmdir(covered.pool, covered.top, "dir/deep"), 0);
  usleep(20000);
  put(lower_ + "/dir/deep/b", "changed");
  Drained drained = covered.drain();
  EXPECT_EQ(drained.code, -EIO);
  EXPECT_EQ(drained.report.conflicts, 1u);
  EXPECT_EQ(get(lower_ + "/dir/deep/b"), "changed");
}

TEST_F(DrainTest, DrainedFilesBelowARemovedDirectoryAreRemoved) {
  Covered covered(pool_, lower_);
  ASSERT_EQ(covered.write("dir/deep/b", "drained once"), 0);
  expect_drained(covered);
  ASSERT_EQ(cairn_unlink(covered.pool, covered.top, "dir/deep/b"), 0);
  ASSERT_EQ(cairn_rmdir(covered.pool, covered.top, "dir/deep"), 0);
  ASSERT_EQ(cairn_unlink(covered.pool, covered.top, "dir/a"), 0);
  ASSERT_EQ(cairn_rmdir(covered.pool, covered.top, "dir"), 0);
  expect_drained(covered);
}

// The clock that stamps writes stands still for some milliseconds: a write in the tick in which the
// file was made in lower has the same time as it.
TEST_F(DrainTest, AWriteInTheTickOfTheImportIsDrained) {
  for (int i = 0; i < 30; ++i) {
    const std::string pool = shared_.path("pool" + std::to_string(i));
    const std::string lower = disk_.path("lower" + std::to_string(i));
    cairn_pool_options options = {};
    options.struct_size = sizeof options;
    options.size = 4 << 20;
    ASSERT_EQ(cairn_pool_create(pool.c_str(), &options), 0) << cairn_last_error();
    fs::create_directory(lower);
    put(lower + "/f", "old");
    Covered covered(pool, lower);
    ASSERT_EQ(covered.write("f", "new"), 0);
    ASSERT_EQ(covered.drain().code, 0);
    ASSERT_EQ(get(lower + "/f"), "new");
  }
}

// Others go on writing meanwhile; what the last of them wrote is there after the last drain.
// Small files wait for the disk together, each with a descriptor: where few are free, fewer wait.
TEST_F(DrainTest, ManySmallFilesNeedFewDescriptors) {
  Covered covered(pool_, lower_);
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(covered.create("small" + std::to_string(i), std::string(100 + i, 's')), 0);
  const int next = open("/", O_RDONLY | O_DIRECTORY);
  ASSERT_GE(next, 0);
  close(next);
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = static_cast<rlim_t>(next) + 12;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const Drained drained = covered.drain();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(drained.code, 0) << cairn_last_error();
  EXPECT_EQ(drained.report.files, 100U);
  expect_drained(covered);
}

TEST_F(DrainTest, DrainingWhileOthersWrite) {
  Covered covered(pool_, lower_);
  const pid_t child = fork();
  if (child == 0) {
    Covered writer(pool_, lower_, true);
    for (int i = 0; i < 400; ++i) {
      const std::string name = "w" + std::to_string(i % 7);
      writer.create(name,
                    std::string(static_cast<size_t>(50000 + i), static_cast<char>('a' + i % 26)));
      if (i % 5 == 0)
        cairn_rename(writer.pool, writer.top, name.c_str(), writer.top, "dir/moved", 0);
      if (i % 11 == 0) cairn_unlink(writer.pool, writer.top, "dir/moved");
    }
    _exit(0);
  }
  int status = 1;
  while (waitpid(child, &status, WNOHANG) == 0) {
    const Drained drained = covered.drain();
    EXPECT_EQ(drained.report.conflicts, 0u) << drained.problems[0];
  }
  EXPECT_EQ(status, 0);
  expect_drained(covered);
}

TEST_F(DrainTest, UndrainedBytesAreListed) {
  Covered covered(pool_, lower_);
  ASSERT_EQ(covered.create("new", std::string(100000, 'n')), 0);
  struct Found {
    std::string directory, job;
    uint64_t bytes = 0;
    bool all_drained = false;
    int count = 0;
  } found;
  const auto visit = [](void* context, const cairn_cover_info* info) {
    ASSERT_EQ(info->struct_size, sizeof *info);
    *static_cast<Found*>(context) = {info->directory, info->job, info->undrained_bytes,
                                     info->all_drained != 0,
                                     static_cast<Found*>(context)->count + 1};
  };
  ASSERT_EQ(cairn_cover_list(covered.pool, visit, &found), 0) << cairn_last_error();
  EXPECT_EQ(found.count, 1);
  EXPECT_EQ(found.directory, lower_);
  EXPECT_EQ(found.job, "job-1");
  EXPECT_EQ(found.bytes, 100000u);
  EXPECT_FALSE(found.all_drained);
  covered.drain();
  ASSERT_EQ(cairn_cover_list(covered.pool, visit, &found), 0);
  EXPECT_EQ(found.bytes, 0u);
  EXPECT_TRUE(found.all_drained);
}

// Each of them was "all drained", because none has bytes of data.
TEST_F(DrainTest, ChangesWithoutBytesAreNotAllDrained) {
  Covered covered(pool_, lower_);
  const auto all_drained = [&] {
    bool all = false;
    const auto visit = [](void* context, const cairn_cover_info* info) {
      EXPECT_EQ(info->undrained_bytes, 0u);
      *static_cast<bool*>(context) = info->all_drained != 0;
    };
    EXPECT_EQ(cairn_cover_list(covered.pool, visit, &all), 0) << cairn_last_error();
    return all;
  };
  EXPECT_TRUE(all_drained());
  EXPECT_EQ(covered.read("dir/deep/b"), get(lower_ + "/dir/deep/b"));  // enters every directory
  EXPECT_TRUE(all_drained());
  cairn_pool* pool = covered.pool;
  const auto make_hole = [&] {
    const int made = covered.create("sparse", "");
    return made != 0 ? made : cairn_truncate(pool, covered.stat("sparse").ino, 0, 1 << 30);
  };
  const std::vector<std::pair<const char*, std::function<int()>>> changes = {
      {"a directory", [&] { return cairn_mkdir(pool, covered.top, "made", 0755); }},
      {"an empty file", [&] { return covered.create("DONE", ""); }},
      {"a link", [&] { return cairn_symlink(pool, "hello", covered.top, "linked"); }},
      {"a second name",
       [&] { return cairn_link(pool, covered.top, "DONE", covered.top, "dir/second", 0); }},
      {"a removal", [&] { return cairn_unlink(pool, covered.top, "dir/a"); }},
      {"a mode", [&] { return cairn_chmod(pool, covered.stat("dir/deep/b").ino, 0, 0600); }},
      {"the top's mode", [&] { return cairn_chmod(pool, covered.top, 0, 0710); }},
      {"a file of holes", make_hole},
  };
  for (const auto& [what, change] : changes) {
    SCOPED_TRACE(what);
    EXPECT_EQ(change(), 0) << cairn_last_error();
    EXPECT_FALSE(all_drained());
    EXPECT_EQ(covered.drain().code, 0) << cairn_last_error();
    EXPECT_TRUE(all_drained());
  }
}

TEST_F(DrainTest, AStopKeepsWhatIsDone) {
  Covered covered(pool_, lower_);
  for (int i = 0; i < 10; ++i)
    ASSERT_EQ(covered.create("f" + std::to_string(i), std::string(100000, 'f')), 0);
  cairn_drain_report report = {};
  const auto stop = [](void*, uint64_t done, uint64_t) { return done > 450000 ? 1 : 0; };
  EXPECT_EQ(cairn_cover_drain(covered.cover, stop, nullptr, nullptr, &report), -ECANCELED);
  EXPECT_EQ(report.files, 4u);
  expect_drained(covered);
}

}  // namespace
}  // namespace cairn::test
