// Eviction: a drained file gives its room in the pool back, and its users do not notice.
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <functional>
#include <thread>

#include "tier/evict_fixture.h"

namespace cairn::test {
namespace {

TEST_F(EvictTest, AFileLooksAsBefore) {
  start();
  make_drained("file", bytes_);
  const cairn_stat before = covered->stat("file");
  expect_evicted("file");
  const cairn_stat after = covered->stat("file");
  EXPECT_EQ(after.size, before.size);
  EXPECT_EQ(after.mtime_ns, before.mtime_ns);
  EXPECT_EQ(after.ctime_ns, before.ctime_ns);
  EXPECT_EQ(after.ino, before.ino);
  struct stat lower = {};
  ASSERT_EQ(::stat((lower_ + "/file").c_str(), &lower), 0);
  EXPECT_EQ(after.blocks, static_cast<uint64_t>(lower.st_blocks));
  EXPECT_EQ(covered->read("file"), bytes_);
  EXPECT_TRUE(is_lazy("file")) << "reading staged it";
  EXPECT_EQ(evict("file"), 0) << "it is lazy already";
}

TEST_F(EvictTest, ADrainHasNothingToDo) {
  start();
  make_drained("file", bytes_);
  expect_evicted("file");
  const Drained again = covered->drain();
  EXPECT_EQ(again.code, 0);
  EXPECT_EQ(again.report.files + again.report.removed + again.report.directories, 0U);
  EXPECT_EQ(get(lower_ + "/file"), bytes_);
}

TEST_F(EvictTest, AWriteStagesItAndIsDrained) {
  start();
  make_drained("file", bytes_);
  expect_evicted("file");
  ASSERT_EQ(covered->write("file", "NEW", mib), 0) << cairn_last_error();
  EXPECT_FALSE(is_lazy("file"));
  std::string expected = bytes_;
  expected.replace(mib, 3, "NEW");
  EXPECT_EQ(covered->read("file"), expected);
  expect_kept("file", EBUSY);
  const Drained drained = covered->drain();
  EXPECT_EQ(drained.report.files, 1U);
  EXPECT_EQ(get(lower_ + "/file"), expected);
  // What was read through a descriptor before the drain put another file there must not come back.
  EXPECT_EQ(covered->read("file"), expected);
  expect_evicted("file");
  EXPECT_EQ(covered->read("file"), expected);
}

// A process keeps descriptors of files that it has read in lower.
TEST_F(EvictTest, WhatWasReadBeforeADrainIsNotReadAgain) {
  put(lower_ + "/file", "old bytes");
  start();
  EXPECT_EQ(covered->read("file"), "old bytes");
  ASSERT_EQ(covered->write("file", "new", 0), 0);
  ASSERT_EQ(covered->drain().code, 0);
  expect_evicted("file");
  EXPECT_EQ(covered->read("file"), "new bytes");
}

TEST_F(EvictTest, WhatWasStagedAndNotChangedMayGo) {
  put(lower_ + "/file", bytes_);
  start();
  const cairn_stat st = covered->stat("file");
  const uint64_t before = used();
  ASSERT_EQ(cairn_stage(covered->pool, st.ino, st.generation), 0) << cairn_last_error();
  EXPECT_FALSE(is_lazy("file"));
  EXPECT_GE(used(), before + bytes_.size());
  expect_evicted("file");
  EXPECT_EQ(used(), before);
  EXPECT_EQ(covered->read("file"), bytes_);
}

TEST_F(EvictTest, OpenFilesGoOn) {
  start();
  make_drained("file", bytes_);
  cairn_file* file = open("file", O_RDWR);
  std::string part(5000, '\0');
  ASSERT_EQ(cairn_pread(file, part.data(), part.size(), 100), 5000);  // remembers where it lies
  expect_evicted("file");
  ASSERT_EQ(cairn_pread(file, part.data(), part.size(), 200), 5000);
  EXPECT_EQ(part, bytes_.substr(200, 5000));
  ASSERT_EQ(cairn_pwrite(file, "NEW", 3, 300), 3);
  EXPECT_FALSE(is_lazy("file"));
  std::string expected = bytes_;
  expected.replace(300, 3, "NEW");
  cairn_close(file);
  EXPECT_EQ(covered->read("file"), expected);
  expect_drained(*covered);
  EXPECT_EQ(get(lower_ + "/file"), expected);
}

TEST_F(EvictTest, EveryChangeBeginsWithItsBytes) {
  start();
  const std::string bytes = pattern(50'000, 7);
  struct Change {
    const char* name;
    void (*change)(EvictTest& test, cairn_file* file);
    std::string after;
  };
  std::string punched = bytes;
  punched.replace(4096, 8192, std::string(8192, '\0'));
  std::string zeroed = bytes;
  zeroed.replace(5000, 10'000, std::string(10'000, '\0'));
  const Change changes[] = {
      {"shorter", [](EvictTest&, cairn_file* f) { EXPECT_EQ(cairn_ftruncate(f, 20'001), 0); },
       bytes.substr(0, 20'001)},
      {"empty", [](EvictTest&, cairn_file* f) { EXPECT_EQ(cairn_ftruncate(f, 0), 0); }, ""},
      {"longer", [](EvictTest&, cairn_file* f) { EXPECT_EQ(cairn_ftruncate(f, 50'002), 0); },
       bytes + std::string(2, '\0')},
      {"punched",
       [](EvictTest&, cairn_file* f) {
         EXPECT_EQ(cairn_fallocate(f, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096, 8192), 0);
       },
       punched},
      {"zeroed",
       [](EvictTest&, cairn_file* f) {
         EXPECT_EQ(cairn_fallocate(f, FALLOC_FL_ZERO_RANGE, 5000, 10'000), 0);
       },
       zeroed},
      {"allocated",
       [](EvictTest&, cairn_file* f) { EXPECT_EQ(cairn_fallocate(f, 0, 0, 60'000), 0); },
       bytes + std::string(10'000, '\0')},
      {"appended",
       [](EvictTest&, cairn_file* f) {
         iovec vector = {const_cast<char*>("END"), 3};
         EXPECT_EQ(cairn_appendv(f, &vector, 1), 3);
       },
       bytes + "END"},
      {"mapped",
       [](EvictTest& test, cairn_file* f) {
         void* at = nullptr;
         ASSERT_EQ(cairn_mmap(f, nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, 4096, &at), 0);
         std::memset(static_cast<char*>(at) + 4096, 0, 4096);
         std::memset(at, 0, 4096);
         EXPECT_EQ(cairn_munmap(test.covered->pool, at, 8192), 0);
       },
       punched},
  };
  for (const Change& change : changes) {
    ASSERT_EQ(covered->create(change.name, bytes), 0);
  }
  ASSERT_EQ(covered->drain().code, 0);
  for (const Change& change : changes) {
    SCOPED_TRACE(change.name);
    expect_evicted(change.name);
    cairn_file* file = open(change.name, O_RDWR);
    change.change(*this, file);
    cairn_close(file);
    EXPECT_EQ(covered->read(change.name), change.after);
    EXPECT_FALSE(is_lazy(change.name));
  }
  expect_drained(*covered);
  for (const Change& change : changes) EXPECT_EQ(get(lower_ + "/" + change.name), change.after);
}

TEST_F(EvictTest, HolesAreLowersUntilItIsStaged) {
  start();
  ASSERT_EQ(covered->create("file", "begin"), 0);
  ASSERT_EQ(covered->write("file", "end", mib), 0);
  ASSERT_EQ(covered->drain().code, 0);
  cairn_file* file = open("file", O_RDONLY);
  const auto look = [&] {
    std::vector<int64_t> all;
    for (const int whence : {SEEK_DATA, SEEK_HOLE})
      for (const int64_t at : {0L, 8192L}) all.push_back(cairn_seek(file, at, whence));
    return all;
  };
  const auto here = look();
  expect_evicted("file");
  EXPECT_EQ(look(), here);
  cairn_close(file);
}

// --- in the midst of a call ---

// A page of a program's buffer whose first touch is an event: another thread does something then,
// and the call that copies goes on afterwards.
class Trap {
 public:
  Trap(size_t size, size_t page, std::function<void()> event)
      : size_(size), event_(std::move(event)) {
    bytes = static_cast<char*>(
        mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    page_ = bytes + page * 4096;
    trap_ = this;
    struct sigaction action = {};
    action.sa_handler = [](int) { trap_->spring(); };
    sigaction(SIGSEGV, &action, &before_);
    thread_ = std::thread([this] {
      while (!sprung_) std::this_thread::yield();
      if (!abandoned_) event_();
      over_ = true;
    });
  }
  ~Trap() {
    abandoned_ = !sprung_;
    sprung_ = true;
    thread_.join();
    sigaction(SIGSEGV, &before_, nullptr);
    munmap(bytes, size_);
  }
  void set() { mprotect(page_, 4096, PROT_NONE); }
  [[nodiscard]] bool was_sprung() const { return over_; }

  char* bytes = nullptr;

 private:
  void spring() {
    if (sprung_) _exit(3);  // another fault than this one
    sprung_ = true;
    while (!over_) usleep(100);
    mprotect(page_, 4096, PROT_READ | PROT_WRITE);
  }
  static inline Trap* trap_ = nullptr;
  size_t size_;
  char* page_ = nullptr;
  std::function<void()> event_;
  std::atomic<bool> sprung_{false};
  std::atomic<bool> abandoned_{false};
  std::atomic<bool> over_{false};
  struct sigaction before_ = {};
  std::thread thread_;
};

// It copies from one block, and comes to the next one when that has gone.
TEST_F(EvictTest, AReadGoesOnInLower) {
  start_touched();
  const std::string bytes = pattern(100'000, 3);
  make_drained("file", bytes);
  const cairn_stat st = covered->stat("file");
  for (const bool stages : {false, true}) {
    cairn_file* file = open("file", O_RDONLY);
    ASSERT_EQ(cairn_stage(covered->pool, st.ino, 0), 0);
    int result = 1;
    Trap trap(bytes.size(), 1, [&] {
      result = cairn_evict(covered->pool, st.ino, 0, nullptr);
      if (stages) cairn_stage(covered->pool, st.ino, 0);
    });
    trap.set();
    EXPECT_EQ(cairn_pread(file, trap.bytes, bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    EXPECT_TRUE(trap.was_sprung());
    EXPECT_EQ(result, 0);
    EXPECT_TRUE(std::string(trap.bytes, bytes.size()) == bytes);
    cairn_close(file);
  }
}

// A writer is waited for, but not for long.
TEST_F(EvictTest, NotWhatIsBeingWritten) {
  start_touched();
  const std::string bytes = pattern(100'000, 3);
  make_drained("file", bytes);
  const cairn_stat st = covered->stat("file");
  cairn_file* file = open("file", O_RDWR);
  int result = 1;
  Trap trap(bytes.size(), 1, [&] { result = cairn_evict(covered->pool, st.ino, 0, nullptr); });
  std::memset(trap.bytes, 'w', bytes.size());
  trap.set();
  EXPECT_EQ(cairn_pwrite(file, trap.bytes, bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  EXPECT_TRUE(trap.was_sprung());
  EXPECT_EQ(result, -EBUSY);
  cairn_close(file);
  EXPECT_TRUE(covered->read("file") == std::string(bytes.size(), 'w'));
  expect_drained(*covered);
}

// A long write stops between two pieces while the structure changes. What is in place by then must
// not pass for what was drained.
TEST_F(EvictTest, NotWhatWasWrittenInPart) {
  start_touched();
  const std::string bytes = pattern(6 * mib, 3);
  make_drained("file", bytes);
  const cairn_stat st = covered->stat("file");
  cairn_file* file = open("file", O_RDWR);
  std::thread evictor;
  std::atomic<bool> begins{false};
  int result = 1;
  // It waits for the writer, which stops at the end of the first 4 MiB.
  Trap trap(bytes.size(), 1000, [&] {
    evictor = std::thread([&] {
      begins = true;
      for (result = -EBUSY; result == -EBUSY && covered->stat("file").mtime_ns == st.mtime_ns;)
        result = cairn_evict(covered->pool, st.ino, 0, nullptr);
    });
    while (!begins) usleep(100);
    usleep(3000);
  });
  std::memset(trap.bytes, 'w', bytes.size());
  trap.set();
  EXPECT_EQ(cairn_pwrite(file, trap.bytes, bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  EXPECT_TRUE(trap.was_sprung());
  evictor.join();
  EXPECT_EQ(result, -EBUSY);
  cairn_close(file);
  EXPECT_TRUE(covered->read("file") == std::string(bytes.size(), 'w'));
  expect_drained(*covered);
}

// --- what keeps a file ---

TEST_F(EvictTest, NotWhatIsNotDrained) {
  start();
  ASSERT_EQ(covered->create("file", bytes_), 0);
  expect_kept("file", EBUSY);
}

TEST_F(EvictTest, NotWhatWasChangedSince) {
  start();
  make_drained("file", bytes_);
  ASSERT_EQ(covered->write("file", "NEW", 10), 0);
  expect_kept("file", EBUSY);
  make_drained("mode", bytes_);
  ASSERT_EQ(cairn_chmod(covered->pool, covered->stat("mode").ino, 0, 0600), 0);
  expect_kept("mode", EBUSY);
}

TEST_F(EvictTest, NotWhatIsOpenAndWasWrittenTo) {
  start();
  make_drained("file", bytes_);
  cairn_file* file = open("file", O_RDWR);
  ASSERT_EQ(cairn_pwrite(file, "NEW", 3, 300), 3);
  expect_kept("file", EBUSY);
  cairn_close(file);
}

TEST_F(EvictTest, NotWhatIsMapped) {
  start();
  make_drained("file", bytes_);
  for (const int type : {MAP_SHARED, MAP_PRIVATE}) {
    cairn_file* file = open("file", O_RDONLY);
    void* at = nullptr;
    ASSERT_EQ(cairn_mmap(file, nullptr, 8192, PROT_READ, type, 0, &at), 0) << cairn_last_error();
    cairn_close(file);
    expect_kept("file", EBUSY);
    EXPECT_EQ(std::memcmp(at, bytes_.data(), 8192), 0);
    ASSERT_EQ(cairn_munmap(covered->pool, at, 8192), 0);
  }
  expect_evicted("file");
}

TEST_F(EvictTest, NotWhatIsViewed) {
  start();
  make_drained("file", bytes_);
  cairn_file* file = open("file", O_RDONLY);
  cairn_view view = {};
  ASSERT_EQ(cairn_view_open(file, 0, 4096, &view), 0) << cairn_last_error();
  expect_kept("file", EBUSY);
  cairn_view_close(file, &view);
  expect_evicted("file");
  // It is staged for a view.
  ASSERT_EQ(cairn_view_open(file, 0, 4096, &view), 0) << cairn_last_error();
  EXPECT_EQ(std::memcmp(view.data, bytes_.data(), view.size), 0);
  EXPECT_FALSE(is_lazy("file"));
  cairn_view_close(file, &view);
  cairn_close(file);
}

// Stores through a mapping move no time on: a drain while there is one does not count.
TEST_F(EvictTest, NotWhatWasMappedWhenItWasDrained) {
  start();
  make_drained("file", bytes_);
  cairn_file* file = open("file", O_RDWR);
  void* at = nullptr;
  ASSERT_EQ(cairn_mmap(file, nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, 0, &at), 0);
  cairn_close(file);
  ASSERT_EQ(covered->drain().code, 0);
  std::memcpy(at, "NEW", 3);
  ASSERT_EQ(cairn_munmap(covered->pool, at, 8192), 0);
  expect_kept("file", EBUSY);
  std::string expected = bytes_;
  expected.replace(0, 3, "NEW");
  ASSERT_EQ(covered->drain().code, 0);
  EXPECT_EQ(get(lower_ + "/file"), expected);
  expect_evicted("file");
  EXPECT_EQ(covered->read("file"), expected);
}

TEST_F(EvictTest, NotWhatHasTwoNames) {
  start();
  make_drained("file", bytes_);
  ASSERT_EQ(cairn_link(covered->pool, covered->top, "file", covered->top, "other", 0), 0);
  ASSERT_EQ(covered->drain().code, 0);
  expect_kept("file", EBUSY);
  expect_kept("other", EBUSY);
}

TEST_F(EvictTest, NotWhatLowerHasNotAnyMore) {
  start();
  for (const char* name : {"changed", "replaced", "removed", "touched", "directory"})
    ASSERT_EQ(covered->create(name, bytes_), 0);
  ASSERT_EQ(covered->drain().code, 0);
  put(lower_ + "/changed", std::string(bytes_.size(), 'x'));
  put(lower_ + "/aside", bytes_);
  fs::last_write_time(lower_ + "/aside", fs::last_write_time(lower_ + "/replaced"));
  fs::rename(lower_ + "/aside", lower_ + "/replaced");
  fs::remove(lower_ + "/removed");
  fs::last_write_time(lower_ + "/touched", fs::file_time_type::clock::now());
  fs::remove(lower_ + "/directory");
  fs::create_directory(lower_ + "/directory");
  for (const char* name : {"changed", "replaced", "removed", "touched", "directory"}) {
    SCOPED_TRACE(name);
    expect_kept(name, ESTALE);
  }
}

TEST_F(EvictTest, NotWhatHasMoved) {
  start();
  ASSERT_EQ(cairn_mkdir(covered->pool, covered->top, "dir", 0755), 0);
  ASSERT_EQ(covered->create("file", bytes_), 0);
  ASSERT_EQ(covered->create("dir/file", bytes_), 0);
  ASSERT_EQ(covered->drain().code, 0);
  ASSERT_EQ(cairn_rename(covered->pool, covered->top, "dir", covered->top, "moved", 0), 0);
  ASSERT_EQ(cairn_rename(covered->pool, covered->top, "file", covered->top, "other", 0), 0);
  expect_kept("moved/file", EBUSY);
  expect_kept("other", EBUSY);
  // Something else may have the place.
  fs::rename(lower_ + "/dir", lower_ + "/moved");
  expect_kept("moved/file", EBUSY);
  fs::rename(lower_ + "/moved", lower_ + "/dir");
  ASSERT_EQ(covered->drain().code, 0);
  expect_evicted("moved/file");
  expect_evicted("other");
  EXPECT_EQ(covered->read("moved/file"), bytes_);
}

// Root reads everything by two capabilities. Without them it is an owner like any other.
class WithoutRootsAccess {
 public:
  WithoutRootsAccess() {
    if (geteuid() != 0) return;
    EXPECT_EQ(syscall(SYS_capget, &header_, before_), 0);
    __user_cap_data_struct now[2] = {before_[0], before_[1]};
    now[0].effective &= ~((1U << CAP_DAC_OVERRIDE) | (1U << CAP_DAC_READ_SEARCH));
    EXPECT_EQ(syscall(SYS_capset, &header_, now), 0);
  }
  ~WithoutRootsAccess() {
    if (geteuid() == 0) {
      EXPECT_EQ(syscall(SYS_capset, &header_, before_), 0);
    }
  }
  WithoutRootsAccess(const WithoutRootsAccess&) = delete;
  WithoutRootsAccess& operator=(const WithoutRootsAccess&) = delete;

 private:
  __user_cap_header_struct header_ = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct before_[2] = {};
};

TEST_F(EvictTest, NotWhatItsUserCannotRead) {
  start();
  ASSERT_EQ(covered->create("file", bytes_), 0);
  ASSERT_EQ(cairn_chmod(covered->pool, covered->stat("file").ino, 0, 0200), 0);
  ASSERT_EQ(covered->drain().code, 0);
  const WithoutRootsAccess as_owner;
  EXPECT_EQ(evict("file"), -EACCES);
  EXPECT_FALSE(is_lazy("file"));
}

TEST_F(EvictTest, OnlyFilesOfCovers) {
  start();
  cairn_file* file = nullptr;
  ASSERT_EQ(cairn_open(covered->pool, CAIRN_ROOT, "own", O_RDWR | O_CREAT, 0644, &file), 0);
  ASSERT_EQ(cairn_pwrite(file, "own", 3, 0), 3);
  cairn_stat st = {};
  ASSERT_EQ(cairn_fstat(file, &st), 0);
  cairn_close(file);
  EXPECT_EQ(cairn_evict(covered->pool, st.ino, 0, nullptr), -EBUSY);
  EXPECT_EQ(cairn_evict(covered->pool, st.ino, st.generation + 1, nullptr), -ESTALE);
  EXPECT_EQ(cairn_evict(covered->pool, covered->top, 0, nullptr), -EINVAL);
  EXPECT_EQ(cairn_stage(covered->pool, covered->top, 0), -EINVAL);
}

// --- names ---

TEST_F(EvictTest, WhoHasItOpenReadsOnWhenItsNameGoes) {
  start();
  for (const char* name : {"unlinked", "replaced", "new"})
    ASSERT_EQ(covered->create(name, bytes_), 0);
  ASSERT_EQ(covered->drain().code, 0);
  cairn_file* unlinked = open("unlinked", O_RDONLY);
  cairn_file* replaced = open("replaced", O_RDONLY);
  expect_evicted("unlinked");
  expect_evicted("replaced");
  ASSERT_EQ(cairn_unlink(covered->pool, covered->top, "unlinked"), 0);
  ASSERT_EQ(cairn_rename(covered->pool, covered->top, "new", covered->top, "replaced", 0), 0);
  std::string found(bytes_.size(), '\0');
  for (cairn_file* file : {unlinked, replaced}) {
    ASSERT_EQ(cairn_pread(file, found.data(), found.size(), 0), static_cast<ssize_t>(found.size()));
    EXPECT_EQ(found, bytes_);
    cairn_close(file);
  }
  expect_drained(*covered);
}

TEST_F(EvictTest, WhatMovesIsStagedWhole) {
  start();
  ASSERT_EQ(cairn_mkdir(covered->pool, covered->top, "dir", 0755), 0);
  ASSERT_EQ(cairn_mkdir(covered->pool, covered->top, "dir/deep", 0755), 0);
  for (const char* name : {"file", "linked", "a", "b", "dir/deep/file"})
    ASSERT_EQ(covered->create(name, std::string(name) + bytes_), 0);
  ASSERT_EQ(covered->drain().code, 0);
  for (const char* name : {"file", "linked", "a", "b", "dir/deep/file"}) expect_evicted(name);
  const auto move = [&](const char* from, const char* to, unsigned flags = 0) {
    ASSERT_EQ(cairn_rename(covered->pool, covered->top, from, covered->top, to, flags), 0)
        << cairn_last_error();
  };
  move("file", "moved");
  move("dir", "other");
  move("a", "b", RENAME_EXCHANGE);
  ASSERT_EQ(cairn_link(covered->pool, covered->top, "linked", covered->top, "link", 0), 0);
  EXPECT_EQ(covered->read("moved"), "file" + bytes_);
  EXPECT_EQ(covered->read("other/deep/file"), "dir/deep/file" + bytes_);
  EXPECT_EQ(covered->read("a"), "b" + bytes_);
  EXPECT_EQ(covered->read("b"), "a" + bytes_);
  EXPECT_EQ(covered->read("link"), "linked" + bytes_);
  expect_drained(*covered);
}

// --- a full pool ---

class FullPool : public EvictTest {
 protected:
  static constexpr uint64_t file_size = 2 * mib;
  static constexpr uint64_t pool_size = 24 * mib;
  static std::string name_of(int i) { return "file-" + std::to_string(i); }
  int create(int i) { return covered->create(name_of(i), pattern(file_size, i)); }
  int count_lazy(int files) {
    int lazy = 0;
    for (int i = 0; i < files; ++i) lazy += is_lazy(name_of(i)) ? 1 : 0;
    return lazy;
  }
};

TEST_F(FullPool, DrainedFilesMakeRoom) {
  start(pool_size);
  constexpr int files = 40;
  for (int i = 0; i < files; ++i) {
    ASSERT_EQ(create(i), 0) << i << ": " << cairn_last_error();
    if (i % 4 == 3) {
      ASSERT_EQ(covered->drain().code, 0) << cairn_last_error();
    }
  }
  EXPECT_GE(count_lazy(files), 28);
  EXPECT_FALSE(is_lazy(name_of(files - 1))) << "the youngest went first";
  for (int i = 0; i < files; ++i) EXPECT_EQ(covered->read(name_of(i)), pattern(file_size, i)) << i;
  expect_drained(*covered);
}

TEST_F(FullPool, OnlyWhatIsDrainedGoes) {
  start(pool_size);
  int made = 0;
  while (create(made) == 0 && made < 100) ++made;
  ASSERT_GT(made, 5);
  ASSERT_LT(made, 12);
  EXPECT_EQ(create(made), -ENOSPC) << "where nothing can go";
  EXPECT_EQ(count_lazy(made), 0);
  ASSERT_EQ(covered->drain().code, 0) << cairn_last_error();
  EXPECT_EQ(count_lazy(made + 1), 0) << "a drain evicts nothing";
  EXPECT_EQ(create(made), 0) << cairn_last_error();
  EXPECT_GT(count_lazy(made), 0);
  for (int i = 0; i <= made; ++i) EXPECT_EQ(covered->read(name_of(i)), pattern(file_size, i)) << i;
}

// The next run of a job, or one in another directory, could not begin.
TEST_F(FullPool, DrainedFilesMakeRoomForACover) {
  start(pool_size);
  for (int i = 0; create(i) == 0;) ++i;
  for (int i = 0; covered->create("small-" + std::to_string(i), "x") == 0;) ++i;
  const std::string elsewhere = lower_ + "-elsewhere";
  fs::create_directory(elsewhere);
  cairn_cover_options of_next_job = {};
  of_next_job.struct_size = sizeof of_next_job;
  of_next_job.job = "next";
  for (const std::string& directory : {lower_, elsewhere}) {
    cairn_cover* cover = nullptr;
    EXPECT_EQ(cairn_cover_open(covered->pool, directory.c_str(), &of_next_job, &cover), -ENOSPC);
  }
  ASSERT_EQ(covered->drain().code, 0) << cairn_last_error();
  for (const std::string& directory : {lower_, elsewhere}) {
    cairn_cover* cover = nullptr;
    EXPECT_EQ(cairn_cover_open(covered->pool, directory.c_str(), &of_next_job, &cover), 0)
        << cairn_last_error();
    cairn_cover_close(cover);
  }
}

TEST_F(FullPool, OneWriteMayNeedTheRoomOfMany) {
  start(pool_size);
  for (int i = 0; i < 7; ++i) ASSERT_EQ(create(i), 0) << cairn_last_error();
  ASSERT_EQ(covered->drain().code, 0);
  const std::string large = pattern(16 * mib, 99);
  ASSERT_EQ(covered->create("large", large), 0) << cairn_last_error();
  EXPECT_GE(count_lazy(7), 5);
  EXPECT_EQ(covered->read("large"), large);
  for (int i = 0; i < 7; ++i) EXPECT_EQ(covered->read(name_of(i)), pattern(file_size, i)) << i;
}

TEST_F(FullPool, StagingAppendingAndAllocatingMakeRoom) {
  put(lower_ + "/imported", pattern(8 * mib, 50));
  start(pool_size);
  for (int i = 0; i < 8; ++i) ASSERT_EQ(create(i), 0) << cairn_last_error();
  ASSERT_EQ(covered->drain().code, 0);
  ASSERT_EQ(covered->write("imported", "X", 0), 0) << cairn_last_error();
  EXPECT_FALSE(is_lazy("imported"));
  const int lazy = count_lazy(8);
  EXPECT_GE(lazy, 2);
  cairn_file* file = open("log", O_RDWR | O_CREAT);
  const std::string line = pattern(6 * mib, 60);
  iovec vector = {const_cast<char*>(line.data()), line.size()};
  ASSERT_EQ(cairn_appendv(file, &vector, 1), static_cast<ssize_t>(line.size()));
  EXPECT_GT(count_lazy(8), lazy);
  ASSERT_EQ(cairn_ftruncate(file, 0), 0);
  cairn_close(file);
  ASSERT_EQ(covered->drain().code, 0);
  file = open("space", O_RDWR | O_CREAT);
  ASSERT_EQ(cairn_fallocate(file, 0, 0, 14 * mib), 0) << cairn_last_error();
  cairn_close(file);
  std::string imported = pattern(8 * mib, 50);
  imported[0] = 'X';
  EXPECT_EQ(covered->read("imported"), imported);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(covered->read(name_of(i)), pattern(file_size, i)) << i;
  expect_drained(*covered);
}

// A tree is staged before it moves, in a pool that holds no more than that: what was staged first
// must not be evicted for what comes last.
TEST_F(FullPool, ATreeThatDoesNotFitDoesNotMove) {
  start(pool_size);
  ASSERT_EQ(cairn_mkdir(covered->pool, covered->top, "dir", 0755), 0);
  for (int i = 0; i < 16; ++i) {
    ASSERT_EQ(covered->create("dir/" + name_of(i), pattern(file_size, i)), 0) << cairn_last_error();
    ASSERT_EQ(covered->drain().code, 0);
  }
  EXPECT_EQ(cairn_rename(covered->pool, covered->top, "dir", covered->top, "moved", 0), -ENOSPC);
  for (int i = 0; i < 16; ++i)
    EXPECT_EQ(covered->read("dir/" + name_of(i)), pattern(file_size, i)) << i;
  for (int i = 0; i < 10; ++i)
    ASSERT_EQ(cairn_unlink(covered->pool, covered->top, ("dir/" + name_of(i)).c_str()), 0);
  EXPECT_EQ(cairn_rename(covered->pool, covered->top, "dir", covered->top, "moved", 0), 0)
      << cairn_last_error();
  for (int i = 10; i < 16; ++i)
    EXPECT_EQ(covered->read("moved/" + name_of(i)), pattern(file_size, i)) << i;
  expect_drained(*covered);
}

}  // namespace
}  // namespace cairn::test
