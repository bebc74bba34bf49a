// Questions to the peers of nodes, and the server of this one: messages on a communicator of their
// own.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

#include "cairn/adapter/shared.h"
#include "cluster/mpi/messages/peers.h"

namespace cairn::mpi {

// cairn_ask, with Peers as its context. Any thread, several concurrently.
int ask(void* peers, cairn_question* questions, size_t count);

// cairn_still_waiting: after the time of `mpi.timeout` one line says so, and the job is aborted.
void still_waiting(void* peers, uint64_t waited_ms, const char* path, const char* whom);

// Questions to other processes, under way.
class Call {
 public:
  // Sends them. Those that this process itself is the server for are left out.
  Call(const Peers& peers, Envelope::Kind kind, cairn_question* questions, size_t count);
  // Receives what has come. True: that was all.
  bool step();
  // "node A (pool P), node B (pool Q)"
  [[nodiscard]] std::string unanswered() const;

 private:
  const Peers& peers_;
  cairn_question* questions_;
  std::vector<size_t> sent_;  // indices into `questions_`
  std::vector<std::vector<char>> messages_;
  std::vector<MPI_Request> requests_;  // a reply and a request for each of them
  std::vector<int> done_;
  std::vector<MPI_Status> statuses_;
  size_t left_ = 0;
};

}  // namespace cairn::mpi
