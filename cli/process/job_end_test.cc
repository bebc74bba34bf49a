#include "process/job_end.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

class JobEndTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "COBALT_JOBID", "JOB_ID"})
      unsetenv(name);
    std::string name = testing::TempDir() + "job-end-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
    fs::create_directories(root_ + "/proc/self/ns");
    fs::create_symlink("pid:[4026531836]", root_ + "/proc/self/ns/pid");
  }
  void TearDown() override {
    unsetenv("SLURM_JOB_ID");
    unsetenv("PBS_JOBID");
    fs::remove_all(root_);
  }
  void put(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  std::string root_;
};

TEST_F(JobEndTest, NothingEndsItOnAnOrdinaryMachine) {
  put("/proc/self/cgroup", "0::/user.slice/user-1000.slice/session-2.scope\n");
  EXPECT_EQ(what_ends_background(root_), "");
}

TEST_F(JobEndTest, CgroupsOfSlurm) {
  setenv("SLURM_JOB_ID", "12", 1);
  EXPECT_EQ(what_ends_background(root_), "Slurm may end it with job 12");
  put("/proc/self/cgroup", "0::/system.slice/slurmstepd.scope/job_123/step_0/user/task_0\n");
  EXPECT_EQ(what_ends_background(root_), "Slurm may end it with job 12");
  put("/proc/self/cgroup", "0::/system.slice/slurmstepd.scope/job_12/step_0/user/task_0\n");
  EXPECT_EQ(what_ends_background(root_), "Slurm ends it with job 12 (cgroup)");
  put("/proc/self/cgroup", "4:memory:/slurm/uid_1000/job_12\n2:cpuset:/\n");
  EXPECT_EQ(what_ends_background(root_), "Slurm ends it with job 12 (cgroup)");
}

TEST_F(JobEndTest, DirectoriesOfAJobOfSlurm) {
  setenv("SLURM_JOB_ID", "12", 1);
  put("/proc/self/mountinfo",
      "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
      "30 22 8:1 /var/spool/job_container/12/.12 /tmp rw - ext4 /dev/sda1 rw\n");
  EXPECT_EQ(what_ends_background(root_),
            "Slurm ends it with job 12, and removes the job's own /tmp and /dev/shm "
            "(job_container)");
  put("/proc/self/mountinfo",
      "30 22 8:1 /var/spool/job_container/12/.12/_dev_shm /dev/shm rw - ext4 /dev/sda1 rw\n");
  EXPECT_EQ(what_ends_background(root_),
            "Slurm ends it with job 12, and removes the job's own /dev/shm (job_container)");
  // Another job has the first mount; this job has the second one, where no pool lies.
  put("/proc/self/mountinfo",
      "30 22 8:1 /var/spool/job_container/1/.1 /tmp rw - ext4 /dev/sda1 rw\n"
      "31 22 8:1 /var/spool/job_container/12/.12 /scratch rw - ext4 /dev/sda1 rw\n");
  EXPECT_EQ(what_ends_background(root_), "Slurm may end it with job 12");
}

TEST_F(JobEndTest, OtherBatchSystems) {
  setenv("PBS_JOBID", "7.server", 1);
  EXPECT_EQ(what_ends_background(root_), "the batch system may end it with job 7.server");
}

TEST_F(JobEndTest, Containers) {
  for (const char* mark : {"/run/.containerenv", "/.dockerenv", "/.singularity.d/env"}) {
    put(mark, "");
    EXPECT_EQ(what_ends_background(root_), "it ends with this container, or PID namespace") << mark;
    fs::remove_all(root_ + (std::string(mark).find("singularity") != std::string::npos
                                ? "/.singularity.d"
                                : mark));
    EXPECT_EQ(what_ends_background(root_), "") << mark;
  }
  fs::remove(root_ + "/proc/self/ns/pid");
  EXPECT_EQ(what_ends_background(root_), "");
  fs::create_symlink("pid:[4026532281]", root_ + "/proc/self/ns/pid");
  EXPECT_EQ(what_ends_background(root_), "it ends with this container, or PID namespace");
}

}  // namespace
}  // namespace cairn::cli
