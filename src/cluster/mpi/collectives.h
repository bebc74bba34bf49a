// What the processes of a communicator do together while they have a file open: the MPI's collective calls, in which nobody waits
// in silence for a host that is no more.
//
// Whoever comes late may compute for hours, so waiting alone is no fault. After the time of `mpi.timeout` a process asks those that it
// would hear from in a tree over all of them, each for itself: is its process there, does its host answer? Every process has
// somebody in that tree who waits for it. Who gives no answer for that time once more ends the job, with one line. So does an error of the MPI's in all but `duplicate`, since the others do not hear of it.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

namespace mpiio::together {

// Each as the MPI's call of that name, which it is where nobody is on another host; `phase` says in a line what was waited for.
void barrier(MPI_Comm comm, const char* phase);
void broadcast(MPI_Comm comm, void* bytes, size_t size, int root, const char* phase);
void maximum(MPI_Comm comm, int64_t* values, int count, const char* phase);
void sum_through(MPI_Comm comm, const int64_t* value, int64_t* through,
                 const char* phase);  // MPI_Scan

// These two also of processes that cannot open a file together.
void compare(MPI_Comm comm, int64_t* values, int count,
             const char* phase);  // to the maximum of each
// MPI_COMM_NULL: the MPI can make no more.
MPI_Comm duplicate(MPI_Comm comm, const char* phase);

// The end of a request that needs the others. `begun`: what the MPI said when it was made.
void wait(int begun, MPI_Comm comm, MPI_Request* request, const char* phase);

}  // namespace mpiio::together
