#include "mpiio/backend/server.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <memory>

#include "mpiio/backend/file.h"
#include "mpiio/backend/waiting.h"

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
        capacity_(sizeof(Envelope) + host->engine->shared.job_request_capacity()),
        message_(new char[capacity_]),
        next_message_(new char[capacity_]) {}

  void run() {
    receive();
    while (true) {
      int arrived = 0;
      MPI_Status status;
      PMPI_Test(&request_, &arrived, &status);
      if (arrived == 0) {
        rest();
        continue;
      }
      int size = 0;
      PMPI_Get_count(&status, MPI_BYTE, &size);
      if (size == 0) break;  // stop_server
      std::swap(message_, next_message_);
      receive();
      answer(status.MPI_SOURCE, static_cast<size_t>(size));
      busy_ns_ = now_ns();
      pause_ns_ = 0;
    }
    for (Reply& reply : replies_) PMPI_Wait(&reply.request, MPI_STATUS_IGNORE);
  }

 private:
  void receive() {
    PMPI_Irecv(next_message_.get(), static_cast<int>(capacity_), MPI_BYTE, MPI_ANY_SOURCE,
               request_tag, servers_.comm, &request_);
  }

  void answer(int source, size_t size) {
    Envelope envelope;
    std::memcpy(&envelope, message_.get(), sizeof envelope);
    Reply& reply = free_reply();
    const size_t bytes = host->engine->shared.job_serve(
        servers_.job, message_.get() + sizeof envelope, size - sizeof envelope, reply.bytes.get());
    PMPI_Isend(reply.bytes.get(), static_cast<int>(bytes), MPI_BYTE, source, envelope.tag,
               servers_.comm, &reply.request);
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
      sched_yield();
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
    constexpr uint64_t longest_ns = 1'000'000;
    const bool sending = !std::all_of(replies_.begin(), replies_.end(), is_free);
    if (sending || now_ns() - busy_ns_ < alert_ns) {
      sched_yield();
      return;
    }
    pause_ns_ = std::clamp(pause_ns_ * 2, shortest_ns, longest_ns);
    const timespec pause = {0, static_cast<long>(pause_ns_)};
    nanosleep(&pause, nullptr);
  }

  const Servers& servers_;
  const size_t capacity_;
  std::unique_ptr<char[]> message_;       // that is being answered
  std::unique_ptr<char[]> next_message_;  // that is being received
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::vector<Reply> replies_;
  uint64_t busy_ns_ = 0;
  uint64_t pause_ns_ = 0;
};

pthread_t thread;
const Servers* served = nullptr;  // null: there is no thread

void* run(void* servers) {
  Server(*static_cast<const Servers*>(servers)).run();
  return nullptr;
}

}  // namespace

bool start_server(const Servers& servers) {
  // Signals are for the program's own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = pthread_create(&thread, nullptr, run, const_cast<Servers*>(&servers)) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started) return false;
  pthread_setname_np(thread, "cairn-mpiio");
  served = &servers;
  return true;
}

void stop_server() {
  if (served == nullptr) return;
  PMPI_Send(nullptr, 0, MPI_BYTE, served->rank, request_tag, served->comm);
  pthread_join(thread, nullptr);
  served = nullptr;
}

}  // namespace mpiio
