// Drains of new attributes of files whose bytes lie in lower, where others could have written them:
// a new file gets the same bytes.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <future>

#include "tier/cover_fixture.h"
#include "tier/lower_calls.h"

namespace cairn::test {
namespace {

class DrainAnew : public CoverTest {
 protected:
  static constexpr size_t size = 20'000'000;  // more than is copied at a time
  const std::string bytes_ = std::string(size / 2, 'a') + std::string(size / 2, 'b');

  void SetUp() override {
    make_pool();
    lower_ = shared_.path("lower");  // its syncs take no time there
    fs::create_directory(lower_);
    place("file", bytes_, 0664);
  }
  ~DrainAnew() override { set_lower_hook(nullptr); }

  [[nodiscard]] std::string path(const char* name = "file") const { return lower_ + "/" + name; }
  void place(const char* name, const std::string& bytes, mode_t mode) {
    put(path(name), bytes);
    ASSERT_EQ(::chmod(path(name).c_str(), mode), 0);
  }
  static void chmod(Covered& covered, const char* name, uint32_t mode) {
    ASSERT_EQ(cairn_chmod(covered.pool, covered.stat(name).ino, 0, mode), 0) << cairn_last_error();
  }
  [[nodiscard]] struct stat stat_of(const char* name = "file") const {
    struct stat st = {};
    EXPECT_EQ(stat(path(name).c_str(), &st), 0) << name;
    return st;
  }
  // A drain that calls `during` each time that it has copied some bytes; on request, as one while
  // programs run.
  using During = std::function<void(uint64_t done, uint64_t total)>;
  static Drained drain(Covered& covered, During during, bool while_running = false) {
    struct Both {
      Drained drained;
      During during;
    } both{{}, std::move(during)};
    const auto problem = [](void* context, const char* text) {
      static_cast<Both*>(context)->drained.problems.emplace_back(text);
    };
    const auto progress = [](void* context, uint64_t done, uint64_t total) {
      if (done != 0) static_cast<Both*>(context)->during(done, total);
      return 0;
    };
    cairn_while_running rule = {};
    rule.struct_size = sizeof rule;
    both.drained.code =
        while_running
            ? cairn_cover_drain_while_running(covered.cover, &rule, progress, problem, &both,
                                              &both.drained.report)
            : cairn_cover_drain(covered.cover, progress, problem, &both, &both.drained.report);
    return both.drained;
  }
  static std::string told(const Drained& drained) {
    return testing::PrintToString(drained.problems) + cairn_last_error();
  }
  // The file is a new one with these bytes and this mode, and nothing else is there.
  void expect_new(ino_t before, mode_t mode, const std::string& bytes) {
    EXPECT_NE(stat_of().st_ino, before);
    EXPECT_EQ(stat_of().st_mode & 07777U, mode);
    EXPECT_TRUE(get(path()) == bytes);
    for (const auto& entry : fs::directory_iterator(lower_))
      EXPECT_NE(entry.path().filename().string().rfind(".cairn-drain-", 0), 0U) << entry.path();
  }
};

TEST_F(DrainAnew, AProgramWritesWhileTheFileIsCopied) {
  Covered covered(pool_, lower_);
  chmod(covered, "file", 0644);
  const ino_t before = stat_of().st_ino;
  std::future<int> writer;
  const Drained drained = drain(covered, [&](uint64_t, uint64_t) {
    if (writer.valid()) return;
    writer = std::async(std::launch::async, [&] { return covered.write("file", "new"); });
    EXPECT_EQ(writer.wait_for(std::chrono::seconds(20)), std::future_status::ready)
        << "the program waits for the drain";
  });
  ASSERT_TRUE(writer.valid());
  EXPECT_EQ(writer.get(), 0);
  EXPECT_EQ(drained.code, 0) << told(drained);
  expect_new(before, 0644, "new" + bytes_.substr(3));
  expect_drained(covered);
}

TEST_F(DrainAnew, TheBytesCountAsDrained) {
  Covered covered(pool_, lower_);
  chmod(covered, "file", 0644);
  const ino_t before = stat_of().st_ino;
  uint64_t last = 0;
  const Drained drained = drain(covered, [&](uint64_t done, uint64_t total) {
    EXPECT_GE(done, last);
    EXPECT_GE(total, size);
    last = done;
  });
  EXPECT_EQ(drained.code, 0) << told(drained);
  EXPECT_EQ(last, size);
  EXPECT_EQ(drained.report.bytes, size);
  EXPECT_EQ(drained.report.files, 1U);
  expect_new(before, 0644, bytes_);
}

TEST_F(DrainAnew, AColleaguesChangeOfRightsIsNoConflict) {
  Covered covered(pool_, lower_);
  chmod(covered, "file", 0644);
  const ino_t before = stat_of().st_ino;
  int changes = 0;
  const Drained drained = drain(covered, [&](uint64_t, uint64_t) {
    if (changes == 2) return;
    ++changes;
    const std::string link = shared_.path("link");
    EXPECT_EQ(::link(path().c_str(), link.c_str()), 0);
    EXPECT_EQ(unlink(link.c_str()), 0);
    EXPECT_EQ(::chmod(path().c_str(), 0666), 0);
  });
  EXPECT_EQ(changes, 2);
  EXPECT_EQ(drained.code, 0) << told(drained);
  EXPECT_EQ(drained.report.bytes, size);
  expect_new(before, 0644, bytes_);
}

TEST_F(DrainAnew, AFileWhoseRightsChangeWithoutEndIsBusy) {
  Covered covered(pool_, lower_);
  chmod(covered, "file", 0644);
  const ino_t before = stat_of().st_ino;
  const auto change = [&](uint64_t, uint64_t) {
    EXPECT_EQ(::chmod(path().c_str(), 0666), 0);
    EXPECT_EQ(::chmod(path().c_str(), 0664), 0);
  };
  Drained drained = drain(covered, change, true);
  EXPECT_EQ(drained.code, 0) << told(drained);  // it waits for a later drain
  EXPECT_EQ(drained.report.files, 0U);
  drained = drain(covered, change);
  EXPECT_EQ(drained.code, -EIO) << told(drained);
  ASSERT_EQ(drained.problems.size(), 1U);
  EXPECT_NE(drained.problems.front().find("it is being changed"), std::string::npos)
      << drained.problems.front();
  EXPECT_EQ(stat_of().st_ino, before);
  EXPECT_EQ(covered.drain().code, 0) << cairn_last_error();
  expect_new(before, 0644, bytes_);
}

TEST_F(DrainAnew, BytesThatChangeDuringTheCopyAreAConflict) {
  Covered covered(pool_, lower_);
  chmod(covered, "file", 0644);
  const ino_t before = stat_of().st_ino;
  const Drained drained =
      drain(covered, [&](uint64_t, uint64_t) { place("file", "theirs", 0664); });
  EXPECT_EQ(drained.report.conflicts, 1U) << told(drained);
  EXPECT_EQ(drained.report.bytes, 0U);
  EXPECT_EQ(stat_of().st_ino, before);
  EXPECT_EQ(get(path()), "theirs");
}

TEST_F(DrainAnew, WhereNoNewFileFitsTheModeIsSetInPlace) {
  place("program", "#!/bin/true", 0664);
  uint32_t mode = 0600;
  for (const int error : {EACCES, EPERM, ENOSPC, EDQUOT}) {
    SCOPED_TRACE(error);
    Covered covered(pool_, lower_);
    place("file", bytes_, 0664);
    covered.list(".");
    chmod(covered, "file", mode);
    chmod(covered, "program", 04755);  // others could have written what would run with rights
    const ino_t before = stat_of().st_ino;
    set_lower_hook([error](const LowerCall& call) {
      return call.number == SYS_copy_file_range || call.number == SYS_pwrite64 ? error : 0;
    });
    const Drained drained = covered.drain();
    set_lower_hook(nullptr);
    EXPECT_EQ(drained.report.failed, 1U) << told(drained);
    ASSERT_EQ(drained.problems.size(), 1U);
    EXPECT_NE(drained.problems.front().find("/program: "), std::string::npos) << told(drained);
    EXPECT_EQ(drained.report.bytes, 0U);
    EXPECT_EQ(stat_of().st_ino, before);
    EXPECT_EQ(stat_of().st_mode & 07777U, mode);
    EXPECT_EQ(stat_of("program").st_mode & 07777U, 0664U);
    EXPECT_EQ(covered.discard(), 0) << cairn_last_error();
  }
}

// A drain while programs run would copy the file again and again.
TEST_F(DrainAnew, AFileForWhichThereIsNoRoomIsNotCopiedInVain) {
  const std::string small = shared_.path("small");
  fs::create_directory(small);
  if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 ||
      mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("none", small.c_str(), "tmpfs", 0, "size=1m") != 0)
    GTEST_SKIP() << "nothing can be mounted here";
  lower_ = small;
  place("file", std::string(600'000, 'f'), 0664);
  const ino_t before = stat_of().st_ino;
  {
    Covered own(pool_, small);
    chmod(own, "file", 0644);
    const Drained drained = drain(
        own, [](uint64_t, uint64_t) { ADD_FAILURE() << "it was copied"; }, true);
    EXPECT_EQ(drained.code, 0) << told(drained);
    EXPECT_EQ(own.discard(), 0) << cairn_last_error();
  }
  EXPECT_EQ(stat_of().st_ino, before);
  EXPECT_EQ(stat_of().st_mode & 07777U, 0644U);
  umount2(small.c_str(), MNT_DETACH);
}

// With umask 002 that is every chmod.
TEST_F(DrainAnew, TheFileStaysWhereTheSameUsersCanWriteToIt) {
  struct Change {
    mode_t from;
    uint32_t to;
    bool stays;
  };
  for (const Change& change :
       {Change{0664, 0775, true}, Change{0664, 0660, true}, Change{0666, 0777, true},
        Change{02664, 0664, true}, Change{0664, 0644, false}, Change{0666, 0664, false},
        Change{0666, 0646, false}, Change{02664, 02775, false}}) {
    SCOPED_TRACE(testing::Message() << std::oct << change.from << " to " << change.to);
    Covered covered(pool_, lower_);
    place("file", "bytes", change.from);
    covered.list(".");
    const ino_t before = stat_of().st_ino;
    const int held = open(path().c_str(), O_RDONLY);  // so no new file gets its number
    chmod(covered, "file", change.to);
    EXPECT_EQ(covered.drain().code, 0) << cairn_last_error();
    EXPECT_EQ(stat_of().st_ino == before, change.stays);
    EXPECT_EQ(stat_of().st_mode & 07777U, change.to);
    EXPECT_EQ(get(path()), "bytes");
    close(held);
    EXPECT_EQ(covered.discard(), 0) << cairn_last_error();
  }
}

TEST_F(DrainAnew, TheKernelCopiesWhereItCan) {
  for (const bool can : {true, false}) {
    SCOPED_TRACE(can);
    Covered covered(pool_, lower_);
    place("file", bytes_, 0664);
    ASSERT_EQ(truncate(path().c_str(), size * 2), 0);  // a hole behind the bytes
    covered.list(".");
    const auto blocks = stat_of().st_blocks;
    const ino_t before = stat_of().st_ino;
    chmod(covered, "file", 0644);
    int written = 0;
    set_lower_hook([&](const LowerCall& call) {
      if (call.number == SYS_copy_file_range && !can) return EXDEV;
      if (call.number == SYS_pwrite64) ++written;
      return 0;
    });
    EXPECT_EQ(covered.drain().code, 0) << cairn_last_error();
    set_lower_hook(nullptr);
    EXPECT_EQ(written == 0, can);
    EXPECT_EQ(stat_of().st_blocks, blocks);
    expect_new(before, 0644, bytes_ + std::string(size, '\0'));
    EXPECT_EQ(covered.discard(), 0) << cairn_last_error();
  }
}

// A capability is for these bytes; they and its owner stay the same.
TEST_F(DrainAnew, ACapabilityStaysWithTheSameBytesAndOwner) {
  constexpr uint32_t capability[] = {0x02000001, 1 << 7, 0, 0, 0};  // setuid
  constexpr const char* name = "security.capability";
  for (const char* file : {"file", "rewritten", "given", "grouped"}) {
    place(file, "#!/bin/true", 0664);
    if (setxattr(path(file).c_str(), name, capability, sizeof capability, 0) != 0)
      GTEST_SKIP() << "this user cannot give capabilities";
  }
  Covered covered(pool_, lower_);
  for (const char* file : {"file", "rewritten"}) chmod(covered, file, 0644);
  ASSERT_EQ(covered.write("rewritten", "#!/bin/evil"), 0);
  ASSERT_EQ(cairn_chown(covered.pool, covered.stat("given").ino, 0, 12345, 0), 0);
  ASSERT_EQ(cairn_chown(covered.pool, covered.stat("grouped").ino, 0, 0, 12345), 0);
  const ino_t before = stat_of().st_ino;
  EXPECT_EQ(covered.drain().code, 0) << cairn_last_error();
  expect_new(before, 0644, "#!/bin/true");
  char value[64];
  EXPECT_EQ(getxattr(path().c_str(), name, value, sizeof value),
            static_cast<ssize_t>(sizeof capability));
  for (const char* file : {"rewritten", "given", "grouped"})
    EXPECT_EQ(getxattr(path(file).c_str(), name, value, sizeof value), -1) << file;
}

}  // namespace
}  // namespace cairn::test
