// Collective steps of the ranks of a communicator: the MPI's collective calls, in which no rank
// waits in silence for a host that is gone.
//
// A rank that comes late may have computed for hours, so waiting alone is not a fault. After the
// time of `mpi.timeout` a rank asks those that it would hear from in a tree over all ranks, each
// for itself: is its process there, does its host answer? Every rank has another one in that tree
// that waits for it. A rank that gives no answer for that time once more ends the job, with one
// line. So does an error of the MPI's in every step but `duplicate`, since the others do not hear
// of it.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "cluster/mpi/messages/rpc_client.h"

namespace cairn::mpi {

// The ranks that take a step together.
struct Ranks {
  const Peers* peers;  // null: all are on this host, and the MPI's own call is made
  MPI_Comm comm;
};

// Each as the MPI's call of that name. `phase` says in a line what was waited for.
void barrier(const Ranks& ranks, const char* phase);
void broadcast(const Ranks& ranks, void* bytes, size_t size, int root, const char* phase);
void maximum(const Ranks& ranks, int64_t* values, int count, const char* phase);
// MPI_Scan.
void sum_through(const Ranks& ranks, const int64_t* value, int64_t* through, const char* phase);

// The following also among processes that cannot open a file together.
// To the maximum of each value.
void compare(const Ranks& ranks, int64_t* values, int count, const char* phase);
// MPI_COMM_NULL: the MPI can make no more.
MPI_Comm duplicate(const Ranks& ranks, const char* phase);

// Waits for the end of a request that needs the others. `begun`: the MPI's code when it was made.
void wait(int begun, const Ranks& ranks, MPI_Request* request, const char* phase);

// Ends the job if the MPI failed in the middle of a step of several ranks.
void must_succeed(int code, const char* phase);

// A barrier without a watchdog in which questions are answered.
void meet(MPI_Comm comm);

}  // namespace cairn::mpi
