#include "cluster/mpi/session/uncovered_ranks.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include "cluster/mpi/ranks/launcher.h"
#include "cluster/mpi/session/session.h"

namespace cairn::mpi {
namespace {

std::atomic<bool> possible = false;

// Was this rank started as a run (0: inside another one, which is around the launcher)?
const char* run_of_rank() {
  const char* value = std::getenv("CAIRN_RUN_OF_RANK");
  return value == nullptr ? "" : value;
}

bool is_run_of_rank() { return std::strcmp(run_of_rank(), "1") == 0; }

// Those of the communicator, in its order, in MPI_COMM_WORLD. MPIs compare each with each for this.
std::vector<int> ranks_in_world(MPI_Comm comm) {
  int count = 0;
  PMPI_Comm_size(comm, &count);
  std::vector<int> ranks(static_cast<size_t>(count));
  std::vector<int> in_world(ranks.size(), MPI_UNDEFINED);
  std::iota(ranks.begin(), ranks.end(), 0);
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  PMPI_Comm_group(comm, &all);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_translate_ranks(all, count, ranks.data(), world, in_world.data());
  PMPI_Group_free(&all);
  PMPI_Group_free(&world);
  return in_world;
}

}  // namespace

bool are_on_other_hosts() {
  static const bool are = run_of_rank()[0] == '\0' && spans_hosts();
  return are;
}

void may_come() { possible = true; }

bool forbid(MPI_Comm comm, bool* first) {
  *first = false;
  if (!possible || !has_world() || !is_run_of_rank()) return false;
  const std::vector<int> ranks = ranks_in_world(comm);
  if (std::find(ranks.begin(), ranks.end(), MPI_UNDEFINED) == ranks.end()) return false;
  int own = 0;
  PMPI_Comm_rank(comm, &own);
  const auto known =
      std::find_if(ranks.begin(), ranks.end(), [](int rank) { return rank != MPI_UNDEFINED; });
  *first = known - ranks.begin() == own;
  return true;
}

}  // namespace cairn::mpi
