// File: the back end's state of an open MPI file, beside the genuine MPI_File that the program
// holds.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>

#include "cluster/mpi/ranks/processes.h"
#include "mpiio/backend/base/host_pointer.h"
#include "mpiio/backend/base/turn.h"
#include "mpiio/backend/datatype/layout.h"
#include "mpiio/backend/datatype/representation.h"

namespace mpiio {

// The part of the file that a process sees (MPI 4.1, section 14.3).
struct View {
  int64_t displacement = 0;
  MPI_Datatype etype = MPI_BYTE;
  MPI_Datatype filetype = MPI_BYTE;
  int64_t etype_size = 1;  // in memory
  int64_t etype_size_in_file = 1;
  std::shared_ptr<const Layout> layout;  // of the filetype, in the file
  std::string representation_name = "native";
  std::shared_ptr<const Representation> representation;  // null: values are as in memory
  // True if the view shows every byte from the displacement on.
  bool dense = true;

  // Returns the place of an offset in the stream of bytes that the view shows.
  [[nodiscard]] int64_t stream_of(int64_t offset) const { return offset * etype_size_in_file; }
  // Returns the place in the file of byte `stream` of the view.
  [[nodiscard]] int64_t place_of(int64_t stream) const;
  // Returns how many bytes of the view lie below byte `end` of the file.
  [[nodiscard]] int64_t stream_below(int64_t end) const;
};

// One rank's part of the shared memory. Only that rank stores to it, on a cache line of its own.
struct alignas(64) RankShared {
  // Blocking collective writes that this rank has finished (collective_writes.h).
  std::atomic<uint64_t> collective_writes;
  cairn::mpi::LocalProcess process;  // set before MPI_File_open returns on any rank
};

// The memory that the ranks of one node share while they have the file open: a mapped file whose
// name is already removed.
struct alignas(64) Shared {
  // The shared file pointer, in etypes: of the current view, the one before and the one after it,
  // so that a rank may set the next one to 0 before the others have finished with the current one.
  std::atomic<int64_t> pointers[3];
  std::atomic<int> mapped;  // ranks that have mapped this: the last of them removes the name
  Turn atomic_turn;         // in atomic mode
  // Returns the ranks' parts, which follow, by rank in the file's communicator.
  [[nodiscard]] RankShared* ranks() { return reinterpret_cast<RankShared*>(this + 1); }
  static size_t size_for(int ranks) {
    return sizeof(Shared) + static_cast<size_t>(ranks) * sizeof(RankShared);
  }
};

struct File {
  std::string path;      // as the program called it
  std::string absolute;  // the program may change its directory
  MPI_File handle = MPI_FILE_NULL;
  MPI_Comm comm = MPI_COMM_NULL;  // private to the back end
  int rank = 0;
  int ranks = 1;
  int amode = 0;
  cairn_file* file = nullptr;
  View view;
  std::atomic<int64_t> pointer{0};  // the individual pointer, in etypes
  Shared* shared = nullptr;         // null: `shared_file` has all shared state
  RankShared* own_share = nullptr;  // null if there are no other ranks, or `shared_file` has them
  // The number of this rank's collective writes known to be finished on all ranks.
  std::atomic<uint64_t> awaited_writes{0};
  // The file, if several nodes write it; `file` is null then.
  cairn_shared* shared_file = nullptr;
  cairn_group group = {};
  uint32_t views = 0;  // number of views set; equal on all ranks
  bool atomic = false;
  bool immediate = false;     // of `shared_file`: others see a write when it returns
  bool without_sync = false;  // of `shared_file`: opened by a library that calls none (callers.h)
  // The accesses that need no lock, no other node and no look at the view: the allowed ones of a
  // file that is seen as it is. Derived from the members above; code that changes those updates it.
  struct FastPath {
    bool read = false;
    bool write = false;
  };
  FastPath fast_path;
  void choose_way();
  [[nodiscard]] bool is_direct() const { return !atomic && shared_file == nullptr; }
  std::map<std::string, std::string> hints;
  // The split collective call in progress, and its result.
  enum class Split : uint8_t { none, read_at, write_at, read, write, read_ordered, write_ordered };
  std::atomic<Split> split{Split::none};
  int64_t split_bytes = 0;
};

// Returns an error class: an access at an explicit position is not allowed in a file of
// MPI_MODE_SEQUENTIAL.
int check_random(const File& file);
// Returns MPI_ERR_NOT_SAME on all ranks if the ranks give different values. No rank returns before
// all have called it.
int check_same(const File& file, std::initializer_list<int64_t> values, const char* what);

void add_file(File* file);
void remove_file(MPI_File handle);

// A thread's last look-up, valid until the table of files changes.
struct FoundFile {
  uint64_t version;
  MPI_File handle;
  File* file;
};
extern std::atomic<uint64_t> table_version;
extern constinit thread_local FoundFile last_found;
File* look_up_file(MPI_File handle);

// Returns the back end's state for a handle; null if the handle is not one of its files.
inline File* find_file(MPI_File handle) {
  const FoundFile& last = last_found;
  if (last.handle == handle && last.version == table_version.load(std::memory_order_acquire))
      [[likely]]
    return last.file;
  return look_up_file(handle);
}

}  // namespace mpiio
