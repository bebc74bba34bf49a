// The processes of a session, who uses it, and the form of their messages.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "cluster/mpi/ranks/processes.h"
#include "cluster/mpi/ranks/roster.h"

namespace cairn::mpi {

// The user of a session: how it answers other nodes, and how it speaks of itself.
struct SessionClient {
  const char* name = "MPI";  // in messages
  // The end of "still waiting for ", while ranks have not come to the session's begin for the time
  // of `mpi.timeout`. Null: they may come as late as they like.
  const char* awaited = nullptr;
  // Answers a request of another node: fills in `reply`, returns its size. Called by the session's
  // server thread, and by a rank that asks its own node. Null: nobody asks.
  size_t (*serve)(void* context, const void* request, size_t size, void* reply) = nullptr;
  void* context = nullptr;
  size_t request_capacity = 0;
  size_t reply_capacity = 0;
  // A signal handler of the program makes the call, and may have interrupted the MPI. May be null.
  bool (*is_in_handler)() = nullptr;
  // Wants a session also where all processes are on one node.
  bool on_one_node = false;
  // When leaders answer: in a thread, which needs MPI_THREAD_MULTIPLE, or only inside the session's
  // own calls.
  bool in_thread = true;
};

// The processes of a session.
struct Peers {
  MPI_Comm comm = MPI_COMM_NULL;  // the session's own
  int rank = 0;
  Roster roster;
  uint32_t own = 0;  // this process's node
  Processes processes;
  bool answering = false;  // each node has a thread for it, so that an answer may be expected
  SessionClient client;
  // "node HOST (pool PATH)"
  [[nodiscard]] std::string name_of(uint32_t node) const;
};

// A request begins with this; its reply comes with that tag.
struct Envelope {
  enum class Kind : int {
    client,     // for SessionClient::serve
    processes,  // ranks: how each of them is, a letter for each (processes.h)
  };
  int tag;
  Kind kind;
  int padding[2];  // what follows is aligned for any word
};
constexpr int request_tag = 0;

}  // namespace cairn::mpi
