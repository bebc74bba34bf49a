// Collective writes on one node. Each rank counts the writes that it has finished; a rank that asks
// for the file's size or reads collectively first waits for the others.
//
// A collective call on data does not synchronise: a rank may return from MPI_File_write_all before
// another one has called it. The standard permits that. Programs do not expect it, because the
// MPIs' own I/O exchanges data between the ranks: they ask for the size, or read what another rank
// wrote, without a barrier. So these calls wait, and the write itself does not.
//
// A correct program never waits in vain. The standard lets a blocking collective write wait for all
// ranks, so all ranks call it, whatever this rank does afterwards. A split write may wait in its
// begin or in its end: it counts as finished when it has ended, and the other ranks need only have
// begun it. A non-blocking write never counts. Any other program, and a stopped rank, costs
// `mpi.timeout` once.
#pragma once

#include "mpiio/backend/file/access.h"
#include "mpiio/backend/file/file.h"

namespace mpiio {

// Waits until all ranks have finished the collective writes that this rank has finished. `what`
// names the call in the warning of a wait that takes too long.
void await_collective_writes(File& file, const char* what);

// Runs a blocking collective call, or the begin of a split one. A write that fails is counted too:
// the others, for which it may have succeeded, would wait for this rank.
template <Direction direction, typename Call>
int collectively(File& file, const Call& call) {
  if constexpr (direction == Direction::read) await_collective_writes(file, "collective read");
  const int code = call();
  if (direction == Direction::write && file.own_share != nullptr) {
    std::atomic<uint64_t>& writes = file.own_share->collective_writes;
    writes.store(writes.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  return code;
}

}  // namespace mpiio
