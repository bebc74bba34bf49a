#include "cluster/mpi/collectives.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "mpiio/backend/calls.h"
#include "cluster/mpi/rpc_server.h"
#include "mpiio/backend/session.h"
#include "cluster/mpi/waiting.h"
#include "cluster/mpi/watchdog.h"

namespace mpiio::together {
namespace {

// Counts are ints.
constexpr size_t most_at_once = size_t{1} << 30;

// An MPI that fails in the middle of a step: others may be through with it, or wait in it. Who went on alone would wait in the next
// one, or take what it has not heard for nothing.
void must_succeed(int code, const char* phase) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  real::Error_string[kPmpi](code, text, &length);
  const std::string doing = Doing::text();
  std::fprintf(stderr, "cairn: MPI-IO: %s%s%s: the MPI says \"%s\": the job is aborted\n",
               doing.c_str(), doing.empty() ? "" : ": ", phase, text);
  PMPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

int end_of(MPI_Comm comm, MPI_Request* request, const char* phase) {
  const Servers* servers = session::servers();
  if (servers == nullptr) return PMPI_Wait(request, MPI_STATUS_IGNORE);
  Watch watch(*servers, comm, phase);
  int code = MPI_SUCCESS;
  int done = 0;
  while ((code = PMPI_Test(request, &done, MPI_STATUS_IGNORE)) == MPI_SUCCESS && done == 0) {
    answer_questions();
    watch.look();
  }
  return code;
}

}  // namespace

void wait(int begun, MPI_Comm comm, MPI_Request* request, const char* phase) {
  must_succeed(begun, phase);
  must_succeed(end_of(comm, request, phase), phase);
}

void barrier(MPI_Comm comm, const char* phase) {
  if (session::servers() == nullptr) {
    must_succeed(PMPI_Barrier(comm), phase);
    return;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  wait(PMPI_Ibarrier(comm, &request), comm, &request, phase);
}

void broadcast(MPI_Comm comm, void* bytes, size_t size, int root, const char* phase) {
  const bool alone = session::servers() == nullptr;
  for (size_t done = 0; done < size; done += most_at_once) {
    char* at = static_cast<char*>(bytes) + done;
    const int count = static_cast<int>(std::min(most_at_once, size - done));
    if (alone) {
      must_succeed(PMPI_Bcast(at, count, MPI_BYTE, root, comm), phase);
      continue;
    }
    MPI_Request request = MPI_REQUEST_NULL;
    wait(PMPI_Ibcast(at, count, MPI_BYTE, root, comm, &request), comm, &request, phase);
  }
}

void maximum(MPI_Comm comm, int64_t* values, int count, const char* phase) {
  if (session::servers() == nullptr)
    must_succeed(PMPI_Allreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, MPI_MAX, comm), phase);
  else
    compare(comm, values, count, phase);
}

void compare(MPI_Comm comm, int64_t* values, int count, const char* phase) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int begun =
      PMPI_Iallreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, MPI_MAX, comm, &request);
  wait(begun, comm, &request, phase);
}

void sum_through(MPI_Comm comm, const int64_t* value, int64_t* through, const char* phase) {
  if (session::servers() == nullptr) {
    must_succeed(PMPI_Scan(value, through, 1, MPI_INT64_T, MPI_SUM, comm), phase);
    return;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  wait(PMPI_Iscan(value, through, 1, MPI_INT64_T, MPI_SUM, comm, &request), comm, &request, phase);
}

MPI_Comm duplicate(MPI_Comm comm, const char* phase) {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  if (PMPI_Comm_idup(comm, &copy, &request) != MPI_SUCCESS) return MPI_COMM_NULL;
  return end_of(comm, &request, phase) == MPI_SUCCESS ? copy : MPI_COMM_NULL;
}

}  // namespace mpiio::together
