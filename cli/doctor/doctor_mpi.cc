// cairn doctor without a program: which MPIs are installed, for which of them Cairn has a back end,
// and on how many hosts a job would run.
#include <fmt/format.h>
#include <glob.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <set>
#include <sstream>

#include "doctor/doctor.h"
#include "machine/environment.h"
#include "process/preload.h"

namespace cairn::cli {
namespace {

// NAME of each lib/cairn/mpiio_NAME.so.
std::set<std::string> back_ends() {
  std::set<std::string> names;
  const auto library = find_preload();
  if (!library) return names;
  const std::string start = library->substr(0, library->rfind('/')) + "/cairn/mpiio_";
  glob_t found = {};
  if (glob((start + "*.so").c_str(), 0, nullptr, &found) == 0)
    for (size_t i = 0; i < found.gl_pathc; ++i) {
      const std::string path = found.gl_pathv[i];
      names.insert(path.substr(start.size(), path.size() - start.size() - 3));
    }
  globfree(&found);
  return names;
}

// The back end for a launcher, by the name of its program; "": the name does not tell.
std::string back_end_of(const std::string& program) {
  for (const char* sign : {"orterun", "prterun", "openmpi", "ompi"})
    if (program.find(sign) != std::string::npos) return "openmpi";
  for (const char* sign : {"hydra", "mpich"})
    if (program.find(sign) != std::string::npos) return "mpich";
  return "";
}

void look_at_launchers(const std::set<std::string>& names, Findings& all) {
  std::set<std::string> seen;
  std::istringstream directories(environment_variable("PATH"));
  for (std::string directory; std::getline(directories, directory, ':');) {
    for (const char* name : {"mpirun", "mpiexec", "mpirun.openmpi", "mpiexec.openmpi",
                             "mpirun.mpich", "mpiexec.mpich"}) {
      const std::string path = directory + "/" + name;
      char program[PATH_MAX];
      if (access(path.c_str(), X_OK) != 0 || realpath(path.c_str(), program) == nullptr ||
          !seen.insert(program).second)
        continue;
      const std::string needed = back_end_of(program);
      if (needed.empty())
        all.push_back(
            {Level::note, "MPI", path + ": its name does not tell which MPI it belongs to"});
      else if (names.count(needed) != 0)
        all.push_back({Level::fine, "MPI", fmt::format("{}: MPI-IO by back end {}", path, needed)});
      else
        all.push_back(
            {Level::warning, "MPI",
             fmt::format("{}: back end {} was not built: build Cairn again with this MPI's mpicc "
                         "in PATH. Without it MPI-IO goes to the MPI, and from there through POSIX "
                         "calls (docs/user/mpi.md)",
                         path, needed)});
    }
  }
  if (seen.empty()) all.push_back({Level::note, "MPI", "no mpirun or mpiexec in PATH"});
}

// Reads the same variables as the back ends do (src/cluster/mpi/ranks/launcher.cc).
void look_at_hosts(Findings& all) {
  constexpr struct {
    const char* ranks;
    const char* here;
  } launchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
                   {"PMI_SIZE", "MPI_LOCALNRANKS"}};
  for (const auto& launcher : launchers) {
    const std::string ranks = environment_variable(launcher.ranks);
    const std::string here = environment_variable(launcher.here);
    if (ranks.empty() || here.empty()) continue;
    all.push_back({Level::fine, "MPI job",
                   fmt::format("{} ranks, {} of them on this host{}", ranks, here,
                               ranks == here ? "" : ": it spans hosts")});
    return;
  }
  for (const char* name : {"SLURM_STEP_NUM_NODES", "SLURM_NNODES"}) {
    const std::string nodes = environment_variable(name);
    if (nodes.empty()) continue;
    all.push_back({Level::fine, "MPI job",
                   fmt::format("{} {}{}", nodes, nodes == "1" ? "node" : "nodes",
                               nodes == "1" ? "" : ": a job on all of them spans hosts")});
    return;
  }
  all.push_back({Level::note, "MPI job", "not in a job; in a job, MPI_Init finds the hosts"});
}

}  // namespace

void look_at_mpi(Findings& all) {
  const std::set<std::string> names = back_ends();
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  all.push_back({names.empty() ? Level::warning : Level::fine, "MPI-IO",
                 names.empty() ? "no back end beside this command: MPI-IO is not served"
                               : "back ends: " + list});
  look_at_launchers(names, all);
  look_at_hosts(all);
}

}  // namespace cairn::cli
