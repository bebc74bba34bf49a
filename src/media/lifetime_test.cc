#include "media/lifetime.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "support/fake_system.h"

namespace cairn::media {
namespace {

class Lifetime : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "FLUX_JOB_ID", "TMPDIR",
          "SLURM_TMPDIR", "FLUX_JOB_TMPDIR", "XDG_RUNTIME_DIR", "USER", "LOGNAME"}) {
      unsetenv(name);
    }
  }
  void TearDown() override { SetUp(); }
  // Returns true if one of the warnings about `path` contains `text`.
  bool warns(const std::string& path, const std::string& text) {
    for (const std::string& warning : lifetime_warnings(path, system_.root())) {
      if (warning.find(text) != std::string::npos) return true;
    }
    return false;
  }
  FakeSystem system_;
};

TEST_F(Lifetime, ParsesLogind) {
  EXPECT_TRUE(parse_remove_ipc("", true));
  EXPECT_FALSE(parse_remove_ipc("[Login]\nRemoveIPC=no\n", true));
  EXPECT_TRUE(parse_remove_ipc("[Login]\n#RemoveIPC=no\n", true));
  EXPECT_TRUE(parse_remove_ipc("RemoveIPC=no\nRemoveIPC = yes", false));
  EXPECT_FALSE(parse_remove_ipc("RemoveIPC=\tno \r\n", true));
}

TEST_F(Lifetime, RuntimeDirectoriesGoWithTheLogin) {
  EXPECT_TRUE(warns("/run/user/1000/cairn", "log out"));
  setenv("XDG_RUNTIME_DIR", "/srv/runtime", 1);
  EXPECT_TRUE(warns("/srv/runtime/pool", "log out"));
  EXPECT_FALSE(warns("/srv/runtimes", "log out"));
  setenv("USER", "somebody", 1);
  system_.file("/var/lib/systemd/linger/somebody", "");
  EXPECT_FALSE(warns("/run/user/1000/cairn", "log out"));
}

TEST_F(Lifetime, SharedMemoryOfPersonsGoesWithSystemd) {
  system_.file("/run/systemd/users/" + std::to_string(geteuid()), "");
  // A system user keeps its files: which of the two this test runs as decides what it must see.
  EXPECT_EQ(warns("/dev/shm/cairn-1000", "RemoveIPC"), geteuid() >= 1000);
  system_.file("/etc/systemd/logind.conf.d/keep.conf", "[Login]\nRemoveIPC=no\n");
  EXPECT_FALSE(warns("/dev/shm/cairn-1000", "RemoveIPC"));
}

// root becomes a person for this; a system user sees no warning at all.
TEST_F(Lifetime, SharedMemoryOfPersonsStaysWhereTheyLinger) {
  const uid_t me = geteuid();
  const uid_t who = me == 0 ? 4242 : me;
  const bool person = who >= 1000;
  ASSERT_EQ(chmod(system_.root().prefix.c_str(), 0755), 0);
  const auto is_warned = [&] {
    EXPECT_EQ(seteuid(who), 0);
    const bool warned = warns("/dev/shm/cairn-" + std::to_string(who), "RemoveIPC");
    EXPECT_EQ(seteuid(me), 0);
    return warned;
  };
  EXPECT_FALSE(is_warned()) << "nobody is logged in yet";
  system_.file("/run/systemd/users/" + std::to_string(who), "");
  EXPECT_EQ(is_warned(), person);
  setenv("USER", "somebody", 1);
  system_.file("/var/lib/systemd/linger/somebody", "");
  EXPECT_FALSE(is_warned());
  setenv("USER", "somebody-else", 1);
  EXPECT_EQ(is_warned(), person);
  system_.file("/usr/lib/systemd/logind.conf", "[Login]\nRemoveIPC=no\n");
  EXPECT_FALSE(is_warned());
  system_.file("/etc/systemd/logind.conf.d/10-site.conf", "[Login]\nRemoveIPC=yes\n");
  EXPECT_EQ(is_warned(), person);
  system_.file("/usr/lib/systemd/logind.conf.d/20-later.conf", "[Login]\nRemoveIPC=no\n");
  EXPECT_FALSE(is_warned());
  system_.file("/etc/systemd/logind.conf.d/20-later.conf", "");  // in place of that one
  EXPECT_EQ(is_warned(), person);
}

TEST_F(Lifetime, JobsTakeTheirDirectoriesWithThem) {
  setenv("TMPDIR", "/scratch/job7", 1);
  EXPECT_FALSE(warns("/scratch/job7/pool", "job"));
  setenv("SLURM_JOB_ID", "7", 1);
  EXPECT_TRUE(warns("/scratch/job7/pool", "TMPDIR of job 7"));
  system_.file("/proc/self/mountinfo",
               "40 30 8:1 /containers/7/.7/_tmp /tmp rw - ext4 /dev/sda1 rw\n");
  EXPECT_TRUE(warns("/dev/shm/pool", "job_container/tmpfs"));
  EXPECT_TRUE(warns("/tmp/pool", "Slurm job 7"));
  EXPECT_FALSE(warns("/scratch/other", "Slurm job 7"));
}

// A user's own TMPDIR comes into the job with his environment, and is there after it.
TEST_F(Lifetime, WhatIsNotTheJobsOwnStays) {
  setenv("SLURM_JOB_ID", "7", 1);
  for (const char* kept : {"/tmp", "/dev/shm", "/home/me/tmp", "/scratch/job17", "/scratch/70"}) {
    setenv("TMPDIR", kept, 1);
    EXPECT_TRUE(lifetime_warnings(std::string(kept) + "/pool", system_.root()).empty()) << kept;
  }
  unsetenv("SLURM_JOB_ID");
  setenv("PBS_JOBID", "123.server", 1);
  setenv("TMPDIR", "/var/tmp/pbs.123.server", 1);
  EXPECT_TRUE(warns("/var/tmp/pbs.123.server/pool", "TMPDIR of job 123.server"));
  setenv("FLUX_JOB_ID", "f7", 1);
  setenv("FLUX_JOB_TMPDIR", "/tmp/flux-x/jobtmp", 1);
  EXPECT_TRUE(warns("/tmp/flux-x/jobtmp/pool", "FLUX_JOB_TMPDIR"));
}

TEST_F(Lifetime, APoolThatIsStillToBeMadeLiesWhereItsDirectoryDoes) {
  setenv("XDG_RUNTIME_DIR", system_.root().prefix.c_str(), 1);
  system_.directory("/real");
  system_.link("/link", "/real");
  EXPECT_TRUE(warns(system_.root().path("/link/pool"), system_.root().path("/real/pool")));
}

}  // namespace
}  // namespace cairn::media
