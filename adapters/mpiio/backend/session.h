// The job, from MPI_Init to MPI_Finalize: on which nodes its processes are, and how they reach each other's files.
//
// A job on one node needs nothing of this, and pays nothing for it.
#pragma once

#include <mpi.h>

#include <string>

#include "cairn/shared.h"
#include "cluster/mpi/rpc_client.h"

namespace mpiio::session {

// Are there MPI_COMM_WORLD and MPI_COMM_SELF? From MPI_Init until MPI_Finalize has freed them; sessions do without.
bool has_world();
// Has there been one, as there may be no other?
bool had_world();

// Before MPI_Init: may this job need a session, and so MPI_THREAD_MULTIPLE? All its processes say the same.
bool is_needed();
// After it, if so. Collective over MPI_COMM_WORLD.
void begin();
// Before MPI_Finalize, in which files may still be closed: from what others have attached to MPI_COMM_SELF.
void finalize();
// Before a call of the MPI's that waits for other processes: in MPI_Finalize one of them may have to be answered first.
void meet_in_finalize(MPI_Comm comm);

// How files that are opened together are served, as this process sees it.
enum class Reach : int {
  node,     // as a file of this node's pool
  nodes,    // as a file that several nodes write
  refused,  // `*why` says why not at all
};
Reach reach(std::string* why);
// The job's: equal in two processes if they can open such a file together. 0: this one has no session.
int64_t number();

// Of several nodes; null: all files are this node's.
cairn_job* job();
// Who is asked for it then; null as well.
const Servers* servers();
// Of this process alone, to deal with what an earlier job has left; null and *error if that fails.
cairn_job* own_job(int* error);

}  // namespace mpiio::session
