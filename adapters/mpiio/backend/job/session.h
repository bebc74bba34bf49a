// The MPI-IO session: the job from MPI_Init to MPI_Finalize, with the files that its nodes share
// (cairn/adapter/shared.h) on top of the messages of cluster/mpi/session/session.h.
//
// A job on one node needs nothing of this, and pays nothing for it.
#pragma once

#include <mpi.h>

#include <string>

#include "cairn/adapter/shared.h"
#include "cluster/mpi/messages/collectives.h"

namespace mpiio::session {

// Before MPI_Init: may this job need a session, and so MPI_THREAD_MULTIPLE? All its processes say
// the same.
bool is_needed();
// After it, if so. Collective over MPI_COMM_WORLD.
void begin();
// Before MPI_Finalize, in which files may still be closed: from what others have attached to
// MPI_COMM_SELF.
void finalize();
// Before a call of the MPI's that waits for other processes: in MPI_Finalize one of them may have
// to be answered first.
void meet_in_finalize(MPI_Comm comm);

// How files that are opened together are served, as this process sees it.
enum class Reach : int {
  node,     // as a file of this node's pool
  nodes,    // as a file that several nodes write
  refused,  // `*why` says why not at all
};
Reach reach(std::string* why);
// The job's: equal in two processes if they can open such a file together. 0: this one has no
// session.
int64_t number();

// Of several nodes; null: all files are this node's.
cairn_job* job();
// The ranks of a communicator, as collective steps take them.
cairn::mpi::Ranks ranks(MPI_Comm comm);
// Of this process alone, to deal with what an earlier job has left; null and *error if that fails.
cairn_job* own_job(int* error);

}  // namespace mpiio::session
