#include "mpiio/backend/job/session.h"

#include <cerrno>
#include <cstdint>
#include <memory>
#include <mutex>

#include "cluster/mpi/ranks/launcher.h"
#include "cluster/mpi/session/session.h"
#include "cluster/mpi/session/transport.h"
#include "cluster/mpi/session/uncovered_ranks.h"
#include "mpiio/backend/base/host_pointer.h"
#include "mpiio/backend/job/added_time.h"

namespace mpiio::session {
namespace {

// Used until the very end.
cairn::mpi::Session* current = nullptr;
cairn_job* joined = nullptr;
bool finalizing = false;

const engine::ApiTable& calls() { return *host->engine; }

size_t serve(void*, const void* request, size_t size, void* reply) {
  return calls().job_serve(joined, request, size, reply);
}

cairn::mpi::SessionClient client() {
  cairn::mpi::SessionClient client;
  client.name = "MPI-IO";
  client.awaited =
      "the other ranks in MPI_Init; each must run under `cairn run` (mpirun ... cairn run ... "
      "program)";
  client.serve = serve;
  client.request_capacity = calls().job_request_capacity();
  client.reply_capacity = calls().job_reply_capacity();
  client.is_in_handler = host->engine->is_in_handler;
  return client;
}

cairn::mpi::Card describe(MPI_Comm comm) {
  cairn_pool* pool = host->engine->attach();
  cairn_node node;
  const bool has = pool != nullptr && calls().node_describe(pool, &node) == 0;
  return cairn::mpi::describe_process(comm, has ? &node : nullptr);
}

// A number for the names that the nodes have in their pools when the job begins: the same on all
// nodes that have the same.
struct Names {
  int64_t least = INT64_MAX;  // of processes that say nothing
  int64_t negative = INT64_MAX;
};

// "" or why this process cannot take part.
std::string join(cairn::mpi::Session* session, Names* names) {
  const cairn::mpi::Peers& peers = session->peers();
  const cairn::mpi::Roster& roster = peers.roster;
  const int opened = calls().job_open(
      host->engine->attach(), host->paths->directory(), roster.nodes(), roster.count(), peers.own,
      cairn::mpi::ask, cairn::mpi::still_waiting, const_cast<cairn::mpi::Peers*>(&peers), &joined);
  if (opened < 0) return host->engine->last_error();
  if (!session->is_leader()) return "";
  // Parts that stay behind are found by the next job.
  calls().job_clean(joined);
  const int64_t number = calls().job_gather_names(joined);
  if (number < 0) return host->engine->last_error();
  *names = {number, -number};
  return session->start_server() ? "" : "the system cannot create a thread";
}

// Each node tells the others which names it has in its pool, before anybody uses one.
void share_names(cairn::mpi::Session* session) {
  if (session->is_leader() && calls().job_tell_names(joined) < 0)
    host->engine->log(engine::Level::kWarning, host->engine->last_error());
  session->meet();
}

// Warns of what an earlier job has left in the pools of hosts that this one does not have. Of a job
// on one host `cairn run` has told.
void tell_of_missing(const cairn::mpi::Roster& roster) {
  cairn_pool* pool = host->engine->attach();
  if (pool == nullptr) return;
  const auto visit = [](void* context, const cairn_cover_other* other) {
    const auto& known = *static_cast<const cairn::mpi::Roster*>(context);
    if (known.number_of(other->uuid) != known.count()) return;
    const std::string directory = host->paths->directory();
    host->engine->log(engine::Level::kWarning,
                      (directory + ": node " + other->host + " (pool " + other->pool +
                       ") may hold files of an earlier job, and is not part of this one: they are "
                       "missing here. Start it on that node too, or run `cairn drain " +
                       directory + "` there")
                          .c_str());
  };
  host->engine->cover_others(pool, host->paths->directory(), visit,
                             const_cast<cairn::mpi::Roster*>(&roster));
}

// When all are at the end of MPI_Finalize: HDF5, for one, closes its files in there.
void leave(void*) {
  const AddedTime added(Added::finalize);
  if (joined != nullptr) calls().job_close(joined);
  joined = nullptr;
}

}  // namespace

bool is_needed() { return cairn::mpi::may_span_hosts() && !cairn::mpi::are_on_other_hosts(); }

void begin() {
  const AddedTime added(Added::init);
  int ranks = 1;
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks == 1) return;
  std::unique_ptr<cairn::mpi::Session> session =
      cairn::mpi::Session::begin(MPI_COMM_WORLD, client(), describe);
  if (session == nullptr) return;
  if (session->refused().empty()) {
    Names names;
    const std::string failed = join(session.get(), &names);
    int64_t agreed[] = {failed.empty() ? 1 : 0, names.least, names.negative};
    session->agree(agreed, 3);
    if (agreed[0] != 0) {
      session->set_answering();
      if (agreed[1] != -agreed[2]) share_names(session.get());
      if (session->peers().rank == 0) tell_of_missing(session->peers().roster);
      host->paths->set_job(joined);
    } else {
      session->refuse(failed.empty() ? "another rank could not join the job" : failed);
    }
  }
  current = session.release();
  current->end_with_mpi(leave, nullptr);
}

void finalize() {
  cairn::mpi::stop_threads_of_transports();
  if (current == nullptr) return;
  const AddedTime added(Added::finalize);
  if (current->peers().answering) host->paths->flush_unwritten();
  // Calls by name are answered by the pool alone from here on.
  host->paths->set_job(nullptr);
  current->stop_thread();
  finalizing = true;
}

void meet_in_finalize(MPI_Comm comm) {
  if (finalizing) cairn::mpi::meet(comm);
}

Reach reach(std::string* why) {
  if (current == nullptr) return Reach::node;
  *why = current->refused();
  return why->empty() ? Reach::nodes : Reach::refused;
}

int64_t number() { return current == nullptr ? 0 : current->number(); }

cairn_job* job() { return current == nullptr || !current->refused().empty() ? nullptr : joined; }

cairn::mpi::Ranks ranks(MPI_Comm comm) {
  return {job() == nullptr ? nullptr : &current->peers(), comm};
}

cairn_job* own_job(int* error) {
  static std::mutex opening;
  static cairn_job* own = nullptr;
  const std::lock_guard guard(opening);
  if (own != nullptr) return own;
  static cairn_node node;  // the job's, for as long as it is open
  cairn_pool* pool = host->engine->attach();
  *error = pool == nullptr ? -EIO : calls().node_describe(pool, &node);
  if (*error == 0)
    *error = calls().job_open(pool, host->paths->directory(), &node, 1, 0, nullptr, nullptr,
                              nullptr, &own);
  return own;
}

}  // namespace mpiio::session
