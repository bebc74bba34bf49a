// The thread that answers what other processes ask this node, whatever its own process does meanwhile.
#pragma once

#include "mpiio/backend/questions.h"

namespace mpiio {

// On the node's leader. False: the system gives no thread.
bool start_server(const Servers& servers);
// When nobody asks any more.
void stop_server();

}  // namespace mpiio
