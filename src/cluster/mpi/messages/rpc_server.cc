#include "cluster/mpi/messages/rpc_server.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <ctime>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "cluster/mpi/messages/waiting.h"

namespace cairn::mpi {
namespace {

// A reply on its way: its receiver may be slow, and others must not wait for that.
struct Reply {
  std::unique_ptr<char[]> bytes;
  MPI_Request request = MPI_REQUEST_NULL;
};
constexpr size_t most_replies = 16;
// Questions after processes come to every server, whatever its client asks.
constexpr size_t least_capacity = 4096;

class Server {
 public:
  explicit Server(const Peers& peers)
      : peers_(peers),
        message_(sizeof(Envelope) + std::max(peers.client.request_capacity, least_capacity)) {}
  ~Server() {
    for (Reply& reply : replies_) PMPI_Wait(&reply.request, MPI_STATUS_IGNORE);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Answers a request, if there is one.
  bool step() {
    int arrived = 0;
    MPI_Message request = MPI_MESSAGE_NULL;
    MPI_Status status;
    PMPI_Improbe(MPI_ANY_SOURCE, request_tag, peers_.comm, &arrived, &request, &status);
    if (arrived == 0) return false;
    int size = 0;
    PMPI_Get_count(&status, MPI_BYTE, &size);
    MPI_Request receiving = MPI_REQUEST_NULL;
    PMPI_Imrecv(message_.data(), size, MPI_BYTE, &request, &receiving);
    // A long one comes in parts.
    for (int received = 0;
         PMPI_Test(&receiving, &received, MPI_STATUS_IGNORE) == MPI_SUCCESS && received == 0;)
      give_way();
    answer(status.MPI_SOURCE, static_cast<size_t>(size));
    return true;
  }

  [[nodiscard]] bool serves(const Peers& peers) const { return &peers_ == &peers; }
  // Replies are still on their way.
  [[nodiscard]] bool is_sending() {
    return !std::all_of(replies_.begin(), replies_.end(), is_free);
  }

 private:
  void answer(int source, size_t size) {
    Envelope envelope;
    std::memcpy(&envelope, message_.data(), sizeof envelope);
    Reply& reply = free_reply();
    const char* asked = message_.data() + sizeof envelope;
    size -= sizeof envelope;
    size_t bytes = 0;
    if (envelope.kind == Envelope::Kind::processes)
      bytes = states_of(asked, std::min(size / sizeof(int32_t), least_capacity), reply.bytes.get());
    else if (peers_.client.serve != nullptr)
      bytes = peers_.client.serve(peers_.client.context, asked, size, reply.bytes.get());
    PMPI_Isend(reply.bytes.get(), static_cast<int>(bytes), MPI_BYTE, source, envelope.tag,
               peers_.comm, &reply.request);
  }

  size_t states_of(const char* ranks, size_t count, char* states) const {
    for (size_t i = 0; i < count; ++i) {
      int32_t rank = 0;
      std::memcpy(&rank, ranks + i * sizeof rank, sizeof rank);
      states[i] = peers_.processes.state_of(rank);
    }
    return count;
  }

  Reply& free_reply() {
    while (true) {
      for (Reply& reply : replies_)
        if (is_free(reply)) return reply;
      if (replies_.size() < most_replies) {
        const size_t capacity = std::max(peers_.client.reply_capacity, least_capacity);
        replies_.push_back({std::unique_ptr<char[]>(new char[capacity]), MPI_REQUEST_NULL});
        return replies_.back();
      }
      give_way();
    }
  }

  static bool is_free(Reply& reply) {
    int sent = 0;
    PMPI_Test(&reply.request, &sent, MPI_STATUS_IGNORE);
    return sent != 0;
  }

  const Peers& peers_;
  std::vector<char> message_;
  std::vector<Reply> replies_;
};

using Servers = std::vector<std::unique_ptr<Server>>;
std::mutex guard;  // the thread holds it while it answers
Servers in_thread;
// Of sessions that answer in their calls, and of those in MPI_Finalize.
Servers without_thread;
// A thread answers for them. Others pass by meanwhile, and so does an answer that asks in turn.
std::atomic_flag answers = ATOMIC_FLAG_INIT;

class Answering {
 public:
  Answering() {
    while (answers.test_and_set(std::memory_order_acquire)) give_way();
  }
  ~Answering() { answers.clear(std::memory_order_release); }
  Answering(const Answering&) = delete;
  Answering& operator=(const Answering&) = delete;
};
pthread_t thread;
bool has_thread = false;
std::atomic<bool> stopping{false};

// After a request the next one soon follows; an idle job keeps its processor.
void rest(bool sending, uint64_t idle_ns) {
  constexpr uint64_t alert_ns = 1'000'000;
  constexpr uint64_t shortest_ns = 50'000;
  constexpr uint64_t longest_ns = 2'000'000;
  constexpr uint64_t share = 64;  // of the time without requests that the next one may wait
  if (sending || idle_ns < alert_ns) {
    give_way();
    return;
  }
  const timespec pause = {0,
                          static_cast<long>(std::clamp(idle_ns / share, shortest_ns, longest_ns))};
  nanosleep(&pause, nullptr);
}

void* run(void*) {
  uint64_t busy_ns = 0;
  while (!stopping.load(std::memory_order_relaxed)) {
    bool answered = false;
    bool sending = false;
    {
      const std::lock_guard lock(guard);
      for (const auto& server : in_thread) {
        answered = server->step() || answered;
        sending = server->is_sending() || sending;
      }
    }
    if (answered)
      busy_ns = now_ns();
    else
      rest(sending, now_ns() - busy_ns);
  }
  return nullptr;
}

// Signals are for the program's own threads.
bool start_thread() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  stopping = false;
  has_thread = pthread_create(&thread, nullptr, run, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (has_thread) pthread_setname_np(thread, "cairn-mpi");
  return has_thread;
}

std::unique_ptr<Server> take_from(Servers* servers, const Peers& peers) {
  const auto found = std::find_if(servers->begin(), servers->end(),
                                  [&](const auto& server) { return server->serves(peers); });
  if (found == servers->end()) return nullptr;
  std::unique_ptr<Server> server = std::move(*found);
  servers->erase(found);
  return server;
}

}  // namespace

bool start_server(const Peers& peers) {
  const std::lock_guard lock(guard);
  if (!has_thread && !start_thread()) return false;
  in_thread.push_back(std::make_unique<Server>(peers));
  return true;
}

void serve_in_calls(const Peers& peers) {
  const Answering alone;
  without_thread.push_back(std::make_unique<Server>(peers));
}

void stop_server_thread(const Peers& peers) {
  std::unique_ptr<Server> server;
  bool last = false;
  {
    const std::lock_guard lock(guard);
    server = take_from(&in_thread, peers);
    last = has_thread && in_thread.empty();
  }
  if (server != nullptr) {
    const Answering alone;
    without_thread.push_back(std::move(server));
  }
  if (!last) return;
  stopping = true;
  pthread_join(thread, nullptr);
  has_thread = false;
}

void answer_questions() {
  if (answers.test_and_set(std::memory_order_acquire)) return;
  for (const auto& server : without_thread)
    while (server->step()) {
    }
  answers.clear(std::memory_order_release);
}

void end_server(const Peers& peers) {
  {
    const Answering alone;
    if (take_from(&without_thread, peers) != nullptr) return;
  }
  const std::lock_guard lock(guard);
  take_from(&in_thread, peers);
}

}  // namespace cairn::mpi
