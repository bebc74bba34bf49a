#include "process/job_end.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "machine/environment.h"

namespace cairn::cli {
namespace {

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

// The first line of a file for which `found` returns true; "" if there is none.
template <typename Found>
std::string find_line(const std::string& path, Found found) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (found(line)) return line;
  return "";
}

// Does Slurm hold this process in a cgroup of the job? proctrack/cgroup and task/cgroup make
// .../job_12/step_0/... in both versions of cgroups.
bool is_in_cgroup_of(const std::string& root, const std::string& job) {
  const std::string part = "/job_" + job + "/";
  const auto found = [&](const std::string& line) {
    return (line + "/").find(part) != std::string::npos;
  };
  return !find_line(root + "/proc/self/cgroup", found).empty();
}

// The directory in which pools may lie and which Slurm removes with the job, or "".
// job_container/tmpfs binds BasePath/JOBID/.JOBID over such directories.
std::string private_directory_of(const std::string& root, const std::string& job) {
  std::string found;
  find_line(root + "/proc/self/mountinfo", [&](const std::string& line) {
    std::istringstream words(line);
    std::string id, parent, device, what, point;
    words >> id >> parent >> device >> what >> point;
    if ((what + "/").find("/." + job + "/") == std::string::npos) return false;
    if (point == "/tmp" || point == "/dev/shm") found = point;
    return point == "/dev/shm";
  });
  return found;
}

std::string slurm_job_end(const std::string& root, const std::string& job) {
  const std::string directory = private_directory_of(root, job);
  // If any directory is the job's own, so is /dev/shm: older versions of Slurm mount it without a
  // name that shows it.
  if (!directory.empty())
    return fmt::format("Slurm ends it with job {}, and removes the job's own {} (job_container)",
                       job, directory == "/tmp" ? "/tmp and /dev/shm" : directory);
  if (is_in_cgroup_of(root, job)) return fmt::format("Slurm ends it with job {} (cgroup)", job);
  return fmt::format("Slurm may end it with job {}", job);
}

// Is this another PID namespace than the first one, whose number is the same in every kernel?
bool is_in_own_pid_namespace(const std::string& root) {
  char target[64];
  const ssize_t n = readlink((root + "/proc/self/ns/pid").c_str(), target, sizeof target);
  return n > 0 && std::string(target, static_cast<size_t>(n)) != "pid:[4026531836]";
}

bool is_in_container(const std::string& root) {
  return exists(root + "/run/.containerenv") || exists(root + "/.dockerenv") ||
         exists(root + "/.singularity.d") || is_in_own_pid_namespace(root);
}

}  // namespace

std::string what_ends_background(const std::string& root) {
  if (const std::string job = environment_variable("SLURM_JOB_ID"); !job.empty())
    return slurm_job_end(root, job);
  for (const char* name : {"PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "COBALT_JOBID", "JOB_ID"})
    if (const std::string job = environment_variable(name); !job.empty())
      return fmt::format("the batch system may end it with job {}", job);
  if (is_in_container(root)) return "it ends with this container, or PID namespace";
  return "";
}

}  // namespace cairn::cli
