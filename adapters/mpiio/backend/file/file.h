// An MPI file of ours: what lies beside the genuine MPI_File that the program holds.
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

// What of the file a process sees (MPI 4.1, section 14.3).
struct View {
  int64_t displacement = 0;
  MPI_Datatype etype = MPI_BYTE;
  MPI_Datatype filetype = MPI_BYTE;
  int64_t etype_size = 1;  // in memory
  int64_t etype_size_in_file = 1;
  std::shared_ptr<const Layout> layout;  // of the filetype, in the file
  std::string representation_name = "native";
  std::shared_ptr<const Representation> representation;  // null: values are as in memory
  // Every byte from the displacement on.
  bool dense = true;

  // Of the stream of bytes that the view shows.
  [[nodiscard]] int64_t stream_of(int64_t offset) const { return offset * etype_size_in_file; }
  // Where byte `stream` of it lies in the file.
  [[nodiscard]] int64_t place_of(int64_t stream) const;
  // How many bytes of it lie below byte `end` of the file.
  [[nodiscard]] int64_t stream_below(int64_t end) const;
};

// One rank's part of what the ranks share. Only that rank stores to it, on a cache line of its own.
struct alignas(64) RankShared {
  // Blocking collective writes that are over for this rank (collective_writes.h).
  std::atomic<uint64_t> collective_writes;
  cairn::mpi::LocalProcess process;  // set before MPI_File_open returns on any rank
};

// What the ranks of one node that have the file open share, in a mapped file that has no name any
// more.
struct alignas(64) Shared {
  // The shared file pointer, in etypes: of the view that is in force, and of those before and after
  // it, so that a rank may set the next one to 0 before the others have done with this one.
  std::atomic<int64_t> pointers[3];
  std::atomic<int> mapped;  // ranks that have this here: the last of them removes its name
  Turn atomic_turn;         // in atomic mode
  // One for each rank follows, by rank in the file's communicator.
  [[nodiscard]] RankShared* ranks() { return reinterpret_cast<RankShared*>(this + 1); }
  static size_t size_for(int ranks) {
    return sizeof(Shared) + static_cast<size_t>(ranks) * sizeof(RankShared);
  }
};

struct File {
  std::string path;      // as the program called it
  std::string absolute;  // the program may change its directory
  MPI_File handle = MPI_FILE_NULL;
  MPI_Comm comm = MPI_COMM_NULL;  // ours alone
  int rank = 0;
  int ranks = 1;
  int amode = 0;
  cairn_file* file = nullptr;
  View view;
  std::atomic<int64_t> pointer{0};  // the individual one, in etypes
  Shared* shared = nullptr;         // null: `nodes` has all that is shared
  RankShared* own_share = nullptr;  // null where there are no other ranks, or `nodes` has them
  // So many collective writes of this rank are known to be over for all ranks.
  std::atomic<uint64_t> awaited_writes{0};
  // The file, where several nodes write it; `file` is null then.
  cairn_shared* nodes = nullptr;
  cairn_group group = {};
  uint32_t views = 0;  // that have been set: the same on all ranks
  bool atomic = false;
  bool immediate = false;     // of `nodes`: others see a write when it returns
  bool without_sync = false;  // of `nodes`: opened by a library that calls none (callers.h)
  // Which accesses need no lock, no other node and no look at the view: the allowed ones of a file
  // that is seen as it is. Follows from what is above; whoever changes that says so.
  struct FastPath {
    bool read = false;
    bool write = false;
  };
  FastPath fast_path;
  void choose_way();
  [[nodiscard]] bool is_direct() const { return !atomic && nodes == nullptr; }
  std::map<std::string, std::string> hints;
  // A split collective call under way, and what it will say.
  enum class Split : uint8_t { none, read_at, write_at, read, write, read_ordered, write_ordered };
  std::atomic<Split> split{Split::none};
  int64_t split_bytes = 0;
};

// A class of errors: what goes to places of its own choice is not for a file of
// MPI_MODE_SEQUENTIAL.
int check_random(const File& file);
// MPI_ERR_NOT_SAME on all ranks if one of them gives other values than another. Nobody comes out of
// it before all have come.
int check_same(const File& file, std::initializer_list<int64_t> values, const char* what);

void add_file(File* file);
void remove_file(MPI_File handle);

// What a thread has found holds until the table of files changes.
struct FoundFile {
  uint64_t version;
  MPI_File handle;
  File* file;
};
extern std::atomic<uint64_t> table_version;
extern constinit thread_local FoundFile last_found;
File* look_up_file(MPI_File handle);

// Our state for a handle; null if it is not ours.
inline File* find_file(MPI_File handle) {
  const FoundFile& last = last_found;
  if (last.handle == handle && last.version == table_version.load(std::memory_order_acquire))
      [[likely]]
    return last.file;
  return look_up_file(handle);
}

}  // namespace mpiio
