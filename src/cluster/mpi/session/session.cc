#include "cluster/mpi/session/session.h"

#include <sys/random.h>

#include "cluster/mpi/messages/collectives.h"
#include "cluster/mpi/messages/rpc_server.h"
#include "cluster/mpi/messages/waiting.h"

namespace cairn::mpi {
namespace {

std::string awaited_ranks(void* client) {
  return static_cast<const SessionClient*>(client)->awaited;
}

// Never 0, the number of a process without a session.
int64_t random_number(MPI_Comm comm) {
  int64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number)
    number = static_cast<int64_t>(now_ns());
  number = (number & INT64_MAX) | 1;
  PMPI_Bcast(&number, 1, MPI_INT64_T, 0, comm);
  return number;
}

}  // namespace

bool has_world() {
  int is = 0;
  PMPI_Initialized(&is);
  return is != 0 && !had_world();
}

bool had_world() {
  int was = 0;
  PMPI_Finalized(&was);
  return was != 0;
}

Card describe_process(MPI_Comm comm, const cairn_node* node) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  Card card = card_of_process(rank);
  if (node != nullptr) {
    card.node = *node;
    card.attached = 1;
  }
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  card.threads = level == MPI_THREAD_MULTIPLE ? 1 : 0;
  return card;
}

// Not the blocking call: ranks that run without Cairn never come.
MPI_Comm Session::copy_of(MPI_Comm world, const SessionClient& client) {
  speak_for(client.name, 0);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Comm_idup(world, &comm, &request);
  SessionClient awaiting = client;
  TimedWait patience(awaited_ranks, &awaiting);
  for (int done = 0; PMPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0;) {
    answer_questions();  // of other sessions
    if (client.awaited != nullptr)
      patience.pause();
    else
      give_way();
  }
  return comm;
}

std::unique_ptr<Session> Session::begin_on(MPI_Comm comm, const SessionClient& client,
                                           const Card& card) {
  std::unique_ptr<Session> session(new Session);
  Peers& peers = session->peers_;
  Bootstrap& bootstrap = session->bootstrap_;
  peers.comm = comm;
  peers.rank = card.rank;
  peers.client = client;
  hold_bootstrap(comm, card, client.on_one_node, &bootstrap);
  if (bootstrap.one_node && !client.on_one_node) return nullptr;
  session->number_ = random_number(comm);
  speak_for(client.name, session->number_);
  session->refused_ = bootstrap.refused;
  if (!session->refused_.empty()) return session;
  peers.roster = Roster(bootstrap.roster.data());
  peers.own = peers.roster.number_of(card.node.uuid);
  peers.processes = Processes(reinterpret_cast<const LocalProcess*>(bootstrap.local.data()),
                              bootstrap.local.size() / sizeof(LocalProcess));
  return session;
}

Session::~Session() {
  end_server(peers_);
  if (peers_.comm != MPI_COMM_NULL) PMPI_Comm_free(&peers_.comm);
}

bool Session::is_leader() const { return peers_.roster.leader(peers_.own) == peers_.rank; }

bool Session::start_server() { return mpi::start_server(peers_); }

void Session::serve_in_calls() { mpi::serve_in_calls(peers_); }

int Session::ask(cairn_question* questions, size_t count) {
  return mpi::ask(&peers_, questions, count);
}

void Session::agree(int64_t* values, int count) {
  PMPI_Allreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, MPI_MIN, peers_.comm);
}

void Session::meet() { mpi::meet(peers_.comm); }

void Session::stop_thread() {
  // Before that others may still ask.
  if (peers_.answering) barrier({&peers_, peers_.comm}, "waiting for all in MPI_Finalize");
  // A rank that asked in that barrier after those that had not come has its answer when it is here.
  meet();
  peers_.answering = false;
  stop_server_thread(peers_);
}

int Session::end(MPI_Comm, int, void* attached, void*) {
  auto* session = static_cast<Session*>(attached);
  session->meet();
  stop_server_thread(session->peers_);
  if (session->before_end_ != nullptr) session->before_end_(session->before_end_context_);
  end_server(session->peers_);
  PMPI_Comm_free(&session->peers_.comm);
  return MPI_SUCCESS;
}

void Session::end_with_mpi(void (*before)(void*), void* context) {
  before_end_ = before;
  before_end_context_ = context;
  int key = MPI_KEYVAL_INVALID;
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end, &key, nullptr);
  PMPI_Comm_set_attr(MPI_COMM_SELF, key, this);
  key_ = key;
}

void Session::end_early() { PMPI_Comm_delete_attr(MPI_COMM_SELF, key_); }

}  // namespace cairn::mpi
