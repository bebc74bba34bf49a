#include "mpiio/backend/session.h"

#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <mutex>

#include "mpiio/backend/added_time.h"
#include "mpiio/backend/file.h"
#include "cluster/mpi/launcher.h"
#include "cluster/mpi/bootstrap.h"
#include "cluster/mpi/rpc_client.h"
#include "cluster/mpi/rpc_server.h"
#include "cluster/mpi/uncovered_ranks.h"
#include "cluster/mpi/collectives.h"
#include "cluster/mpi/waiting.h"

namespace mpiio::session {
namespace {

struct Session {
  Servers servers;
  Meeting meeting;
  int64_t number = 0;   // the same in all processes of the job, and in no others
  std::string refused;  // "": its files are served
};
// Used until the very end.
Session* current = nullptr;
bool finalizing = false;

// A barrier in which questions are answered.
void meet(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Ibarrier(comm, &request);
  for (int done = 0; PMPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0;) {
    answer_questions();
    give_way();
  }
}

std::string awaited_ranks(void*) {
  return "the other ranks in MPI_Init; each must run under `cairn run` (mpirun ... cairn run ... "
         "program)";
}

// Not the blocking call: ranks that run without us never come.
MPI_Comm copy_of_world() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
  Patience patience(awaited_ranks, nullptr);
  for (int done = 0; PMPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0;)
    patience.pause();
  return comm;
}

// Never 0, which is that of a process without a session.
int64_t random_number(MPI_Comm comm) {
  int64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number)
    number = static_cast<int64_t>(now_ns());
  number = (number & INT64_MAX) | 1;
  PMPI_Bcast(&number, 1, MPI_INT64_T, 0, comm);
  return number;
}

// Of what nodes have in their pools when the job begins: the same number on all nodes, or not.
struct Names {
  int64_t least = INT64_MAX;  // of processes that say nothing
  int64_t negative = INT64_MAX;
};

// "" or why this process cannot take part.
std::string join(Servers* servers, Names* names) {
  const posix::LentShared& calls = host->engine->shared;
  const Roster& roster = servers->roster;
  const int opened =
      calls.job_open(host->engine->pool(), host->engine->directory(), roster.nodes(),
                     roster.count(), servers->own, ask, still_waiting, servers, &servers->job);
  if (opened < 0) return host->engine->last_error();
  if (roster.leader(servers->own) != servers->rank) return "";
  // What stays behind is found by the next job.
  calls.job_clean(servers->job);
  const int64_t number = calls.job_gather_names(servers->job);
  if (number < 0) return host->engine->last_error();
  *names = {number, -number};
  return start_server(*servers) ? "" : "the system gives no thread";
}

// Each node tells the others which names it has in its pool, before anybody uses one.
void share_names(const Servers& servers) {
  const bool tells = servers.roster.leader(servers.own) == servers.rank;
  if (tells && host->engine->shared.job_tell_names(servers.job) < 0)
    host->engine->warning(host->engine->last_error());
  meet(servers.comm);
}

// What an earlier job has left in the pools of hosts that this one does not have. Of a job on one host `cairn run` has told.
void tell_of_missing(const Roster& roster) {
  cairn_pool* pool = host->engine->pool();
  if (pool == nullptr) return;
  const auto visit = [](void* context, const cairn_cover_other* other) {
    const auto& known = *static_cast<const Roster*>(context);
    if (known.number_of(other->uuid) != known.count()) return;
    const std::string directory = host->engine->directory();
    host->engine->warning(
        (directory + ": node " + other->host + " (pool " + other->pool +
         ") may hold files of an earlier job, and is not part of this one: they are "
         "missing here. Start it on that node too, or run `cairn drain " +
         directory + "` there")
            .c_str());
  };
  host->engine->others(pool, host->engine->directory(), visit, const_cast<Roster*>(&roster));
}

// When MPI_Finalize frees MPI_COMM_SELF, after all that others have attached to it, such as HDF5's end, which closes
// files.
int end(MPI_Comm, int, void*, void*) {
  const AddedTime added(Added::finalize);
  Servers& servers = current->servers;
  meet(servers.comm);
  end_server();
  if (servers.job != nullptr) host->engine->shared.job_close(servers.job);
  servers.job = nullptr;
  PMPI_Comm_free(&servers.comm);
  return MPI_SUCCESS;
}

void end_with_mpi() {
  int key = MPI_KEYVAL_INVALID;
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end, &key, nullptr);
  PMPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  PMPI_Comm_free_keyval(&key);
}

Card own_card(int rank) {
  Card card = card_of_process(rank);
  cairn_pool* pool = host->engine->pool();
  cairn_node node;
  if (pool != nullptr && host->engine->shared.node_describe(pool, &node) == 0) {
    card.node = node;
    card.attached = 1;
  }
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  card.threads = level == MPI_THREAD_MULTIPLE ? 1 : 0;
  return card;
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

bool is_needed() { return may_span_hosts() && !strangers::are_on_other_hosts(); }

void begin() {
  const AddedTime added(Added::init);
  int ranks = 1;
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks == 1) return;

  auto* session = new Session;
  Servers& servers = session->servers;
  servers.comm = copy_of_world();
  PMPI_Comm_rank(servers.comm, &servers.rank);
  const Card card = own_card(servers.rank);
  hold_meeting(servers.comm, card, &session->meeting);
  if (session->meeting.one_node) {
    PMPI_Comm_free(&servers.comm);
    delete session;
    return;
  }

  current = session;
  session->number = random_number(servers.comm);
  session->refused = session->meeting.refused;
  if (session->refused.empty()) {
    const HostCopy& local = session->meeting.local;
    servers.roster = Roster(session->meeting.roster.data());
    servers.own = servers.roster.number_of(card.node.uuid);
    servers.processes = Processes(reinterpret_cast<const LocalProcess*>(local.data()),
                                  local.size() / sizeof(LocalProcess));
    Names names;
    const std::string failed = join(&servers, &names);
    int64_t agreed[] = {failed.empty() ? 1 : 0, names.least, names.negative};
    PMPI_Allreduce(MPI_IN_PLACE, agreed, 3, MPI_INT64_T, MPI_MIN, servers.comm);
    servers.answering = agreed[0] != 0;
    if (servers.answering && agreed[1] != -agreed[2]) share_names(servers);
    if (servers.answering && servers.rank == 0) tell_of_missing(servers.roster);
    if (servers.answering)
      host->engine->set_job(servers.job);
    else
      session->refused = failed.empty() ? "another rank could not join the job" : failed;
  }
  end_with_mpi();
}

void finalize() {
  if (current == nullptr) return;
  const AddedTime added(Added::finalize);
  if (current->servers.answering) host->engine->flush_unwritten();
  // Calls by name are answered by the pool alone from here on.
  host->engine->set_job(nullptr);
  // Before that others may still ask.
  if (current->servers.answering)
    together::barrier(current->servers.comm, "waiting for all in MPI_Finalize");
  // Who asked in that barrier after those that had not come has his answer when he is here.
  meet(current->servers.comm);
  current->servers.answering = false;
  stop_server_thread();
  finalizing = true;
}

void meet_in_finalize(MPI_Comm comm) {
  if (finalizing) meet(comm);
}

Reach reach(std::string* why) {
  if (current == nullptr) return Reach::node;
  *why = current->refused;
  return why->empty() ? Reach::nodes : Reach::refused;
}

int64_t number() { return current == nullptr ? 0 : current->number; }

cairn_job* job() {
  return current == nullptr || !current->refused.empty() ? nullptr : current->servers.job;
}

const Servers* servers() { return job() == nullptr ? nullptr : &current->servers; }

cairn_job* own_job(int* error) {
  static std::mutex opening;
  static cairn_job* own = nullptr;
  const std::lock_guard guard(opening);
  if (own != nullptr) return own;
  static cairn_node node;  // the job's, for as long as it is open
  cairn_pool* pool = host->engine->pool();
  *error = pool == nullptr ? -EIO : host->engine->shared.node_describe(pool, &node);
  if (*error == 0)
    *error = host->engine->shared.job_open(pool, host->engine->directory(), &node, 1, 0, nullptr,
                                           nullptr, nullptr, &own);
  return own;
}

}  // namespace mpiio::session
