// Questions to the servers of nodes, and the server of this one: messages on a communicator of their own.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

#include "cairn/shared.h"
#include "cluster/mpi/processes.h"
#include "cluster/mpi/roster.h"

namespace mpiio {

// The processes of a job as its questions need them.
struct Servers {
  MPI_Comm comm = MPI_COMM_NULL;  // nobody else's
  int rank = 0;
  Roster roster;
  uint32_t own = 0;  // this process's node
  Processes processes;
  bool answering = false;  // each node has a thread for it
  cairn_job* job = nullptr;
  // "node HOST (pool PATH)"
  [[nodiscard]] std::string name_of(uint32_t node) const;
};

// cairn_ask, with Servers as its context. Any thread, several at once.
int ask(void* servers, cairn_question* questions, size_t count);

// cairn_still_waiting: after the time of `mpi.timeout` one line says so, and the job is aborted.
void still_waiting(void* servers, uint64_t waited_ms, const char* path, const char* whom);

// A request begins with this; its reply comes with that tag.
struct Envelope {
  enum class Kind : int {
    job,        // for cairn_job_serve
    processes,  // ranks: how each of them is, a letter for each (processes.h)
  };
  int tag;
  Kind kind;
  int padding[2];  // what follows is aligned for any word
};
constexpr int request_tag = 0;

// Questions to other processes, under way.
class Asking {
 public:
  // Sends them. Those that this process itself is the server for are left out.
  Asking(const Servers& servers, Envelope::Kind kind, cairn_question* questions, size_t count);
  // Receives what has come. True: that was all.
  bool step();
  // "node A (pool P), node B (pool Q)"
  [[nodiscard]] std::string unanswered() const;

 private:
  const Servers& servers_;
  cairn_question* questions_;
  std::vector<size_t> sent_;  // indices into `questions_`
  std::vector<std::vector<char>> messages_;
  std::vector<MPI_Request> requests_;  // a reply and a request for each of them
  std::vector<int> done_;
  std::vector<MPI_Status> statuses_;
  size_t left_ = 0;
};

}  // namespace mpiio
