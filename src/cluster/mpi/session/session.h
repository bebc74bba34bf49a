// Session joins the processes of an MPI job for one client: which nodes there are, which rank is on
// which, and messages between them. MPI-IO on files of several nodes is such a client.
//
// Nothing here holds a pool or a file: a client brings its functions (`SessionClient`).
//
// Threads: begin(), end() and the steps between them are collective and are called by the thread
// that may call MPI. A job on several nodes needs MPI_THREAD_MULTIPLE, because each node's first
// rank answers in a thread of its own; with less, begin() says so in `refused`. After begin() any
// thread may ask (rpc_client.h).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>

#include "cluster/mpi/messages/rpc_client.h"
#include "cluster/mpi/ranks/bootstrap.h"

namespace cairn::mpi {

// MPI_COMM_WORLD and MPI_COMM_SELF exist from MPI_Init until MPI_Finalize has freed them. A program
// that uses MPI sessions only has neither.
bool has_world();
// There was one, and there may be no other.
bool had_world();

// The description of this process that the other ranks of `comm` get. `node` is the pool that it
// has, or null.
Card describe_process(MPI_Comm comm, const cairn_node* node);

class Session {
 public:
  // Collective over `world`. Null: all processes are on one node, and need no messages.
  // `describe` is called after all ranks have come.
  template <typename Describe>
  static std::unique_ptr<Session> begin(MPI_Comm world, const SessionClient& client,
                                        const Describe& describe) {
    const MPI_Comm comm = copy_of(world, client);
    return begin_on(comm, client, describe(comm));
  }
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // The reason why no messages can be exchanged, or "".
  [[nodiscard]] const std::string& refused() const { return refused_; }
  void refuse(const std::string& why) { refused_ = why; }
  [[nodiscard]] const Peers& peers() const { return peers_; }
  // The same in all processes of the session, and in no other session. Never 0.
  [[nodiscard]] int64_t number() const { return number_; }
  // This rank answers for its node.
  [[nodiscard]] bool is_leader() const;

  // On the leader: starts to answer other nodes. False: the system gives no thread.
  bool start_server();
  // The leaders of nodes answer (rpc_client.h).
  int ask(cairn_question* questions, size_t count);
  // Collective: the least of all ranks' values.
  void agree(int64_t* values, int count);
  // On the leader: answers other nodes in this session's calls, without a thread.
  void serve_in_calls();
  // After all have agreed that every node answers.
  void set_answering() { peers_.answering = true; }
  // Collective: waits for all, and answers meanwhile.
  void meet();

  // Collective: after this no rank asks but in meet(), and the server's thread has ended.
  void stop_thread();
  // Ends the session when MPI_Finalize frees MPI_COMM_SELF, after everything that others have
  // attached to it later. `before(context)` is called in each rank when all are there.
  void end_with_mpi(void (*before)(void*), void* context);
  // Collective, after end_with_mpi(): ends it earlier.
  void end_early();

 private:
  Session() = default;
  static MPI_Comm copy_of(MPI_Comm world, const SessionClient& client);
  static std::unique_ptr<Session> begin_on(MPI_Comm comm, const SessionClient& client,
                                           const Card& card);
  static int end(MPI_Comm, int, void* session, void*);

  Peers peers_;
  Bootstrap bootstrap_;
  int64_t number_ = 0;
  std::string refused_;
  void (*before_end_)(void*) = nullptr;
  void* before_end_context_ = nullptr;
  int key_ = MPI_KEYVAL_INVALID;
};

}  // namespace cairn::mpi
