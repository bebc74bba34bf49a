#include "cluster/mpi/ranks/launcher.h"

#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace cairn::mpi {
namespace {

// A number above 0, or 0: there is no such variable.
long number(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::strtol(text, nullptr, 10);
}

// Processes of the job, and those of them on this host.
struct Counts {
  const char* all;
  const char* here;
};
constexpr Counts counts[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},  // Open MPI and what is made of it
    {"PMI_SIZE", "MPI_LOCALNRANKS"},                         // Hydra: MPICH, Intel MPI
};

enum class LaunchHosts : int { nothing, one_host, several };
LaunchHosts hosts_by_counts() {
  for (const Counts& one : counts) {
    const long all = number(one.all);
    const long here = number(one.here);
    if (all > 0 && here > 0) return here < all ? LaunchHosts::several : LaunchHosts::one_host;
  }
  return LaunchHosts::nothing;
}

}  // namespace

bool spans_hosts() {
  const LaunchHosts said = hosts_by_counts();
  return said == LaunchHosts::several ||
         (said == LaunchHosts::nothing && number("SLURM_STEP_NUM_NODES") > 1);
}

bool is_first_here() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"})
    if (const char* rank = std::getenv(name); rank != nullptr) return std::strcmp(rank, "0") == 0;
  return true;
}

bool may_span_hosts() {
  if (const LaunchHosts said = hosts_by_counts(); said != LaunchHosts::nothing)
    return said == LaunchHosts::several;
  // Slurm, of a step that srun has started; the allocation may be larger.
  for (const char* name : {"SLURM_STEP_NUM_NODES", "SLURM_NNODES"})
    if (const long nodes = number(name); nodes > 0) return nodes > 1;
  return true;
}

}  // namespace cairn::mpi
