#include "mpiio/backend/together.h"

#include <algorithm>

#include "mpiio/backend/server.h"
#include "mpiio/backend/session.h"
#include "mpiio/backend/watch.h"

namespace mpiio::together {
namespace {

// Counts are ints.
constexpr size_t most_at_once = size_t{1} << 30;

}  // namespace

int wait(MPI_Comm comm, MPI_Request* request, const char* phase) {
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

void barrier(MPI_Comm comm, const char* phase) {
  if (session::servers() == nullptr) {
    PMPI_Barrier(comm);
    return;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Ibarrier(comm, &request);
  wait(comm, &request, phase);
}

void broadcast(MPI_Comm comm, void* bytes, size_t size, int root, const char* phase) {
  const bool alone = session::servers() == nullptr;
  for (size_t done = 0; done < size; done += most_at_once) {
    char* at = static_cast<char*>(bytes) + done;
    const int count = static_cast<int>(std::min(most_at_once, size - done));
    if (alone) {
      PMPI_Bcast(at, count, MPI_BYTE, root, comm);
      continue;
    }
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Ibcast(at, count, MPI_BYTE, root, comm, &request);
    wait(comm, &request, phase);
  }
}

void maximum(MPI_Comm comm, int64_t* values, int count, const char* phase) {
  if (session::servers() == nullptr)
    PMPI_Allreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, MPI_MAX, comm);
  else
    compare(comm, values, count, phase);
}

void compare(MPI_Comm comm, int64_t* values, int count, const char* phase) {
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Iallreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, MPI_MAX, comm, &request);
  wait(comm, &request, phase);
}

void sum_through(MPI_Comm comm, const int64_t* value, int64_t* through, const char* phase) {
  if (session::servers() == nullptr) {
    PMPI_Scan(value, through, 1, MPI_INT64_T, MPI_SUM, comm);
    return;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Iscan(value, through, 1, MPI_INT64_T, MPI_SUM, comm, &request);
  wait(comm, &request, phase);
}

MPI_Comm duplicate(MPI_Comm comm, const char* phase) {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  if (PMPI_Comm_idup(comm, &copy, &request) != MPI_SUCCESS) return MPI_COMM_NULL;
  return wait(comm, &request, phase) == MPI_SUCCESS ? copy : MPI_COMM_NULL;
}

}  // namespace mpiio::together
