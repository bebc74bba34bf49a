#include "process/launcher.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace cairn::cli {
namespace {

std::string line(const std::vector<std::string>& arguments) {
  std::string text;
  for (const std::string& argument : arguments) text += argument + '\0';
  return text;
}

TEST(Launcher, AProxyOfHydraNamesItsMpiexec) {
  EXPECT_EQ(control_port_of(line(
                {"/usr/bin/hydra_pmi_proxy", "--control-port", "login:34945", "--rmk", "user"})),
            "login:34945");
  EXPECT_EQ(control_port_of(line({"hydra_pmi_proxy", "--rmk", "user", "--control-port", "a:1"})),
            "a:1");
  EXPECT_EQ(control_port_of(line({"hydra_pmi_proxy", "--control-port"})), "");
  EXPECT_EQ(control_port_of(line({"/usr/bin/mpiexec", "--control-port", "login:1"})), "");
  EXPECT_EQ(control_port_of(""), "");
}

TEST(Launcher, TheBatchSystemKnowsBest) {
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "COBALT_JOBID",
                           "JOB_ID", "OMPI_MCA_orte_precondition_transports", "PMIX_NAMESPACE"})
    unsetenv(name);
  EXPECT_EQ(launcher_job(), "");
  setenv("PMIX_NAMESPACE", "prterun-login-1556@1", 1);
  EXPECT_EQ(launcher_job(), "pmix-prterun-login-1556@1");
  setenv("OMPI_MCA_orte_precondition_transports", "c8327bfefe1c843c-12298a905387f4b5", 1);
  EXPECT_EQ(launcher_job(), "openmpi-c8327bfefe1c843c-12298a905387f4b5");
  setenv("SLURM_JOB_ID", "17", 1);
  EXPECT_EQ(launcher_job(), "17");
}

// A batch job calls mpirun or srun several times.
TEST(Launcher, EachCallHasAnIdOfItsOwn) {
  const auto names = {"OMPI_MCA_orte_precondition_transports",
                      "PMIX_NAMESPACE",
                      "PMIX_SERVER_URI41",
                      "PMIX_SERVER_URI4",
                      "PMIX_SERVER_URI3",
                      "SLURM_STEP_ID",
                      "FLUX_JOB_ID"};
  for (const char* name : names) unsetenv(name);
  setenv("SLURM_JOB_ID", "17", 1);
  EXPECT_EQ(launch_id(), "");
  setenv("SLURM_STEP_ID", "3", 1);
  EXPECT_EQ(launch_id(), "slurm-17.3");
  setenv("PMIX_NAMESPACE", "prterun-login-1556@1", 1);
  EXPECT_EQ(launch_id(), "pmix-prterun-login-1556@1");
  setenv("PMIX_SERVER_URI41", "prterun-login-1556@0.1;tcp4://127.0.0.1:4711", 1);
  EXPECT_EQ(launch_id(), "pmix-prterun-login-1556@1-prterun-login-1556@0.1;tcp4://127.0.0.1:4711");
  setenv("OMPI_MCA_orte_precondition_transports", "c8327bfefe1c843c-12298a905387f4b5", 1);
  EXPECT_EQ(launch_id(), "openmpi-c8327bfefe1c843c-12298a905387f4b5");
  for (const char* name : names) unsetenv(name);
  unsetenv("SLURM_JOB_ID");
}

TEST(Launcher, OneRankIsARankToo) {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "SLURM_STEP_NUM_TASKS"})
    unsetenv(name);
  EXPECT_FALSE(is_rank());
  setenv("SLURM_STEP_NUM_TASKS", "1", 1);
  EXPECT_FALSE(is_rank());
  setenv("SLURM_STEP_NUM_TASKS", "2", 1);
  EXPECT_TRUE(is_rank());
  unsetenv("SLURM_STEP_NUM_TASKS");
  setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
  EXPECT_TRUE(is_rank());
  EXPECT_FALSE(is_one_of_several());
  EXPECT_TRUE(speaks_for_all());
}

TEST(Launcher, TheFirstOfOneHostSpeaksForAll) {
  setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  EXPECT_FALSE(speaks_for_all());
  setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "2", 1);
  setenv("OMPI_COMM_WORLD_LOCAL_RANK", "0", 1);
  EXPECT_FALSE(speaks_for_all());
  setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "4", 1);
  EXPECT_TRUE(speaks_for_all());
  setenv("OMPI_COMM_WORLD_LOCAL_RANK", "1", 1);
  EXPECT_FALSE(speaks_for_all());
  for (const char* name :
       {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"})
    unsetenv(name);
  setenv("SLURM_STEP_NUM_TASKS", "2", 1);
  setenv("SLURM_STEP_NUM_NODES", "1", 1);
  setenv("SLURM_LOCALID", "0", 1);
  EXPECT_TRUE(speaks_for_all());
  for (const char* name : {"SLURM_STEP_NUM_TASKS", "SLURM_STEP_NUM_NODES", "SLURM_LOCALID"})
    unsetenv(name);
}

}  // namespace
}  // namespace cairn::cli
