#include "common/partners.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "common/job.h"

namespace kernels {
namespace {

// The node of each rank, named by its lowest rank.
std::vector<int> nodes_of_ranks() {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int lowest_rank = job().rank;
  MPI_Allreduce(MPI_IN_PLACE, &lowest_rank, 1, MPI_INT, MPI_MIN, node);
  MPI_Comm_free(&node);
  std::vector<int> nodes(static_cast<size_t>(job().ranks));
  MPI_Allgather(&lowest_rank, 1, MPI_INT, nodes.data(), 1, MPI_INT, MPI_COMM_WORLD);
  return nodes;
}

}  // namespace

Partners partners_of_next_node() {
  const std::vector<int> nodes = nodes_of_ranks();
  std::vector<int> order(nodes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return nodes[static_cast<size_t>(a)] < nodes[static_cast<size_t>(b)];
  });
  int64_t most = 0;
  for (const int node : nodes)
    most = std::max<int64_t>(most, std::count(nodes.begin(), nodes.end(), node));
  const auto size = static_cast<int64_t>(order.size());
  const int64_t shift = most == size ? 1 : most;
  Partners found;
  for (int64_t i = 0; i < size; ++i) {
    const int rank = order[static_cast<size_t>(i)];
    const int source = order[static_cast<size_t>((i + shift) % size)];
    if (nodes[static_cast<size_t>(rank)] != nodes[static_cast<size_t>(source)])
      ++found.between_nodes;
    if (rank == job().rank) found.source = source;
    if (source == job().rank) found.reader = rank;
  }
  return found;
}

}  // namespace kernels
