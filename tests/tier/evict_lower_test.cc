// What lower does to evicted files: files that are gone, replaced, unreadable, or that a failing
// disk takes back. A call either has the file's bytes or an error that names the file and the
// cause.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>

#include "base/crc32c.h"
#include "format/layout.h"
#include "tier/evict_fixture.h"
#include "tier/lower_calls.h"

namespace cairn::test {
namespace {

class EvictedInLower : public EvictTest {
 protected:
  ~EvictedInLower() override { set_lower_hook(nullptr); }

  [[nodiscard]] std::string path(const std::string& name) const { return lower_ + "/" + name; }

  void set_mode(const std::string& name, uint32_t mode) {
    const cairn_stat st = covered->stat(name);
    ASSERT_EQ(cairn_chmod(covered->pool, st.ino, st.generation, mode), 0) << cairn_last_error();
  }
  // A pool that an earlier version has created.
  void make_pool_with(uint64_t features) {
    make_pool(64 * mib);
    std::fstream segment(pool_ + "/segment.0", std::ios::in | std::ios::out | std::ios::binary);
    for (int copy = 0; copy < 2; ++copy) {
      format::Superblock block;
      segment.seekg(copy * 4096);
      segment.read(reinterpret_cast<char*>(&block), sizeof block);
      EXPECT_EQ(block.features_incompatible.load(),
                format::feature_evictions | format::feature_witness);
      std::memcpy(static_cast<void*>(&block.features_incompatible), &features, sizeof features);
      const uint64_t sum = crc32c(0, &block, sizeof block - 8);
      std::memcpy(static_cast<void*>(&block.checksum), &sum, 8);
      segment.seekp(copy * 4096);
      segment.write(reinterpret_cast<const char*>(&block), sizeof block);
    }
  }

  // Whatever asks for the file's bytes fails, and says why; what does not need them goes on.
  void expect_unreadable(const std::string& name, int error, const std::string& cause) {
    SCOPED_TRACE(name);
    const auto told = [&](const char* what) {
      const std::string text = cairn_last_error();
      EXPECT_NE(text.find("/" + name), std::string::npos) << what << ": " << text;
      EXPECT_NE(text.find(cause), std::string::npos) << what << ": " << text;
    };
    const cairn_stat before = covered->stat(name);
    cairn_file* file = open(name, O_RDWR);
    ASSERT_NE(file, nullptr);
    std::string found(5000, 'z');
    EXPECT_EQ(cairn_pread(file, found.data(), found.size(), 1000), -error);
    told("read");
    EXPECT_EQ(found, std::string(5000, 'z')) << "bytes that nobody wrote";
    EXPECT_EQ(cairn_pwrite(file, "NEW", 3, 1000), -error);
    told("write");
    iovec vector = {const_cast<char*>("END"), 3};
    EXPECT_EQ(cairn_appendv(file, &vector, 1), -error);
    told("append");
    void* at = nullptr;
    EXPECT_EQ(cairn_mmap(file, nullptr, 4096, PROT_READ, MAP_SHARED, 0, &at), -error);
    told("mmap");
    cairn_view view = {};
    EXPECT_EQ(cairn_view_open(file, 0, 4096, &view), -error);
    told("view");
    EXPECT_EQ(cairn_ftruncate(file, 1000), -error);
    told("truncate");
    EXPECT_EQ(cairn_fallocate(file, 0, 0, 4096), -error);
    told("fallocate");
    EXPECT_EQ(cairn_fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), -error);
    told("punch");
    EXPECT_EQ(cairn_rename(covered->pool, covered->top, name.c_str(), covered->top, "moved", 0),
              -error);
    told("rename");
    EXPECT_EQ(cairn_link(covered->pool, covered->top, name.c_str(), covered->top, "linked", 0),
              -error);
    told("link");
    EXPECT_EQ(cairn_stage(covered->pool, before.ino, before.generation), -error);
    told("stage");
    cairn_close(file);
    const cairn_stat after = covered->stat(name);
    EXPECT_EQ(after.size, before.size);
    EXPECT_EQ(after.mtime_ns, before.mtime_ns);
    EXPECT_EQ(after.ctime_ns, before.ctime_ns);
    EXPECT_TRUE(is_lazy(name));
  }
};

TEST_F(EvictedInLower, AFileThatIsGoneIsToldUntilItIsBack) {
  start();
  make_drained("file", bytes_);
  expect_evicted("file");
  fs::rename(path("file"), path("away"));
  expect_unreadable("file", ESTALE, "removed or moved away since the pool evicted it");
  fs::rename(path("away"), path("file"));
  EXPECT_EQ(covered->read("file"), bytes_);
  ASSERT_EQ(covered->write("file", "NEW"), 0) << cairn_last_error();
  EXPECT_EQ(covered->read("file"), "NEW" + bytes_.substr(3));
}

TEST_F(EvictedInLower, AnotherFileInItsPlaceIsTold) {
  start();
  for (const char* name : {"replaced", "changed", "shorter", "directory", "link"})
    ASSERT_EQ(covered->create(name, bytes_), 0);
  ASSERT_EQ(covered->drain().code, 0);
  for (const char* name : {"replaced", "changed", "shorter", "directory", "link"})
    expect_evicted(name);
  put(path("aside"), bytes_);
  fs::last_write_time(path("aside"), fs::last_write_time(path("replaced")));
  fs::rename(path("aside"), path("replaced"));
  put(path("changed"), std::string(bytes_.size(), 'x'));
  fs::resize_file(path("shorter"), 100);
  fs::remove(path("directory"));
  fs::create_directory(path("directory"));
  fs::rename(path("link"), disk_.path("elsewhere"));
  fs::create_symlink(disk_.path("elsewhere"), path("link"));
  for (const char* name : {"replaced", "changed", "shorter", "directory", "link"})
    expect_unreadable(name, ESTALE, "changed or replaced since the pool evicted it");
}

TEST_F(EvictedInLower, AnUnreadableFileIsTold) {
  start();
  make_drained("file", bytes_);
  expect_evicted("file");
  set_lower_hook([](const LowerCall& call) {
    return call.number == SYS_openat2 &&
                   std::strcmp(reinterpret_cast<const char*>(call.arguments[1]), "file") == 0
               ? EACCES
               : 0;
  });
  expect_unreadable("file", EACCES, "open");
  set_lower_hook([](const LowerCall& call) {
    return call.number == SYS_pread64 && names(call.arguments[0], "/file") ? EIO : 0;
  });
  expect_unreadable("file", EIO, "read");
  set_lower_hook(nullptr);
  EXPECT_EQ(covered->read("file"), bytes_);
}

// Half of it has been copied by then.
TEST_F(EvictedInLower, AFileThatShrinksWhileItIsStagedIsTold) {
  start();
  make_drained("file", bytes_);
  expect_evicted("file");
  const cairn_stat st = covered->stat("file");
  const uint64_t before = used();
  int reads = 0;
  set_lower_hook([&](const LowerCall& call) {
    if (call.number == SYS_pread64 && names(call.arguments[0], "/file") && ++reads == 2)
      fs::resize_file(path("file"), 100);
    return 0;
  });
  EXPECT_EQ(cairn_stage(covered->pool, st.ino, st.generation), -ESTALE);
  set_lower_hook(nullptr);
  EXPECT_EQ(used(), before) << "what was copied has not gone";
  EXPECT_EQ(covered->stat("file").size, bytes_.size());
  expect_unreadable("file", ESTALE, "changed or replaced since the pool evicted it");
}

// Without its bytes, a file can still be emptied and removed.
TEST_F(EvictedInLower, WhatNeedsNoBytesGoesOn) {
  start();
  for (const char* name : {"emptied", "removed"}) ASSERT_EQ(covered->create(name, bytes_), 0);
  ASSERT_EQ(covered->drain().code, 0);
  for (const char* name : {"emptied", "removed"}) {
    ASSERT_EQ(evict(name), 0) << cairn_last_error();
    fs::remove(path(name));
  }
  cairn_file* file = open("emptied", O_RDWR);
  ASSERT_EQ(cairn_ftruncate(file, 0), 0) << cairn_last_error();
  ASSERT_EQ(cairn_pwrite(file, "new", 3, 0), 3);
  cairn_close(file);
  ASSERT_EQ(cairn_unlink(covered->pool, covered->top, "removed"), 0) << cairn_last_error();
  EXPECT_EQ(covered->read("emptied"), "new");
  const Drained drained = covered->drain();
  EXPECT_EQ(drained.code, 0) << testing::PrintToString(drained.problems);
  EXPECT_EQ(get(path("emptied")), "new");
}

// The marks of a volatile pool come before its directory is synced. If that fails, lower may lose
// the file, so the pool has it again, and the next drain writes it.
TEST_F(EvictedInLower, AFailedSyncOfTheDirectoryBringsItBack) {
  start();
  ASSERT_EQ(covered->create("file", bytes_), 0);
  const cairn_stat st = covered->stat("file");
  int evicted = 1;
  set_lower_hook([&](const LowerCall& call) {
    if (call.number != SYS_fsync || !is_directory(call.arguments[0])) return 0;
    const int result = cairn_evict(covered->pool, st.ino, st.generation, nullptr);
    if (evicted != 0) evicted = result;
    return EIO;
  });
  const Drained drained = covered->drain();
  set_lower_hook(nullptr);
  EXPECT_EQ(drained.code, -EIO);
  ASSERT_EQ(evicted, 0) << "it was not marked by then: " << cairn_last_error();
  EXPECT_FALSE(is_lazy("file"));
  expect_kept("file", EBUSY);
  EXPECT_EQ(covered->read("file"), bytes_);
  // What the disk has lost.
  fs::remove(path("file"));
  const Drained again = covered->drain();
  EXPECT_EQ(again.code, 0) << testing::PrintToString(again.problems);
  EXPECT_EQ(get(path("file")), bytes_);
}

// --- names of evicted files in a full pool ---

class EvictedInAFullPool : public EvictedInLower {
 protected:
  // "file" is evicted, and files that are not drained leave no room for it.
  void fill_up() {
    start(24 * mib);
    for (const char* name : {"file", "other"}) ASSERT_EQ(covered->create(name, bytes_), 0);
    ASSERT_EQ(covered->drain().code, 0);
    for (const char* name : {"file", "other"}) ASSERT_EQ(evict(name), 0) << cairn_last_error();
    int result = 0;
    for (int i = 0; result == 0 && i < 200; ++i)
      result = covered->create("fill-" + std::to_string(i), std::string(mib / 2, 'f'));
    ASSERT_EQ(result, -ENOSPC);
  }
  void make_room() {
    for (int i = 0; i < 20; ++i)
      cairn_unlink(covered->pool, covered->top, ("fill-" + std::to_string(i)).c_str());
  }
};

// Its opener would have lost its bytes.
TEST_F(EvictedInAFullPool, AFileThatIsOpenKeepsItsName) {
  fill_up();
  cairn_file* file = open("file", O_RDONLY);
  EXPECT_EQ(cairn_unlink(covered->pool, covered->top, "file"), -ENOSPC);
  EXPECT_NE(std::string(cairn_last_error()).find("file: cannot remove"), std::string::npos)
      << cairn_last_error();
  EXPECT_EQ(cairn_rename(covered->pool, covered->top, "fill-0", covered->top, "file", 0), -ENOSPC);
  EXPECT_EQ(cairn_rename(covered->pool, covered->top, "file", covered->top, "new", 0), -ENOSPC);
  EXPECT_EQ(covered->read("file"), bytes_);
  EXPECT_EQ(covered->read("fill-0"), std::string(mib / 2, 'f'));
  // No one has this one open.
  EXPECT_EQ(cairn_unlink(covered->pool, covered->top, "other"), 0) << cairn_last_error();
  make_room();
  EXPECT_EQ(cairn_unlink(covered->pool, covered->top, "file"), 0) << cairn_last_error();
  std::string found(bytes_.size(), '\0');
  EXPECT_EQ(cairn_pread(file, found.data(), found.size(), 0), static_cast<ssize_t>(found.size()));
  EXPECT_TRUE(found == bytes_);
  cairn_close(file);
}

// Nothing can bring its bytes back, so its name may go.
TEST_F(EvictedInAFullPool, AFileThatIsLostCanBeRemovedWhileItIsOpen) {
  fill_up();
  cairn_file* file = open("file", O_RDONLY);
  fs::remove(path("file"));
  EXPECT_EQ(cairn_unlink(covered->pool, covered->top, "file"), 0) << cairn_last_error();
  std::string found(5000, 'z');
  EXPECT_LT(cairn_pread(file, found.data(), found.size(), 0), 0);
  EXPECT_EQ(found, std::string(5000, 'z'));
  cairn_close(file);
}

// A file that can never fit evicts no others for nothing.
TEST_F(EvictedInAFullPool, AFileLargerThanThePoolEvictsNone) {
  put(path("large"), std::string(40 * mib, 'l'));
  start(24 * mib);
  make_drained("file", bytes_);
  const cairn_stat st = covered->stat("large");
  EXPECT_EQ(cairn_stage(covered->pool, st.ino, st.generation), -ENOSPC);
  EXPECT_FALSE(is_lazy("file"));
}

// --- versions ---

// Processes of a version that does not know evictions may be attached to such a pool at any time.
TEST_F(EvictedInLower, NoFileOfAPoolThatAnEarlierVersionCreated) {
  make_pool_with(0);
  covered = std::make_unique<Covered>(pool_, lower_);
  make_drained("file", bytes_);
  expect_kept("file", EOPNOTSUPP);
  EXPECT_NE(std::string(cairn_last_error()).find("earlier version"), std::string::npos)
      << cairn_last_error();
  // A full pool is full, as before.
  std::vector<std::string> made;
  int result = 0;
  for (int i = 0; result == 0 && i < 40; ++i) {
    made.push_back("fill-" + std::to_string(i));
    result = covered->create(made.back(), bytes_);
    ASSERT_EQ(covered->drain().code, 0);
  }
  EXPECT_EQ(result, -ENOSPC);
  for (const std::string& name : made) EXPECT_FALSE(is_lazy(name));
}

// Such a pool does not know when lower's files were created, nor their ctime.
TEST_F(EvictedInLower, AFileOfAPoolWithoutWitnessesGetsANewModeAsANewFile) {
  make_pool_with(format::feature_evictions);
  covered = std::make_unique<Covered>(pool_, lower_);
  const std::string longest(255, 'n');
  for (const std::string& name : {std::string("file"), longest}) make_drained(name, bytes_);
  ASSERT_EQ(evict("file"), 0) << cairn_last_error();
  struct stat before = {};
  struct stat after = {};
  ASSERT_EQ(::stat(path("file").c_str(), &before), 0);
  set_mode("file", 0600);
  ASSERT_EQ(covered->drain().code, 0) << cairn_last_error();
  ASSERT_EQ(::stat(path("file").c_str(), &after), 0);
  EXPECT_NE(after.st_ino, before.st_ino);
  EXPECT_EQ(after.st_mode & 07777, 0600U);
  EXPECT_TRUE(is_lazy("file"));
  EXPECT_EQ(covered->read("file"), bytes_);
  EXPECT_EQ(covered->read(longest), bytes_);
}

TEST_F(EvictedInLower, AFileOfThisUserGetsANewModeInPlace) {
  start();
  make_drained("file", bytes_);
  expect_evicted("file");
  struct stat before = {};
  struct stat after = {};
  ASSERT_EQ(::stat(path("file").c_str(), &before), 0);
  set_mode("file", 0600);
  ASSERT_EQ(covered->drain().code, 0) << cairn_last_error();
  ASSERT_EQ(::stat(path("file").c_str(), &after), 0);
  EXPECT_EQ(after.st_ino, before.st_ino);
  EXPECT_EQ(after.st_mode & 07777, 0600U);
  EXPECT_EQ(covered->read("file"), bytes_);
}

}  // namespace
}  // namespace cairn::test
