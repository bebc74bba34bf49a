#include "cluster/mpi/session/transport.h"

#include <algorithm>
#include <cerrno>
#include <vector>

#include "cluster/mpi/messages/collectives.h"
#include "cluster/mpi/messages/waiting.h"

namespace cairn::mpi {
namespace {

SessionClient client_of(const cairn_transport_client& from) {
  SessionClient client;
  client.name = from.name;
  client.serve = from.serve;
  client.context = from.context;
  client.request_capacity = from.request_capacity;
  client.reply_capacity = from.reply_capacity;
  client.on_one_node = true;
  client.in_thread = (from.flags & CAIRN_TRANSPORT_THREAD) != 0;
  return client;
}

// Joined, and neither left nor ended by MPI_Finalize; in order of joining, which is the same on all
// ranks.
std::vector<Transport*> alive;

constexpr const char* gathering = "gathering what the nodes tell";

bool allows_threads() {
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

}  // namespace

int Transport::join(MPI_Comm comm, const cairn_node* node, const cairn_transport_client& client,
                    std::unique_ptr<Transport>* joined, std::string* why) {
  std::unique_ptr<Transport> transport(new Transport);
  const auto describe = [node](MPI_Comm copy) {
    Card card = describe_process(copy, node);
    card.threads = 1;  // a transport works without, too
    return card;
  };
  transport->session_ = Session::begin(comm, client_of(client), describe);
  Session& session = *transport->session_;
  if (*why = session.refused(); !why->empty()) return ENODEV;
  int64_t threads = (client.flags & CAIRN_TRANSPORT_THREAD) != 0 && allows_threads() ? 1 : 0;
  session.agree(&threads, 1);
  transport->has_thread_ = threads != 0;
  int64_t serves = 1;
  if (session.is_leader() && threads != 0)
    serves = session.start_server() ? 1 : 0;
  else if (session.is_leader())
    session.serve_in_calls();
  session.agree(&serves, 1);
  if (serves == 0) {
    session.stop_thread();
    *why = std::string(client.name) + ": a node's leader gets no thread to answer in";
    return EAGAIN;
  }
  if (threads != 0) session.set_answering();
  transport->split();
  session.end_with_mpi(end, transport.get());
  alive.push_back(transport.get());
  *joined = std::move(transport);
  return 0;
}

void Transport::split() {
  const Peers& all = peers();
  const bool leads = session_->is_leader();
  PMPI_Comm_split(all.comm, static_cast<int>(all.own), all.rank, &node_);
  PMPI_Comm_split(all.comm, leads ? 0 : MPI_UNDEFINED, static_cast<int>(all.own), &leaders_);
  for (Channel& channel : channels_)
    if (leads) PMPI_Comm_dup(leaders_, &channel.comm);
}

void Transport::end(void* context) {
  auto* transport = static_cast<Transport*>(context);
  PMPI_Comm_free(&transport->node_);
  for (Channel& channel : transport->channels_)
    if (channel.comm != MPI_COMM_NULL) PMPI_Comm_free(&channel.comm);
  if (transport->leaders_ != MPI_COMM_NULL) PMPI_Comm_free(&transport->leaders_);
  transport->over_ = true;
  alive.erase(std::find(alive.begin(), alive.end(), transport));
}

cairn_transport_info Transport::describe() const {
  const Peers& all = peers();
  int ranks = 1;
  PMPI_Comm_size(all.comm, &ranks);
  return {static_cast<uint32_t>(all.rank),
          static_cast<uint32_t>(ranks),
          all.own,
          all.roster.count(),
          session_->is_leader() ? 1 : 0,
          has_thread_ ? 1 : 0,
          session_->number()};
}

void Transport::leave() {
  stop_thread();
  session_->end_early();
}

void Transport::stop_thread() {
  if (has_thread_) session_->stop_thread();
  has_thread_ = false;
}

void stop_threads_of_transports() {
  for (Transport* transport : alive) transport->stop_thread();
}

void Transport::meet() { barrier({&peers(), peers().comm}, "waiting for all ranks"); }

void Transport::broadcast(void* bytes, size_t size, int root) {
  mpi::broadcast({&peers(), peers().comm}, bytes, size, root, "hearing what a rank tells");
}

void Transport::maximum(int64_t* values, int count) {
  mpi::maximum({&peers(), peers().comm}, values, count, "comparing with all ranks");
}

void Transport::gather_nodes(const void* bytes, size_t size, void* all) {
  if (leaders_ != MPI_COMM_NULL) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int count = static_cast<int>(size);
    const int begun =
        PMPI_Iallgather(bytes, count, MPI_BYTE, all, count, MPI_BYTE, leaders_, &request);
    wait(begun, {&peers(), leaders_}, &request, gathering);
  }
  mpi::broadcast({&peers(), node_}, all, size * peers().roster.count(), 0, gathering);
}

int Transport::begin_gather(uint32_t channel, const void* bytes, size_t size, void* all) {
  if (!is_leader()) return EPERM;
  Channel& one = channels_[channel];
  if (one.request != MPI_REQUEST_NULL) return EBUSY;
  const int count = static_cast<int>(size);
  must_succeed(
      PMPI_Iallgather(bytes, count, MPI_BYTE, all, count, MPI_BYTE, one.comm, &one.request),
      gathering);
  return 0;
}

bool Transport::test_gather(uint32_t channel) {
  int done = 0;
  must_succeed(PMPI_Test(&channels_[channel].request, &done, MPI_STATUS_IGNORE), gathering);
  return done != 0;
}

}  // namespace cairn::mpi
