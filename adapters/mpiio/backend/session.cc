#include "mpiio/backend/session.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <vector>

#include "mpiio/backend/added_time.h"
#include "mpiio/backend/file.h"
#include "mpiio/backend/launcher.h"
#include "mpiio/backend/questions.h"
#include "mpiio/backend/server.h"
#include "mpiio/backend/waiting.h"

namespace mpiio::session {
namespace {

struct Session {
  Servers servers;
  MPI_Group group = MPI_GROUP_NULL;  // all processes of the job
  std::string refused;               // "": its files are served
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
    sched_yield();
  }
}

// What every process shows first.
struct Card {
  uint8_t pool[16];
  char host[sizeof(cairn_node::host)];
  int attached;
  int threads;
  friend bool operator==(const Card& a, const Card& b) {
    return std::memcmp(a.pool, b.pool, sizeof a.pool) == 0;
  }
};

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

std::string why_not(const std::vector<Card>& cards) {
  for (const Card& card : cards) {
    if (card.attached == 0)
      return std::string("host ") + card.host +
             " has no pool: start it as mpirun ... cairn run ... program";
    if (card.threads == 0)
      return "this MPI gives no MPI_THREAD_MULTIPLE, which files on several hosts need";
  }
  return "";
}

// Nodes by their first ranks.
void number_nodes(Servers* servers, const std::vector<cairn_node>& all, uint32_t* own) {
  for (size_t rank = 0; rank < all.size(); ++rank) {
    const auto same = [&](const cairn_node& node) {
      return std::memcmp(node.uuid, all[rank].uuid, sizeof node.uuid) == 0;
    };
    const auto known = std::find_if(servers->nodes.begin(), servers->nodes.end(), same);
    if (static_cast<int>(rank) == servers->rank)
      *own = static_cast<uint32_t>(known - servers->nodes.begin());
    if (known != servers->nodes.end()) continue;
    servers->nodes.push_back(all[rank]);
    servers->leaders.push_back(static_cast<int>(rank));
  }
}

// "" or why this process cannot take part.
std::string join(Servers* servers, uint32_t own) {
  const posix::LentShared& calls = host->engine->shared;
  const auto count = static_cast<uint32_t>(servers->nodes.size());
  const int opened = calls.job_open(host->engine->pool(), host->engine->directory(),
                                    servers->nodes.data(), count, own, ask, servers, &servers->job);
  if (opened < 0) return host->engine->last_error();
  if (servers->leaders[own] != servers->rank) return "";
  // What stays behind is found by the next job.
  calls.job_clean(servers->job);
  return start_server(*servers) ? "" : "the system gives no thread";
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
  PMPI_Group_free(&current->group);
  PMPI_Comm_free(&servers.comm);
  return MPI_SUCCESS;
}

void end_with_mpi() {
  int key = MPI_KEYVAL_INVALID;
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end, &key, nullptr);
  PMPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  PMPI_Comm_free_keyval(&key);
}

Card own_card(cairn_node* node) {
  cairn_pool* pool = host->engine->pool();
  *node = {};
  Card card = {};
  card.attached = pool != nullptr && host->engine->shared.node_describe(pool, node) == 0 ? 1 : 0;
  if (card.attached == 0) ::gethostname(node->host, sizeof node->host - 1);
  std::memcpy(card.pool, node->uuid, sizeof card.pool);
  std::memcpy(card.host, node->host, sizeof card.host);
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  card.threads = level == MPI_THREAD_MULTIPLE ? 1 : 0;
  return card;
}

// Alone on a node, without pool or with it: nothing is different then.
bool on_one_node(const std::vector<Card>& cards) {
  return std::all_of(cards.begin(), cards.end(), [&](const Card& card) {
    return card == cards[0] && std::strcmp(card.host, cards[0].host) == 0;
  });
}

}  // namespace

bool is_needed() { return may_span_hosts(); }

void begin() {
  const AddedTime added(Added::init);
  int ranks = 1;
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks == 1) return;

  auto* session = new Session;
  Servers& servers = session->servers;
  servers.comm = copy_of_world();
  PMPI_Comm_rank(servers.comm, &servers.rank);
  cairn_node node;
  const Card card = own_card(&node);
  std::vector<Card> cards(static_cast<size_t>(ranks));
  PMPI_Allgather(&card, sizeof card, MPI_BYTE, cards.data(), sizeof card, MPI_BYTE, servers.comm);
  if (on_one_node(cards)) {
    PMPI_Comm_free(&servers.comm);
    delete session;
    return;
  }

  current = session;
  PMPI_Comm_group(servers.comm, &session->group);
  session->refused = why_not(cards);
  if (session->refused.empty()) {
    std::vector<cairn_node> all(cards.size());
    PMPI_Allgather(&node, sizeof node, MPI_BYTE, all.data(), sizeof node, MPI_BYTE, servers.comm);
    uint32_t own = 0;
    number_nodes(&servers, all, &own);
    const std::string failed = join(&servers, own);
    int joined = failed.empty() ? 1 : 0;
    PMPI_Allreduce(MPI_IN_PLACE, &joined, 1, MPI_INT, MPI_MIN, servers.comm);
    if (joined == 0)
      session->refused = failed.empty() ? "another rank could not join the job" : failed;
    else
      host->engine->set_job(servers.job);
  }
  end_with_mpi();
}

void finalize() {
  if (current == nullptr) return;
  const AddedTime added(Added::finalize);
  // Calls by name are answered by the pool alone from here on.
  host->engine->set_job(nullptr);
  // Before that others may still ask.
  meet(current->servers.comm);
  stop_server_thread();
  finalizing = true;
}

void meet_in_finalize(MPI_Comm comm) {
  if (finalizing) meet(comm);
}

Reach reach_of(MPI_Comm comm, std::string* why) {
  if (current == nullptr) return Reach::node;
  *why = current->refused;
  if (!why->empty()) return Reach::refused;
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Comm_group(comm, &group);
  int size = 0;
  PMPI_Group_size(group, &size);
  std::vector<int> ranks(static_cast<size_t>(size));
  std::vector<int> in_job(ranks.size());
  for (size_t i = 0; i < ranks.size(); ++i) ranks[i] = static_cast<int>(i);
  PMPI_Group_translate_ranks(group, size, ranks.data(), current->group, in_job.data());
  PMPI_Group_free(&group);
  if (std::find(in_job.begin(), in_job.end(), MPI_UNDEFINED) != in_job.end()) {
    *why = "it is opened together with processes that were not in MPI_COMM_WORLD at MPI_Init";
    return Reach::refused;
  }
  return Reach::nodes;
}

cairn_job* job() {
  return current == nullptr || !current->refused.empty() ? nullptr : current->servers.job;
}

cairn_job* own_job(int* error) {
  static std::mutex opening;
  static cairn_job* own = nullptr;
  const std::lock_guard guard(opening);
  if (own != nullptr) return own;
  cairn_pool* pool = host->engine->pool();
  cairn_node node;
  *error = pool == nullptr ? -EIO : host->engine->shared.node_describe(pool, &node);
  if (*error == 0)
    *error = host->engine->shared.job_open(pool, host->engine->directory(), &node, 1, 0, nullptr,
                                           nullptr, &own);
  return own;
}

}  // namespace mpiio::session
