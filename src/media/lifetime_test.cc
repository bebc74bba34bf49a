#include "media/lifetime.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "media/fake_system.h"

namespace cairn::media {
namespace {

class Lifetime : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "FLUX_JOB_ID",
                             "TMPDIR", "XDG_RUNTIME_DIR"}) {
      unsetenv(name);
    }
  }
  void TearDown() override { SetUp(); }
  // Whether one of the warnings about `path` contains `text`.
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
}

TEST_F(Lifetime, RuntimeDirectoriesGoWithTheLogin) {
  EXPECT_TRUE(warns("/run/user/1000/cairn", "log out"));
  setenv("XDG_RUNTIME_DIR", "/srv/runtime", 1);
  EXPECT_TRUE(warns("/srv/runtime/pool", "log out"));
  EXPECT_FALSE(warns("/srv/runtimes", "log out"));
}

TEST_F(Lifetime, SharedMemoryOfPersonsGoesWithSystemd) {
  system_.directory("/run/systemd/system");
  // A system user keeps its files: which of the two this test runs as decides what it must see.
  EXPECT_EQ(warns("/dev/shm/cairn-1000", "RemoveIPC"), geteuid() >= 1000);
  system_.file("/etc/systemd/logind.conf.d/keep.conf", "[Login]\nRemoveIPC=no\n");
  EXPECT_FALSE(warns("/dev/shm/cairn-1000", "RemoveIPC"));
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

}  // namespace
}  // namespace cairn::media
