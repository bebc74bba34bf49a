// An eviction before any instruction of a call: the call answers as if the file had been there all
// the time. Each test fails if the call's look at shape and lazy flag (file/inode/shape.h) is taken
// out.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "tier/evict_fixture.h"
#include "tier/single_steps.h"

namespace cairn::test {
namespace {

// Blocks in the inode itself, in its first node, and a hole in between.
constexpr size_t step_bytes = 90'000;
constexpr size_t hole_begin = 40'960;
constexpr size_t hole_end = 61'440;

class EvictSteps : public EvictTest {
 protected:
  static constexpr unsigned most = 64;

  void SetUp() override {
#if !defined(__x86_64__)
    GTEST_SKIP() << "single steps are known for x86-64 only";
#endif
    start(128 * mib);
    bytes = pattern(step_bytes, 5);
    bytes.replace(hole_begin, hole_end - hole_begin, hole_end - hole_begin, '\0');
  }
  void make(const std::string& name) {
    ASSERT_EQ(covered->create(name, bytes.substr(0, hole_begin)), 0) << cairn_last_error();
    ASSERT_EQ(covered->write(name, bytes.substr(hole_end), hole_end), 0) << cairn_last_error();
  }
  // One file, looked at again and again.
  void make_one() {
    make("file");
    ASSERT_EQ(covered->drain().code, 0) << cairn_last_error();
    file = open("file", O_RDONLY);
    st = covered->stat("file");
  }
  // As many as there are calls that each change one.
  void make_many() {
    for (unsigned i = 0; i < most; ++i) make(name_of(i));
    ASSERT_EQ(covered->drain().code, 0) << cairn_last_error();
    for (unsigned i = 0; i < most; ++i) files.push_back(open(name_of(i), O_RDWR));
    for (unsigned i = 0; i < most; ++i) inos.push_back(covered->stat(name_of(i)).ino);
  }
  void TearDown() override {
    if (file != nullptr) cairn_close(file);
    for (cairn_file* one : files) cairn_close(one);
    // Else an eviction might have met none of the calls.
    if (!HasFatalFailure() && covered != nullptr) {
      EXPECT_GT(evicted, 10U);
    }
  }
  static std::string name_of(unsigned i) { return "file-" + std::to_string(i); }
  bool evict_file() { return evict_inode(st.ino); }
  void stage_file() { cairn_stage(covered->pool, st.ino, 0); }
  bool evict_number(unsigned i) { return evict_inode(inos[i]); }
  bool evict_inode(cairn_ino ino) {
    const bool succeeded = cairn_evict(covered->pool, ino, 0, nullptr) == 0;
    evicted += succeeded ? 1 : 0;
    return succeeded;
  }

  std::string bytes;
  cairn_file* file = nullptr;
  cairn_stat st = {};
  std::vector<cairn_file*> files;
  std::vector<cairn_ino> inos;
  unsigned evicted = 0;
};

TEST_F(EvictSteps, StatCountsTheBlocksOfOnePlace) {
  make_one();
  const uint64_t here = st.blocks;
  evict_file();
  const uint64_t there = covered->stat("file").blocks;
  stage_file();
  cairn_stat found = {};
  for (const bool comes_back : {false, true}) {
    at_many_steps(
        most, [&](unsigned) { cairn_fstat(file, &found); },
        [&](unsigned) {
          const bool succeeded = evict_file();
          if (comes_back) stage_file();
          return succeeded;
        },
        [&](unsigned i) {
          EXPECT_TRUE(found.blocks == here || found.blocks == there)
              << found.blocks << " at " << i << ", not " << here << " or " << there;
          EXPECT_EQ(found.size, step_bytes);
          EXPECT_EQ(found.mtime_ns, st.mtime_ns);
          stage_file();
        });
  }
}

TEST_F(EvictSteps, SeekFindsTheHolesOfTheFile) {
  make_one();
  struct Case {
    int whence;
    int64_t from;
    int64_t found;
  };
  const Case cases[] = {{SEEK_HOLE, 0, hole_begin},
                        {SEEK_DATA, 0, 0},
                        {SEEK_DATA, hole_begin, hole_end},
                        {SEEK_HOLE, hole_end, step_bytes}};
  for (const Case& one : cases) {
    for (const bool comes_back : {false, true}) {
      int64_t found = -1;
      at_many_steps(
          most, [&](unsigned) { found = cairn_seek(file, one.from, one.whence); },
          [&](unsigned) {
            const bool succeeded = evict_file();
            if (comes_back) stage_file();
            return succeeded;
          },
          [&](unsigned i) {
            EXPECT_EQ(found, one.found)
                << "from " << one.from << ", whence " << one.whence << ", at " << i;
            stage_file();
          });
    }
  }
}

TEST_F(EvictSteps, ReadFindsTheBytes) {
  make_one();
  std::string found(step_bytes, '\0');
  ssize_t n = 0;
  for (const bool comes_back : {false, true}) {
    at_many_steps(
        most, [&](unsigned) { n = cairn_pread(file, found.data(), 8000, 30'000); },
        [&](unsigned) {
          const bool succeeded = evict_file();
          if (comes_back) stage_file();
          return succeeded;
        },
        [&](unsigned i) {
          EXPECT_EQ(n, 8000);
          EXPECT_TRUE(found.compare(0, 8000, bytes, 30'000, 8000) == 0) << i;
          std::memset(found.data(), 'z', found.size());
          stage_file();
        });
  }
}

TEST_F(EvictSteps, AMappingShowsTheBytes) {
  make_one();
  void* at = nullptr;
  at_many_steps(
      most,
      [&](unsigned) {
        at = nullptr;
        EXPECT_EQ(cairn_mmap(file, nullptr, step_bytes, PROT_READ, MAP_SHARED, 0, &at), 0)
            << cairn_last_error();
      },
      [&](unsigned) { return evict_file(); },
      [&](unsigned i) {
        ASSERT_NE(at, nullptr) << i;
        EXPECT_EQ(std::memcmp(at, bytes.data(), step_bytes), 0) << i;
        EXPECT_EQ(cairn_munmap(covered->pool, at, step_bytes), 0);
        stage_file();
      });
}

TEST_F(EvictSteps, AViewShowsTheBytes) {
  make_one();
  cairn_view view = {};
  at_many_steps(
      most,
      [&](unsigned) { EXPECT_EQ(cairn_view_open(file, 0, 4096, &view), 0) << cairn_last_error(); },
      [&](unsigned) { return evict_file(); },
      [&](unsigned i) {
        ASSERT_NE(view.data, nullptr) << i;
        EXPECT_EQ(std::memcmp(view.data, bytes.data(), view.size), 0) << i;
        cairn_view_close(file, &view);
        stage_file();
      });
}

// What a preallocation has promised is there, and the file has all its bytes.
TEST_F(EvictSteps, AllocatingKeepsWhatItAllocates) {
  make_many();
  constexpr uint64_t end = 120'000;
  at_many_steps(
      most,
      [&](unsigned i) {
        EXPECT_EQ(cairn_fallocate(files[i], FALLOC_FL_KEEP_SIZE, 0, end), 0) << cairn_last_error();
      },
      [&](unsigned i) { return evict_number(i); },
      [&](unsigned i) {
        EXPECT_FALSE(is_lazy(name_of(i))) << i;
        EXPECT_GE(covered->stat(name_of(i)).blocks * 512, end) << i;
        EXPECT_TRUE(covered->read(name_of(i)) == bytes) << i;
      });
}

TEST_F(EvictSteps, AllocatingBeyondTheEndMakesItLonger) {
  make_many();
  constexpr size_t more = 10'000;
  at_many_steps(
      most,
      [&](unsigned i) {
        EXPECT_EQ(cairn_fallocate(files[i], 0, step_bytes - 100, more + 100), 0)
            << cairn_last_error();
      },
      [&](unsigned i) { return evict_number(i); },
      [&](unsigned i) {
        EXPECT_TRUE(covered->read(name_of(i)) == bytes + std::string(more, '\0')) << i;
      });
}

TEST_F(EvictSteps, AZeroedRangeIsZero) {
  make_many();
  std::string zeroed = bytes;
  zeroed.replace(5000, 100, 100, '\0');
  at_many_steps(
      most,
      [&](unsigned i) {
        EXPECT_EQ(cairn_fallocate(files[i], FALLOC_FL_ZERO_RANGE, 5000, 100), 0)
            << cairn_last_error();
      },
      [&](unsigned i) { return evict_number(i); },
      [&](unsigned i) { EXPECT_TRUE(covered->read(name_of(i)) == zeroed) << i; });
}

TEST_F(EvictSteps, APunchedRangeIsZero) {
  make_many();
  std::string punched = bytes;
  punched.replace(5000, 30'000, 30'000, '\0');
  at_many_steps(
      most,
      [&](unsigned i) {
        EXPECT_EQ(
            cairn_fallocate(files[i], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 5000, 30'000), 0)
            << cairn_last_error();
      },
      [&](unsigned i) { return evict_number(i); },
      [&](unsigned i) { EXPECT_TRUE(covered->read(name_of(i)) == punched) << i; });
}

TEST_F(EvictSteps, AWriteChangesAllOfTheFile) {
  make_many();
  std::string expected = bytes;
  expected.replace(20'000, 3, "NEW");
  at_many_steps(
      most, [&](unsigned i) { EXPECT_EQ(cairn_pwrite(files[i], "NEW", 3, 20'000), 3); },
      [&](unsigned i) { return evict_number(i); },
      [&](unsigned i) { EXPECT_TRUE(covered->read(name_of(i)) == expected) << i; });
}

TEST_F(EvictSteps, AnAppendComesAfterAllOfTheFile) {
  make_many();
  at_many_steps(
      most,
      [&](unsigned i) {
        iovec vector = {const_cast<char*>("END"), 3};
        EXPECT_EQ(cairn_appendv(files[i], &vector, 1), 3);
      },
      [&](unsigned i) { return evict_number(i); },
      [&](unsigned i) { EXPECT_TRUE(covered->read(name_of(i)) == bytes + "END") << i; });
}

TEST_F(EvictSteps, ACutFileHasItsBegin) {
  make_many();
  at_many_steps(
      most, [&](unsigned i) { EXPECT_EQ(cairn_ftruncate(files[i], 30'001), 0); },
      [&](unsigned i) { return evict_number(i); },
      [&](unsigned i) { EXPECT_TRUE(covered->read(name_of(i)) == bytes.substr(0, 30'001)) << i; });
}

TEST_F(EvictSteps, ARemovedFileThatIsOpenHasItsBytes) {
  make_many();
  std::string found(step_bytes, '\0');
  at_many_steps(
      most,
      [&](unsigned i) {
        EXPECT_EQ(cairn_unlink(covered->pool, covered->top, name_of(i).c_str()), 0);
      },
      [&](unsigned i) { return evict_number(i); },
      [&](unsigned i) {
        EXPECT_EQ(cairn_pread(files[i], found.data(), step_bytes, 0),
                  static_cast<ssize_t>(step_bytes))
            << cairn_last_error();
        EXPECT_TRUE(found == bytes) << i;
      });
}

TEST_F(EvictSteps, ARenamedFileHasItsBytes) {
  make_many();
  at_many_steps(
      most,
      [&](unsigned i) {
        EXPECT_EQ(cairn_rename(covered->pool, covered->top, name_of(i).c_str(), covered->top,
                               ("new-" + name_of(i)).c_str(), 0),
                  0)
            << cairn_last_error();
      },
      [&](unsigned i) { return evict_number(i); },
      [&](unsigned i) { EXPECT_TRUE(covered->read("new-" + name_of(i)) == bytes) << i; });
}

// It has the bytes of lower while a process has it open, or that process gets the new file.
TEST_F(EvictSteps, AReplacedFileIsTheOldOneOrTheNewOne) {
  for (unsigned i = 0; i < most; ++i) make(name_of(i));
  ASSERT_EQ(covered->drain().code, 0) << cairn_last_error();
  for (unsigned i = 0; i < most; ++i) {
    inos.push_back(covered->stat(name_of(i)).ino);
    ASSERT_TRUE(evict_number(i)) << cairn_last_error();
    ASSERT_EQ(covered->create("new-" + name_of(i), "new"), 0) << cairn_last_error();
  }
  cairn_file* opened = nullptr;
  at_many_steps(
      most,
      [&](unsigned i) {
        EXPECT_EQ(cairn_rename(covered->pool, covered->top, ("new-" + name_of(i)).c_str(),
                               covered->top, name_of(i).c_str(), 0),
                  0)
            << cairn_last_error();
      },
      [&](unsigned i) {
        opened = open(name_of(i), O_RDONLY);
        cairn_stat found = {};
        return cairn_fstat(opened, &found) == 0 && found.ino == inos[i];
      },
      [&](unsigned i) {
        if (opened == nullptr) return;
        std::string found(step_bytes, '\0');
        const ssize_t n = cairn_pread(opened, found.data(), step_bytes, 0);
        ASSERT_GE(n, 0) << i << ": " << cairn_last_error();
        found.resize(static_cast<size_t>(n));
        EXPECT_TRUE(found == bytes || found == "new") << i;
        EXPECT_EQ(cairn_close(opened), 0);
        opened = nullptr;
        EXPECT_EQ(covered->read(name_of(i)), "new");
      });
}

}  // namespace
}  // namespace cairn::test
