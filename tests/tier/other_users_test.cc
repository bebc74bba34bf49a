// Covers of directories in which files of other users lie.
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <functional>

#include "capi/core/handles.h"
#include "tier/cover/covered_directory.h"
#include "tier/cover_fixture.h"
#include "tier/record/journal.h"
#include "tier/record/record.h"

namespace cairn::test {
namespace {

class OtherUsers : public CoverTest {
 protected:
  static constexpr uid_t other = 12345;
  static constexpr gid_t project = 23456;  // which he may be in
  std::vector<gid_t> groups_;              // besides his own

  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can play two users";
    for (const std::string& path : {shared_.path(""), disk_.path(""), lower_})
      fs::permissions(path, fs::perms::all);
  }
  // In a process of another user with a pool of his own; `work` says what went wrong.
  void as_other(const std::function<std::string(Covered&)>& work) {
    const pid_t child = fork();
    if (child == 0) {
      if (setgroups(groups_.size(), groups_.data()) != 0 || setgid(other) != 0 ||
          setuid(other) != 0)
        _exit(2);
      const std::string pool = shared_.path("others");
      cairn_pool_options options = {};
      options.struct_size = sizeof options;
      options.size = 16 << 20;
      if (cairn_pool_create(pool.c_str(), &options) != 0) _exit(3);
      Covered covered(pool, lower_);
      const std::string wrong = work(covered);
      if (!wrong.empty()) fprintf(stderr, "%s\n", wrong.c_str());
      _exit(wrong.empty() ? 0 : 4);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0) << WEXITSTATUS(status);
  }
  static std::string problems_of(Covered& covered) {
    std::string text;
    for (const std::string& problem : covered.drain().problems) text += problem + "\n";
    return text;
  }
  [[nodiscard]] struct stat stat_of(const char* name) const {
    struct stat st = {};
    EXPECT_EQ(stat((lower_ + "/" + name).c_str(), &st), 0) << name;
    return st;
  }
};

// A program of somebody else that he drains would run as him.
TEST_F(OtherUsers, NobodyGetsSetUserIdFilesOfHisOwn) {
  put(lower_ + "/tool", "#!/bin/sh\n");
  ASSERT_EQ(chmod((lower_ + "/tool").c_str(), 04755), 0);
  as_other([](Covered& covered) {
    cairn_rename(covered.pool, covered.top, "tool", covered.top, "moved", 0);
    return problems_of(covered);
  });
  EXPECT_EQ(stat_of("moved").st_uid, other);
  EXPECT_EQ(stat_of("moved").st_mode & 07777, 0755U);
}

// touch(1) may do so with any file that one may write.
TEST_F(OtherUsers, ThePresentTimeOfAnothersFile) {
  put(lower_ + "/shared", "s");
  ASSERT_EQ(chmod((lower_ + "/shared").c_str(), 0666), 0);
  fs::last_write_time(lower_ + "/shared", fs::file_time_type::clock::now() - std::chrono::hours(1));
  as_other([](Covered& covered) {
    const int64_t now = time(nullptr) * 1'000'000'000LL;
    cairn_utimens(covered.pool, covered.stat("shared").ino, 0, now, now);
    return problems_of(covered);
  });
  EXPECT_GE(stat_of("shared").st_mtime, time(nullptr) - 60);
}

TEST_F(OtherUsers, OnesOwnFileThatOneMayOnlyWrite) {
  as_other([this](Covered& covered) {
    put(lower_ + "/mine", "m");
    chmod((lower_ + "/mine").c_str(), 0200);
    covered.list(".");
    cairn_utimens(covered.pool, covered.stat("mine").ino, 0, 1'000'000'007, 2'000'000'003);
    return problems_of(covered);
  });
  EXPECT_EQ(stat_of("mine").st_mtim.tv_nsec, 3);
}

// chmod(1) opens what its owner has closed to himself.
TEST_F(OtherUsers, OnesOwnFilesThatOneMayNotOpen) {
  as_other([this](Covered& covered) {
    put(lower_ + "/closed", "c");
    put(lower_ + "/opened", "o");
    fs::create_directory(lower_ + "/directory");
    for (const char* name : {"/closed", "/opened", "/directory"}) chmod((lower_ + name).c_str(), 0);
    covered.list(".");
    cairn_utimens(covered.pool, covered.stat("closed").ino, 0, 1'000'000'007, 2'000'000'003);
    cairn_chmod(covered.pool, covered.stat("opened").ino, 0, 0640);
    cairn_chmod(covered.pool, covered.stat("directory").ino, 0, 0750);
    return problems_of(covered);
  });
  EXPECT_EQ(stat_of("closed").st_mtim.tv_nsec, 3);
  EXPECT_EQ(stat_of("closed").st_mode & 07777, 0U);
  EXPECT_EQ(stat_of("opened").st_mode & 07777, 0640U);
  EXPECT_EQ(stat_of("directory").st_mode & 07777, 0750U);
}

// Its group could write to it, so it is drained as a new file, which reads the old one.
TEST_F(OtherUsers, OnesOwnFilesThatOnlyTheGroupMayUse) {
  as_other([this](Covered& covered) {
    for (const char* name : {"writable", "closed"}) put(lower_ + "/" + name, "bytes");
    chmod((lower_ + "/writable").c_str(), 0220);
    chmod((lower_ + "/closed").c_str(), 0020);
    covered.list(".");
    for (const char* name : {"writable", "closed"})
      cairn_chmod(covered.pool, covered.stat(name).ino, 0, 0200);
    return problems_of(covered);
  });
  for (const char* name : {"writable", "closed"}) {
    EXPECT_EQ(stat_of(name).st_mode & 07777, 0200U) << name;
    EXPECT_EQ(get(lower_ + "/" + name), "bytes") << name;
  }
}

// What cannot be drained is closed again.
TEST_F(OtherUsers, AFileThatWasOpenedToBeReadIsClosedAgain) {
  as_other([this](Covered& covered) -> std::string {
    put(lower_ + "/writable", "bytes");
    chmod((lower_ + "/writable").c_str(), 0220);
    covered.list(".");
    cairn_chmod(covered.pool, covered.stat("writable").ino, 0, 04220);
    const std::string text = problems_of(covered);
    return text.find("changed there outside Cairn") != std::string::npos ? "" : "told: " + text;
  });
  EXPECT_EQ(stat_of("writable").st_mode & 07777, 0220U);
}

// A directory of the drain's own making, closed by the program that made it, and opened by the next
// one.
TEST_F(OtherUsers, ADirectoryThatIsClosedAndOpenedBetweenDrains) {
  as_other([](Covered& covered) {
    cairn_mkdir(covered.pool, covered.top, "d", 0700);
    covered.create("d/first", "1");
    const cairn_ino directory = covered.stat("d").ino;
    cairn_chmod(covered.pool, directory, 0, 0);
    std::string wrong = problems_of(covered);
    covered.create("d/second", "2");
    wrong += problems_of(covered);
    cairn_chmod(covered.pool, directory, 0, 0755);
    return wrong + problems_of(covered);
  });
  EXPECT_EQ(stat_of("d").st_mode & 07777, 0755U);
  EXPECT_EQ(stat_of("d/second").st_size, 1);
}

TEST_F(OtherUsers, ADirectoryThatIsNotWritableIsNamedAsTheCause) {
  fs::create_directory(lower_ + "/closed");
  put(lower_ + "/closed/shared", "s");
  ASSERT_EQ(chmod((lower_ + "/closed/shared").c_str(), 0666), 0);
  as_other([](Covered& covered) -> std::string {
    covered.write("closed/shared", "new");
    const std::string text = problems_of(covered);
    return text.find("its directory must be writable") != std::string::npos ? "" : "told: " + text;
  });
  EXPECT_EQ(get(lower_ + "/closed/shared"), "s");
}

// He may not give it back to its owner, but to its group.
TEST_F(OtherUsers, AFileOfTheProjectStaysInItsGroup) {
  put(lower_ + "/shared", "s");
  ASSERT_EQ(chown((lower_ + "/shared").c_str(), 0, project), 0);
  ASSERT_EQ(chmod((lower_ + "/shared").c_str(), 0660), 0);
  groups_ = {project};
  as_other([](Covered& covered) {
    covered.write("shared", "new");
    return problems_of(covered);
  });
  EXPECT_EQ(get(lower_ + "/shared"), "new");
  EXPECT_EQ(stat_of("shared").st_gid, project);
  EXPECT_EQ(stat_of("shared").st_mode & 07777, 0660U);
}

TEST_F(OtherUsers, NoOtherGroupGetsTheRightsOfTheProject) {
  put(lower_ + "/file", "s");
  fs::create_directory(lower_ + "/directory");
  ASSERT_EQ(mkfifo((lower_ + "/fifo").c_str(), 0600), 0);
  const std::vector<std::pair<std::string, mode_t>> names = {
      {"file", 0664}, {"directory", 02775}, {"fifo", 0664}};
  for (const auto& [name, mode] : names) {
    ASSERT_EQ(chown((lower_ + "/" + name).c_str(), 0, project), 0);
    ASSERT_EQ(chmod((lower_ + "/" + name).c_str(), mode), 0);
  }
  as_other([&](Covered& covered) {
    for (const auto& [name, mode] : names)
      cairn_rename(covered.pool, covered.top, name.c_str(), covered.top, (name + "2").c_str(), 0);
    return problems_of(covered);
  });
  for (const auto& [name, mode] : names) {
    const struct stat st = stat_of((name + "2").c_str());
    EXPECT_EQ(st.st_uid, other) << name;
    EXPECT_EQ(st.st_gid, other) << name;
    EXPECT_EQ(st.st_mode & 0777, (mode & 0707U) | (mode & 7U) << 3) << name;
  }
}

// What he has replaced holds files that he may not remove.
TEST_F(OtherUsers, WhatCannotBeRemovedHoldsUpNoRemoval) {
  fs::create_directories(lower_ + "/results/sub");
  put(lower_ + "/results/sub/file", "theirs");
  put(lower_ + "/gone", "g");
  fs::permissions(lower_ + "/results", fs::perms::all);
  as_other([](Covered& covered) -> std::string {
    cairn_rename(covered.pool, covered.top, "results", covered.top, "r1", 0);
    cairn_mkdir(covered.pool, covered.top, "results", 0755);
    cairn_unlink(covered.pool, covered.top, "gone");
    for (int i = 0; i < 2; ++i) {
      const std::string text = problems_of(covered);
      if (text.find("results/sub/file: was replaced, and cannot be removed: Permission denied") ==
          std::string::npos)
        return "told: " + text;
    }
    return "";
  });
  EXPECT_FALSE(fs::exists(lower_ + "/gone"));
  EXPECT_EQ(get(lower_ + "/r1/sub/file"), "theirs");
  EXPECT_EQ(stat_of("results").st_uid, other);
}

// A drain was killed there. Since then somebody has put a closed directory in its place.
TEST_F(OtherUsers, AClosedDirectoryWhereADrainWasKilled) {
  fs::create_directories(lower_ + "/closed/sub");
  fs::permissions(lower_ + "/closed", fs::perms::owner_all);
  for (const char* path : {"/closed", "/closed/sub"})
    as_other([&](Covered& covered) {
      {
        const WriteWindow window;
        auto& files = capi::fs_of(covered.pool);
        tier::Journal journal;
        journal.open(files, *tier::find_covers(files, false), tier::cover_name(lower_)).ignore();
        journal.write({lower_ + path, ".cairn-drain-x", "", 0, 0, 0, 0, 0, {}}).ignore();
      }
      covered.create("new", "n");
      std::string text = problems_of(covered);
      if (covered.drain().code != 0) text += cairn_last_error();
      covered.discard();
      cairn_pool_detach(covered.pool);
      covered.pool = nullptr;
      cairn_pool_remove(shared_.path("others").c_str());
      fs::remove(lower_ + "/new");
      return text;
    });
}

}  // namespace
}  // namespace cairn::test
