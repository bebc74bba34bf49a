#include "mpiio/backend/file/group.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "cluster/mpi/messages/collectives.h"
#include "mpiio/backend/job/session.h"

namespace mpiio {
namespace {

// Counts and displacements of MPI's collective calls are ints: larger data are sent in pieces.
constexpr int64_t most_at_once = int64_t{1} << 30;
constexpr int rest_tag = 0;

MPI_Comm comm_of(void* context) { return *static_cast<MPI_Comm*>(context); }

constexpr const char* gathering = "collecting what each rank has written";
constexpr const char* deciding = "waiting for what rank 0 has decided";

void send_rest(MPI_Comm comm, const char* bytes, int64_t size) {
  for (int64_t done = 0; done < size; done += most_at_once) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int begun =
        PMPI_Isend(bytes + done, static_cast<int>(std::min(most_at_once, size - done)), MPI_BYTE, 0,
                   rest_tag, comm, &request);
    cairn::mpi::wait(begun, session::ranks(comm), &request, gathering);
  }
}

void receive_rest(MPI_Comm comm, int rank, char* bytes, int64_t size) {
  for (int64_t done = 0; done < size; done += most_at_once) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int begun =
        PMPI_Irecv(bytes + done, static_cast<int>(std::min(most_at_once, size - done)), MPI_BYTE,
                   rank, rest_tag, comm, &request);
    cairn::mpi::wait(begun, session::ranks(comm), &request, gathering);
  }
}

struct Place {
  std::vector<int> counts;
  std::vector<int> offsets;
};

// Returns how much each rank may contribute to the common gather.
int64_t share_of(int ranks) { return most_at_once / ranks; }

// Gathers all ranks' sizes on rank 0.
void gather_sizes(MPI_Comm comm, int64_t mine, int64_t* theirs) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int begun = PMPI_Igather(&mine, 1, MPI_INT64_T, theirs, 1, MPI_INT64_T, 0, comm, &request);
  cairn::mpi::wait(begun, session::ranks(comm), &request, gathering);
}

void gather_bytes(MPI_Comm comm, const void* bytes, int size, char* joined, const Place& place) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int begun = PMPI_Igatherv(bytes, size, MPI_BYTE, joined, place.counts.data(),
                                  place.offsets.data(), MPI_BYTE, 0, comm, &request);
  cairn::mpi::wait(begun, session::ranks(comm), &request, gathering);
}

int gather(void* context, const void* bytes, size_t size, void** all, size_t* sizes) {
  MPI_Comm comm = comm_of(context);
  session::meet_in_finalize(comm);
  int rank = 0;
  int ranks = 1;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &ranks);
  const int64_t share = share_of(ranks);
  const auto mine = static_cast<int64_t>(size);
  *all = nullptr;
  if (rank != 0) {
    gather_sizes(comm, mine, nullptr);
    const int64_t common = std::min(mine, share);
    gather_bytes(comm, bytes, static_cast<int>(common), nullptr, {});
    send_rest(comm, static_cast<const char*>(bytes) + common, mine - common);
    return 0;
  }
  const auto count = static_cast<size_t>(ranks);
  std::vector<int64_t> theirs(count);
  gather_sizes(comm, mine, theirs.data());
  Place place = {std::vector<int>(count), std::vector<int>(count)};
  int64_t total = 0;
  int64_t common = 0;
  for (size_t i = 0; i < count; ++i) {
    sizes[i] = static_cast<size_t>(theirs[i]);
    place.counts[i] = static_cast<int>(std::min(theirs[i], share));
    place.offsets[i] = static_cast<int>(common);
    common += place.counts[i];
    total += theirs[i];
  }
  auto* joined = static_cast<char*>(std::malloc(static_cast<size_t>(std::max<int64_t>(total, 1))));
  // The others are already sending: without memory the job cannot continue.
  if (joined == nullptr) PMPI_Abort(MPI_COMM_WORLD, ENOMEM);
  gather_bytes(comm, bytes, place.counts[0], joined, place);
  *all = joined;
  if (common == total) return 0;
  // The loop starts at the last rank: each rank's bytes move to their place, and the rest follows
  // them.
  int64_t end = total;
  for (size_t i = count; i-- > 0;) {
    end -= theirs[i];
    std::memmove(joined + end, joined + place.offsets[i], static_cast<size_t>(place.counts[i]));
    const int64_t rest = theirs[i] - place.counts[i];
    if (i == 0)
      std::memcpy(joined + place.counts[0], static_cast<const char*>(bytes) + place.counts[0],
                  static_cast<size_t>(rest));
    else
      receive_rest(comm, static_cast<int>(i), joined + end + place.counts[i], rest);
  }
  return 0;
}

int broadcast(void* context, void* bytes, size_t size) {
  session::meet_in_finalize(comm_of(context));
  const auto ranks = session::ranks(comm_of(context));
  cairn::mpi::broadcast(ranks, bytes, size, 0, deciding);
  return 0;
}

}  // namespace

cairn_group group_of(MPI_Comm* comm, int rank, int ranks) {
  return {comm, static_cast<uint32_t>(rank), static_cast<uint32_t>(ranks), gather, broadcast};
}

}  // namespace mpiio
