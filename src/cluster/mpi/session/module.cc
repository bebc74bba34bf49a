// The table that the transport of an ABI exports: cairn/adapter/transport.h on top of Transport.
#include "cluster/mpi/loader/module.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cluster/mpi/messages/collectives.h"
#include "cluster/mpi/messages/rpc_client.h"
#include "cluster/mpi/messages/rpc_server.h"
#include "cluster/mpi/session/transport.h"

#ifdef CAIRN_MPI_STANDARD_ABI
// An MPI that has the standard's ABI may be older than this call.
extern "C" __attribute__((weak)) MPI_Comm PMPI_Comm_fromint(int handle);
#endif

namespace cairn::mpi {
namespace {

extern const Module module;

Transport& of(cairn_transport* transport) { return *reinterpret_cast<Transport*>(transport); }
const Transport& of(const cairn_transport* transport) {
  return *reinterpret_cast<const Transport*>(transport);
}

// MPI_COMM_NULL: no such communicator.
MPI_Comm communicator_of(int handle) {
#ifdef CAIRN_MPI_STANDARD_ABI
  return PMPI_Comm_fromint == nullptr ? MPI_COMM_NULL : PMPI_Comm_fromint(handle);
#else
  return PMPI_Comm_f2c(handle);
#endif
}

int join(int handle, const cairn_node* node, const cairn_transport_client* client,
         cairn_transport** joined, char* why, size_t why_capacity) {
  const auto refuse = [&](int error, const std::string& text) {
    std::snprintf(why, why_capacity, "%s", text.c_str());
    return -error;
  };
  if (!has_world()) return refuse(EINVAL, "MPI_Init has not been called, or MPI_Finalize has");
  const MPI_Comm comm = communicator_of(handle);
  int inter = 0;
  if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter != 0)
    return refuse(EINVAL, "a communicator is needed that is not an intercommunicator");
  std::unique_ptr<Transport> transport;
  std::string cause;
  if (const int error = Transport::join(comm, node, *client, &transport, &cause); error != 0)
    return refuse(error, cause);
  transport->module = &module;
  *joined = reinterpret_cast<cairn_transport*>(transport.release());
  return 0;
}

int leave(cairn_transport* transport) {
  const std::unique_ptr<Transport> left(&of(transport));
  if (left->is_over()) return -ENOTCONN;
  left->leave();
  return 0;
}

int describe(const cairn_transport* transport, cairn_transport_info* info) {
  if (of(transport).is_over()) return -ENOTCONN;
  *info = of(transport).describe();
  return 0;
}

int node_at(const cairn_transport* transport, uint32_t number, cairn_node* node) {
  const Roster& roster = of(transport).peers().roster;
  if (of(transport).is_over()) return -ENOTCONN;
  if (number >= roster.count()) return -EINVAL;
  *node = roster.node(number);
  return 0;
}

int node_of(const cairn_transport* transport, uint32_t rank) {
  const Roster& roster = of(transport).peers().roster;
  if (of(transport).is_over()) return -ENOTCONN;
  const uint32_t node = rank > INT_MAX ? roster.count() : roster.node_of(static_cast<int>(rank));
  return node == roster.count() ? -EINVAL : static_cast<int>(node);
}

int ranks_of(const cairn_transport* transport, uint32_t number, uint32_t* ranks,
             uint32_t capacity) {
  if (of(transport).is_over()) return -ENOTCONN;
  const Roster& roster = of(transport).peers().roster;
  if (number >= roster.count()) return -EINVAL;
  const std::vector<uint32_t> all = roster.ranks_of(number);
  std::copy_n(all.begin(), std::min<size_t>(capacity, all.size()), ranks);
  return static_cast<int>(all.size());
}

int ask_nodes(cairn_transport* transport, cairn_question* questions, size_t count) {
  if (of(transport).is_over()) return -ENOTCONN;
  const Peers& peers = of(transport).peers();
  for (size_t i = 0; i < count; ++i)
    if (questions[i].node >= peers.roster.count() ||
        questions[i].size > peers.client.request_capacity)
      return -EINVAL;
  return of(transport).ask(questions, count);
}

int progress(cairn_transport* transport) {
  if (of(transport).is_over()) return -ENOTCONN;
  answer_questions();
  return 0;
}

int meet_all(cairn_transport* transport) {
  if (of(transport).is_over()) return -ENOTCONN;
  of(transport).meet();
  return 0;
}

int broadcast_bytes(cairn_transport* transport, void* bytes, size_t size, uint32_t root) {
  if (of(transport).is_over()) return -ENOTCONN;
  if (root >= of(transport).describe().ranks) return -EINVAL;
  of(transport).broadcast(bytes, size, static_cast<int>(root));
  return 0;
}

int maximum_of(cairn_transport* transport, int64_t* values, uint32_t count) {
  if (of(transport).is_over()) return -ENOTCONN;
  if (count > INT_MAX) return -EINVAL;
  of(transport).maximum(values, static_cast<int>(count));
  return 0;
}

int gather_nodes(cairn_transport* transport, const void* bytes, size_t size, void* all) {
  if (of(transport).is_over()) return -ENOTCONN;
  if (size > INT_MAX) return -EINVAL;
  of(transport).gather_nodes(bytes, size, all);
  return 0;
}

int begin_gather(cairn_transport* transport, uint32_t channel, const void* bytes, size_t size,
                 void* all) {
  if (of(transport).is_over()) return -ENOTCONN;
  if (size > INT_MAX || channel >= CAIRN_TRANSPORT_CHANNELS) return -EINVAL;
  return -of(transport).begin_gather(channel, bytes, size, all);
}

int test_gather(cairn_transport* transport, uint32_t channel) {
  if (of(transport).is_over()) return -ENOTCONN;
  if (channel >= CAIRN_TRANSPORT_CHANNELS) return -EINVAL;
  if (!of(transport).is_leader()) return -EPERM;
  answer_questions();
  return of(transport).test_gather(channel) ? 1 : 0;
}

const Module module = {
    sizeof(Module), CAIRN_VERSION, join,         leave,       describe, node_at,
    node_of,        ranks_of,      ask_nodes,    progress,    meet_all, broadcast_bytes,
    maximum_of,     gather_nodes,  begin_gather, test_gather,
};

}  // namespace
}  // namespace cairn::mpi

extern "C" __attribute__((visibility("default"))) const cairn::mpi::Module* cairn_mpi_module() {
  return &cairn::mpi::module;
}
