#include "process/launcher.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include "machine/environment.h"
#include "process/process.h"

namespace cairn::cli {
namespace {

std::vector<std::string> arguments_of(const std::string& command_line) {
  std::vector<std::string> arguments;
  for (size_t at = 0; at < command_line.size(); at += arguments.back().size() + 1)
    arguments.emplace_back(command_line.c_str() + at);
  return arguments;
}

// Finds Hydra's job. Hydra puts nothing about the job into the environment, but each process has a
// Hydra proxy above it.
std::string hydra_job() {
  for (int pid = parent_of(getpid()); pid > 0; pid = parent_of(pid)) {
    std::ifstream file(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
    const std::string line{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (const std::string port = control_port_of(line); !port.empty()) return "hydra-" + port;
  }
  return "";
}

}  // namespace

std::string control_port_of(const std::string& command_line) {
  const std::vector<std::string> arguments = arguments_of(command_line);
  if (arguments.empty()) return "";
  const std::string& program = arguments.front();
  if (program.substr(program.rfind('/') + 1) != "hydra_pmi_proxy") return "";
  for (size_t i = 1; i + 1 < arguments.size(); ++i)
    if (arguments[i] == "--control-port") return arguments[i + 1];
  return "";
}

std::string launcher_job() {
  for (const char* name :
       {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "COBALT_JOBID", "JOB_ID"})
    if (std::string job = environment_variable(name); !job.empty()) return job;
  // Open MPI 4: a random number of each mpirun. In its PMIX_NAMESPACE only 16 bits differ between
  // jobs.
  if (std::string key = environment_variable("OMPI_MCA_orte_precondition_transports"); !key.empty())
    return "openmpi-" + key;
  // Open MPI 5 and other PMIx launchers: "prterun-HOST-PID@1".
  if (std::string name = environment_variable("PMIX_NAMESPACE"); !name.empty())
    return "pmix-" + name;
  return hydra_job();
}

std::string launch_id() {
  if (std::string key = environment_variable("OMPI_MCA_orte_precondition_transports"); !key.empty())
    return "openmpi-" + key;
  // The namespace holds a process number, which another launcher may get later. The server's
  // address also holds a port.
  if (std::string name = environment_variable("PMIX_NAMESPACE"); !name.empty()) {
    for (const char* server : {"PMIX_SERVER_URI41", "PMIX_SERVER_URI4", "PMIX_SERVER_URI3"})
      if (const std::string uri = environment_variable(server); !uri.empty())
        return "pmix-" + name + "-" + uri;
    return "pmix-" + name;
  }
  if (std::string hydra = hydra_job(); !hydra.empty()) return hydra;
  if (std::string step = environment_variable("SLURM_STEP_ID"); !step.empty())
    return "slurm-" + environment_variable("SLURM_JOB_ID") + "." + step;
  if (std::string flux = environment_variable("FLUX_JOB_ID"); !flux.empty()) return "flux-" + flux;
  return "";
}

std::string launcher_directory() {
  return is_rank() ? environment_variable("PMIX_SERVER_TMPDIR") : "";
}

bool is_rank() {
  // Slurm's variables are left out: Slurm sets them also for a single task, such as a shell.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
    if (!environment_variable(name).empty()) return true;
  return is_one_of_several();
}

bool is_first_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"})
    if (const std::string rank = environment_variable(name); !rank.empty()) return rank == "0";
  return true;
}

bool speaks_for_all() {
  if (!is_one_of_several()) return true;
  const auto number = [](const char* name) {
    return std::strtol(environment_variable(name).c_str(), nullptr, 10);
  };
  struct Names {
    const char* all;
    const char* here;
    const char* rank_here;
  };
  for (const Names& of :
       {Names{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
        Names{"PMI_SIZE", "MPI_LOCALNRANKS", "MPI_LOCALRANKID"}})
    if (number(of.all) > 0 && number(of.here) > 0)
      return number(of.here) == number(of.all) && number(of.rank_here) == 0;
  return number("SLURM_STEP_NUM_NODES") == 1 && number("SLURM_LOCALID") == 0;
}

bool is_one_of_several() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (std::strtol(environment_variable(name).c_str(), nullptr, 10) > 1) return true;
  return false;
}

}  // namespace cairn::cli
