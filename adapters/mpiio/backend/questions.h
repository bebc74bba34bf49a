// Questions to the servers of nodes, and the server of this one: messages on a communicator of their own.
#pragma once

#include <mpi.h>

#include <vector>

#include "cairn/shared.h"

namespace mpiio {

// The processes of a job as its questions need them.
struct Servers {
  MPI_Comm comm = MPI_COMM_NULL;  // nobody else's
  int rank = 0;
  std::vector<cairn_node> nodes;
  std::vector<int> leaders;  // of each node: the rank that answers
  cairn_job* job = nullptr;
};

// cairn_ask, with Servers as its context. Any thread, several at once.
int ask(void* servers, cairn_question* questions, size_t count);

// A request begins with this; its reply comes with that tag.
struct Envelope {
  int tag;
  int padding[3];  // what follows is aligned for any word
};
constexpr int request_tag = 0;

}  // namespace mpiio
