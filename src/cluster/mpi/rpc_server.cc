#include "cluster/mpi/rpc_server.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <ctime>
#include <memory>

#include "mpiio/backend/file.h"
#include "cluster/mpi/waiting.h"

namespace mpiio {
namespace {

// A reply on its way: who gets it may be slow, and others must not wait for that.
struct Reply {
  std::unique_ptr<char[]> bytes;
  MPI_Request request = MPI_REQUEST_NULL;
};
constexpr size_t most_replies = 16;

class Server {
 public:
  explicit Server(const Servers& servers)
      : servers_(servers),
        message_(sizeof(Envelope) + host->engine->shared.job_request_capacity()) {}
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
    PMPI_Improbe(MPI_ANY_SOURCE, request_tag, servers_.comm, &arrived, &request, &status);
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

  void run() {
    while (!stopping_.load(std::memory_order_relaxed)) {
      if (!step()) {
        rest();
        continue;
      }
      busy_ns_ = now_ns();
    }
  }
  void stop() { stopping_.store(true, std::memory_order_relaxed); }

 private:
  void answer(int source, size_t size) {
    Envelope envelope;
    std::memcpy(&envelope, message_.data(), sizeof envelope);
    Reply& reply = free_reply();
    const char* asked = message_.data() + sizeof envelope;
    size -= sizeof envelope;
    const size_t bytes =
        envelope.kind == Envelope::Kind::processes
            ? states_of(asked, size / sizeof(int32_t), reply.bytes.get())
            : host->engine->shared.job_serve(servers_.job, asked, size, reply.bytes.get());
    PMPI_Isend(reply.bytes.get(), static_cast<int>(bytes), MPI_BYTE, source, envelope.tag,
               servers_.comm, &reply.request);
  }

  size_t states_of(const char* ranks, size_t count, char* states) const {
    for (size_t i = 0; i < count; ++i) {
      int32_t rank = 0;
      std::memcpy(&rank, ranks + i * sizeof rank, sizeof rank);
      states[i] = servers_.processes.state_of(rank);
    }
    return count;
  }

  Reply& free_reply() {
    while (true) {
      for (Reply& reply : replies_)
        if (is_free(reply)) return reply;
      if (replies_.size() < most_replies) {
        replies_.push_back(
            {std::unique_ptr<char[]>(new char[host->engine->shared.job_reply_capacity()]),
             MPI_REQUEST_NULL});
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

  // Soon after a request the next one comes; an idle job keeps its processor.
  void rest() {
    constexpr uint64_t alert_ns = 1'000'000;
    constexpr uint64_t shortest_ns = 50'000;
    constexpr uint64_t longest_ns = 2'000'000;
    constexpr uint64_t share = 64;  // of the time without requests that the next one may wait
    const uint64_t idle_ns = now_ns() - busy_ns_;
    const bool sending = !std::all_of(replies_.begin(), replies_.end(), is_free);
    if (sending || idle_ns < alert_ns) {
      give_way();
      return;
    }
    const timespec pause = {
        0, static_cast<long>(std::clamp(idle_ns / share, shortest_ns, longest_ns))};
    nanosleep(&pause, nullptr);
  }

  const Servers& servers_;
  std::vector<char> message_;
  std::vector<Reply> replies_;
  std::atomic<bool> stopping_{false};
  uint64_t busy_ns_ = 0;
};

Server* server = nullptr;
pthread_t thread;
bool has_thread = false;

void* run(void*) {
  server->run();
  return nullptr;
}

}  // namespace

bool start_server(const Servers& servers) {
  server = new Server(servers);
  // Signals are for the program's own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  has_thread = pthread_create(&thread, nullptr, run, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (has_thread) pthread_setname_np(thread, "cairn-mpiio");
  return has_thread;
}

void stop_server_thread() {
  if (!has_thread) return;
  server->stop();
  pthread_join(thread, nullptr);
  has_thread = false;
}

void answer_questions() {
  if (server != nullptr && !has_thread)
    while (server->step()) {
    }
}

void end_server() {
  delete server;
  server = nullptr;
}

}  // namespace mpiio
