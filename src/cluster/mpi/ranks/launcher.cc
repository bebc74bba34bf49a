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

enum class Said : int { nothing, one_host, several };
Said said_by_counts() {
  for (const Counts& one : counts) {
    const long all = number(one.all);
    const long here = number(one.here);
    if (all > 0 && here > 0) return here < all ? Said::several : Said::one_host;
  }
  return Said::nothing;
}

}  // namespace

bool spans_hosts() {
  const Said said = said_by_counts();
  return said == Said::several || (said == Said::nothing && number("SLURM_STEP_NUM_NODES") > 1);
}

bool is_first_here() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"})
    if (const char* rank = std::getenv(name); rank != nullptr) return std::strcmp(rank, "0") == 0;
  return true;
}

bool may_span_hosts() {
  if (const Said said = said_by_counts(); said != Said::nothing) return said == Said::several;
  // Slurm, of a step that srun has started; the allocation may be larger.
  for (const char* name : {"SLURM_STEP_NUM_NODES", "SLURM_NNODES"})
    if (const long nodes = number(name); nodes > 0) return nodes > 1;
  return true;
}

}  // namespace cairn::mpi
