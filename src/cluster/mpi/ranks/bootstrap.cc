#include "cluster/mpi/ranks/bootstrap.h"

#include <unistd.h>

#include <cstring>

namespace cairn::mpi {
namespace {

struct Said {
  int one_node = 0;
  char refused[256] = "";
};

// What the first ones of all hosts tell each other.
Bytes told_by_hosts(MPI_Comm hosts, const Bytes& told) {
  int count = 1;
  PMPI_Comm_size(hosts, &count);
  const int own = static_cast<int>(told.size());
  std::vector<int> sizes(static_cast<size_t>(count));
  PMPI_Allgather(&own, 1, MPI_INT, sizes.data(), 1, MPI_INT, hosts);
  std::vector<int> offsets(sizes.size());
  int total = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    offsets[i] = total;
    total += sizes[i];
  }
  Bytes all(static_cast<size_t>(total));
  PMPI_Allgatherv(told.data(), own, MPI_BYTE, all.data(), sizes.data(), offsets.data(), MPI_BYTE,
                  hosts);
  return all;
}

Bytes bytes_of(const std::vector<LocalProcess>& processes) {
  const auto* from = reinterpret_cast<const char*>(processes.data());
  return {from, from + processes.size() * sizeof(LocalProcess)};
}

}  // namespace

Card card_of_process(int rank) {
  Card card = {};
  card.rank = rank;
  card.process = ::getpid();
  card.namespaces = namespaces();
  card.started = start_of(card.process);
  ::gethostname(card.node.host, sizeof card.node.host - 1);
  return card;
}

void hold_bootstrap(MPI_Comm comm, const Card& own, bool on_one_node, Bootstrap* bootstrap) {
  MPI_Comm host = MPI_COMM_NULL;
  PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, own.rank, MPI_INFO_NULL, &host);
  int here = 0;
  int count = 1;
  PMPI_Comm_rank(host, &here);
  PMPI_Comm_size(host, &count);
  MPI_Comm hosts = MPI_COMM_NULL;
  PMPI_Comm_split(comm, here == 0 ? 0 : MPI_UNDEFINED, own.rank, &hosts);
  std::vector<Card> cards(here == 0 ? static_cast<size_t>(count) : 0);
  PMPI_Gather(&own, sizeof own, MPI_BYTE, cards.data(), sizeof own, MPI_BYTE, 0, host);
  Said said;
  Gathered gathered;
  std::vector<LocalProcess> local;
  if (here == 0) {
    for (const Card& card : cards)
      local.push_back({card.rank, card.process, card.namespaces, card.started});
    gathered = gather_roster(told_by_hosts(hosts, introduce(cards)), on_one_node);
    said.one_node = gathered.one_node ? 1 : 0;
    std::strncpy(said.refused, gathered.refused.c_str(), sizeof said.refused - 1);
    PMPI_Comm_free(&hosts);
  }
  PMPI_Bcast(&said, sizeof said, MPI_BYTE, 0, host);
  bootstrap->one_node = said.one_node != 0;
  bootstrap->refused = said.refused;
  if ((on_one_node || !bootstrap->one_node) && bootstrap->refused.empty()) {
    bootstrap->roster.share(host, std::move(gathered.roster));
    bootstrap->local.share(host, bytes_of(local));
  }
  PMPI_Comm_free(&host);
}

}  // namespace cairn::mpi
