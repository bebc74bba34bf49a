#include "cluster/mpi/messages/collectives.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "cairn/adapter/printable.h"
#include "cluster/mpi/messages/rpc_server.h"
#include "cluster/mpi/messages/waiting.h"
#include "cluster/mpi/messages/watchdog.h"

namespace cairn::mpi {
namespace {

// Counts are ints.
constexpr size_t most_at_once = size_t{1} << 30;

int end_of(const Ranks& ranks, MPI_Request* request, const char* phase) {
  if (ranks.peers == nullptr) return PMPI_Wait(request, MPI_STATUS_IGNORE);
  Watchdog watchdog(*ranks.peers, ranks.comm, phase);
  int code = MPI_SUCCESS;
  int done = 0;
  while ((code = PMPI_Test(request, &done, MPI_STATUS_IGNORE)) == MPI_SUCCESS && done == 0) {
    answer_questions();
    watchdog.look();
  }
  return code;
}

}  // namespace

// Ends the job when the MPI fails in the middle of a step: other ranks may be through with it, or
// wait in it. A rank that went on alone would wait in the next step, or miss what was said.
void must_succeed(int code, const char* phase) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  PMPI_Error_string(code, text, &length);
  const std::string doing = Doing::text();
  cairn_show_line(stderr, "cairn: %s: %s%s%s: the MPI says \"%s\": the job is aborted", speaker(),
                  doing.c_str(), doing.empty() ? "" : ": ", phase, text);
  PMPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

void wait(int begun, const Ranks& ranks, MPI_Request* request, const char* phase) {
  must_succeed(begun, phase);
  must_succeed(end_of(ranks, request, phase), phase);
}

void barrier(const Ranks& ranks, const char* phase) {
  if (ranks.peers == nullptr) {
    must_succeed(PMPI_Barrier(ranks.comm), phase);
    return;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  wait(PMPI_Ibarrier(ranks.comm, &request), ranks, &request, phase);
}

void broadcast(const Ranks& ranks, void* bytes, size_t size, int root, const char* phase) {
  const bool alone = ranks.peers == nullptr;
  for (size_t done = 0; done < size; done += most_at_once) {
    char* at = static_cast<char*>(bytes) + done;
    const int count = static_cast<int>(std::min(most_at_once, size - done));
    if (alone) {
      must_succeed(PMPI_Bcast(at, count, MPI_BYTE, root, ranks.comm), phase);
      continue;
    }
    MPI_Request request = MPI_REQUEST_NULL;
    wait(PMPI_Ibcast(at, count, MPI_BYTE, root, ranks.comm, &request), ranks, &request, phase);
  }
}

void maximum(const Ranks& ranks, int64_t* values, int count, const char* phase) {
  if (ranks.peers == nullptr)
    must_succeed(PMPI_Allreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, MPI_MAX, ranks.comm),
                 phase);
  else
    compare(ranks, values, count, phase);
}

void compare(const Ranks& ranks, int64_t* values, int count, const char* phase) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int begun =
      PMPI_Iallreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, MPI_MAX, ranks.comm, &request);
  wait(begun, ranks, &request, phase);
}

void sum_through(const Ranks& ranks, const int64_t* value, int64_t* through, const char* phase) {
  if (ranks.peers == nullptr) {
    must_succeed(PMPI_Scan(value, through, 1, MPI_INT64_T, MPI_SUM, ranks.comm), phase);
    return;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  wait(PMPI_Iscan(value, through, 1, MPI_INT64_T, MPI_SUM, ranks.comm, &request), ranks, &request,
       phase);
}

MPI_Comm duplicate(const Ranks& ranks, const char* phase) {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  if (PMPI_Comm_idup(ranks.comm, &copy, &request) != MPI_SUCCESS) return MPI_COMM_NULL;
  return end_of(ranks, &request, phase) == MPI_SUCCESS ? copy : MPI_COMM_NULL;
}

void meet(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Ibarrier(comm, &request);
  for (int done = 0; PMPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0;) {
    answer_questions();
    give_way();
  }
}

}  // namespace cairn::mpi
