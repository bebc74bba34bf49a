// What answers the questions that other processes have for this node: a thread, whatever its own process does meanwhile.
// In MPI_Finalize, where some MPIs take it for granted that there is one thread only, whoever waits answers.
#pragma once

#include "cluster/mpi/rpc_client.h"

namespace mpiio {

// On the node's leader. False: the system gives no thread.
bool start_server(const Servers& servers);
// Ends the thread. From now on questions are answered in answer_questions().
void stop_server_thread();
// Does nothing while there is a thread, or where there is no server.
void answer_questions();
// Nobody asks any more.
void end_server();

}  // namespace mpiio
