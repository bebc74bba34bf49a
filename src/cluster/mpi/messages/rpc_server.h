// The server of this node: answers what other nodes ask, for each session of this process.
//
// One thread serves all sessions, whatever the process does meanwhile. In MPI_Finalize some MPIs
// rely on there being one thread only: by then the session has stopped it, and a rank that waits
// answers instead.
#pragma once

#include "cluster/mpi/messages/peers.h"

namespace cairn::mpi {

// On the node's leader. `peers` stays as it is until end_server. False: the system gives no thread.
bool start_server(const Peers& peers);
// On the node's leader, for a session without a thread: its questions are answered in
// answer_questions().
void serve_in_calls(const Peers& peers);
// From now on the session's questions are answered in answer_questions().
void stop_server_thread(const Peers& peers);
// Answers what has come for sessions whose thread has stopped.
void answer_questions();
// No rank asks any more.
void end_server(const Peers& peers);

}  // namespace cairn::mpi
