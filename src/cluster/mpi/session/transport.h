// Transport is a session for a library that knows no MPI (cairn/adapter/transport.h).
#pragma once

#include <mpi.h>

#include <array>
#include <memory>
#include <string>

#include "cluster/mpi/loader/module.h"
#include "cluster/mpi/session/session.h"

namespace cairn::mpi {

// Collective, before MPI_Finalize where Cairn sees that call: from now on no transport of this
// process has a thread.
void stop_threads_of_transports();

// What a cairn_transport points to.
class Transport : public TransportHead {
 public:
  // Collective over `comm`. A positive errno, and `*why` says why.
  static int join(MPI_Comm comm, const cairn_node* node, const cairn_transport_client& client,
                  std::unique_ptr<Transport>* joined, std::string* why);
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // MPI_Finalize has ended it.
  [[nodiscard]] bool is_over() const { return over_; }
  [[nodiscard]] cairn_transport_info describe() const;
  [[nodiscard]] const Peers& peers() const { return session_->peers(); }
  // Collective: ends the session.
  void leave();
  int ask(cairn_question* questions, size_t count) { return session_->ask(questions, count); }
  void meet();
  void broadcast(void* bytes, size_t size, int root);
  void maximum(int64_t* values, int count);
  void gather_nodes(const void* bytes, size_t size, void* all);
  [[nodiscard]] bool is_leader() const { return leaders_ != MPI_COMM_NULL; }
  // On leaders: a gather in two halves. 0, EPERM or EBUSY.
  int begin_gather(uint32_t channel, const void* bytes, size_t size, void* all);
  // Complete, or none is under way?
  bool test_gather(uint32_t channel);

 private:
  Transport() = default;
  void split();
  void stop_thread();
  static void end(void* transport);
  friend void stop_threads_of_transports();

  std::unique_ptr<Session> session_;
  MPI_Comm node_ = MPI_COMM_NULL;     // the ranks of this node
  MPI_Comm leaders_ = MPI_COMM_NULL;  // on leaders: their ranks are the nodes' numbers
  // On leaders: each channel has a communicator, so that gathers of two channels may begin in
  // different orders.
  struct Channel {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  std::array<Channel, CAIRN_TRANSPORT_CHANNELS> channels_;
  bool has_thread_ = false;
  bool over_ = false;
};

}  // namespace cairn::mpi
