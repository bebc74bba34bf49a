// C API: messages between the nodes of an MPI program (include/cairn/adapter/transport.h). The
// functions themselves lie in the transport of the MPI that the process has loaded.
#include "cairn/adapter/transport.h"

#include <climits>
#include <string>

#include "base/status.h"
#include "capi/core/handles.h"
#include "cluster/mpi/loader/load.h"

using cairn::fail;
using cairn::capi::check_flags;
using cairn::capi::check_given;
using cairn::capi::code;
using cairn::mpi::Module;

namespace {

const Module& module_of(const cairn_transport* transport) {
  return *reinterpret_cast<const cairn::mpi::TransportHead*>(transport)->module;
}

cairn::Status check_client(const cairn_transport_client* client) {
  CAIRN_TRY(check_given(client, "client"));
  CAIRN_TRY(check_given(client->name, "client->name"));
  CAIRN_TRY(check_flags(client->flags, CAIRN_TRANSPORT_THREAD, "cairn_transport_join"));
  if (client->request_capacity < INT_MAX && client->reply_capacity < INT_MAX) return {};
  return fail(EINVAL, "%s: requests and replies must be below 2 GiB", client->name);
}

// Of a call that has no text of its own.
int told(int result, const char* call) {
  if (result == -ENOTCONN) return code(fail(ENOTCONN, "%s: MPI_Finalize has ended it", call));
  return result < 0 ? code(fail(-result, "%s: invalid argument", call)) : result;
}

}  // namespace

extern "C" {

int cairn_transport_join(int communicator, const cairn_node* node,
                         const cairn_transport_client* client, cairn_transport** transport) {
  if (const cairn::Status known = check_client(client); !known.ok()) return code(known);
  const cairn::mpi::LoadedMpi& mpi = cairn::mpi::find_mpi();
  if (mpi.handle == nullptr)
    return code(fail(ENOPKG, "%s: this process has loaded no MPI that Cairn knows", client->name));
  if (mpi.abi == nullptr)
    return code(fail(ENOPKG, "%s: Cairn does not know this MPI: %s", client->name, mpi.says));
  int error = 0;
  std::string why;
  const Module* module = cairn::mpi::load_transport(mpi, &error, &why);
  if (module == nullptr) return code(fail(error, "%s: %s", client->name, why.c_str()));
  char text[256] = "";
  const int result = module->join(communicator, node, client, transport, text, sizeof text);
  return result < 0 ? code(fail(-result, "%s: %s", client->name, text)) : result;
}

int cairn_transport_leave(cairn_transport* transport) {
  const int result = module_of(transport).leave(transport);
  return result == -ENOTCONN ? 0 : result;
}

int cairn_transport_describe(const cairn_transport* transport, cairn_transport_info* info) {
  return told(module_of(transport).describe(transport, info), "cairn_transport_describe");
}

int cairn_transport_node(const cairn_transport* transport, uint32_t number, cairn_node* node) {
  return told(module_of(transport).node(transport, number, node), "cairn_transport_node");
}

int cairn_transport_node_of(const cairn_transport* transport, uint32_t rank) {
  return told(module_of(transport).node_of(transport, rank), "cairn_transport_node_of");
}

int cairn_transport_ranks_of(const cairn_transport* transport, uint32_t number, uint32_t* ranks,
                             uint32_t capacity) {
  return told(module_of(transport).ranks_of(transport, number, ranks, capacity),
              "cairn_transport_ranks_of");
}

int cairn_transport_ask(cairn_transport* transport, cairn_question* questions, size_t count) {
  return told(module_of(transport).ask(transport, questions, count), "cairn_transport_ask");
}

int cairn_transport_progress(cairn_transport* transport) {
  return told(module_of(transport).progress(transport), "cairn_transport_progress");
}

int cairn_transport_meet(cairn_transport* transport) {
  return told(module_of(transport).meet(transport), "cairn_transport_meet");
}

int cairn_transport_broadcast(cairn_transport* transport, void* bytes, size_t size, uint32_t root) {
  return told(module_of(transport).broadcast(transport, bytes, size, root),
              "cairn_transport_broadcast");
}

int cairn_transport_maximum(cairn_transport* transport, int64_t* values, uint32_t count) {
  return told(module_of(transport).maximum(transport, values, count), "cairn_transport_maximum");
}

int cairn_transport_gather_nodes(cairn_transport* transport, const void* bytes, size_t size,
                                 void* all) {
  return told(module_of(transport).gather_nodes(transport, bytes, size, all),
              "cairn_transport_gather_nodes");
}

int cairn_transport_begin_gather(cairn_transport* transport, uint32_t channel, const void* bytes,
                                 size_t size, void* all) {
  constexpr const char* call = "cairn_transport_begin_gather";
  const int result = module_of(transport).begin_gather(transport, channel, bytes, size, all);
  if (result == -EPERM) return code(fail(EPERM, "%s: this rank is not its node's leader", call));
  if (result == -EBUSY)
    return code(fail(EBUSY, "%s: channel %u: its last gather is not complete", call, channel));
  return told(result, call);
}

int cairn_transport_test_gather(cairn_transport* transport, uint32_t channel) {
  constexpr const char* call = "cairn_transport_test_gather";
  const int result = module_of(transport).test_gather(transport, channel);
  if (result == -EPERM) return code(fail(EPERM, "%s: this rank is not its node's leader", call));
  return told(result, call);
}

}  // extern "C"
