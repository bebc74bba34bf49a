#include "mpiio/backend/file/collective_writes.h"

#include <string>

#include "cluster/mpi/messages/waiting.h"

namespace mpiio {
namespace {

constexpr int unused_tag = 1;                    // of messages on the communicator of a file
constexpr uint64_t look_after_ns = 100'000'000;  // between two checks of the awaited process

bool is_split_write(File::Split split) {
  return split == File::Split::write || split == File::Split::write_at ||
         split == File::Split::write_ordered;
}

bool is_gone(const RankShared& one) {
  return cairn::mpi::Processes(&one.process, 1).state_of(one.process.rank) ==
         cairn::mpi::process_gone;
}

// Lets the MPI move messages, which it does only while it is called: another rank may be receiving
// a message of this rank before it writes. No message has this tag, so the probe finds none.
void let_messages_move(const File& file) {
  int found = 0;
  PMPI_Iprobe(MPI_ANY_SOURCE, unused_tag, file.comm, &found, MPI_STATUS_IGNORE);
}

void warn(const File& file, const cairn::mpi::LocalProcess& late, const char* what) {
  const std::string who =
      "rank " + std::to_string(late.rank) + " (process " + std::to_string(late.process) + ")";
  host->engine->log(engine::Level::kWarning,
                    ("MPI-IO: " + file.path + ": " + what + ": after " +
                     std::to_string(cairn::mpi::timeout_s()) + " s " + who +
                     " has not finished a collective write that this rank has finished: "
                     "continuing without its bytes (CAIRN_MPI_TIMEOUT sets the time)")
                        .c_str());
}

void wait_for_all(const File& file, uint64_t writes, const char* what) {
  cairn::mpi::Deadline deadline;
  uint64_t look_ns = cairn::mpi::now_ns() + look_after_ns;
  for (int rank = 0; rank < file.ranks;) {
    const RankShared& one = file.shared->ranks()[rank];
    if (one.collective_writes.load(std::memory_order_acquire) >= writes) {
      ++rank;
      continue;
    }
    let_messages_move(file);
    cairn::mpi::give_way();
    if (cairn::mpi::now_ns() < look_ns) continue;
    look_ns = cairn::mpi::now_ns() + look_after_ns;
    if (is_gone(one)) {
      ++rank;
    } else if (deadline.is_over()) {
      warn(file, one.process, what);
      return;
    }
  }
}

}  // namespace

void await_collective_writes(File& file, const char* what) {
  if (file.own_share == nullptr) return;
  // A split write counts when it begins, and is finished when it has ended.
  const uint64_t begun = file.own_share->collective_writes.load(std::memory_order_relaxed);
  const uint64_t finished = begun != 0 && is_split_write(file.split) ? begun - 1 : begun;
  if (file.awaited_writes.load(std::memory_order_acquire) >= finished) return;
  wait_for_all(file, finished, what);
  // The store follows a warning as well: no write is awaited twice.
  file.awaited_writes.store(finished, std::memory_order_release);
}

}  // namespace mpiio
