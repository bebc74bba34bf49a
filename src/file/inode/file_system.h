// FileSystem: the files of one attached pool. It holds the state of this process beyond the pool
// itself; the operations have files of their own:
//
//   inode_table    numbers to inodes, making, freeing   attributes  stat, modes, times
//   io             read, write, append                  shape       structural change
//   truncate       truncate, punch                      reclaim     freeing what was cut
//   directory      names in one directory               names       paths, create, rename
//   open_file      open file descriptions               xattr, mapping, sync
//   lane_recovery  a dead lane's files                  rebuild     after a power loss
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "file/inode/file_handle.h"
#include "file/inode/lower.h"
#include "file/map/directory_blocks.h"
#include "file/map/map.h"
#include "file/map/table_blocks.h"
#include "format/dirent.h"
#include "pool/core/pool.h"
#include "pool/core/redo.h"
#include "pool/space/chunk.h"

namespace cairn::file {

class FileSystem {
 public:
  explicit FileSystem(std::unique_ptr<Pool> attached);
  ~FileSystem();
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;

  std::unique_ptr<Pool> owned_pool;
  Pool& pool;
  bool durable_writes = false;  // page media: every write is synced before it returns
  Lower* lower = nullptr;
  const LowerMaker* lower_maker = nullptr;  // set by tier/ (cover_lower.h)
  std::atomic<bool> keeps_room{false};      // room_request.h
  void* handle = nullptr;                   // the C API's
  std::atomic<uint32_t> uid{0};             // of what is created
  std::atomic<uint32_t> gid{0};
  [[nodiscard]] uint64_t owner() const {
    return uid.load(std::memory_order_relaxed) |
           static_cast<uint64_t>(gid.load(std::memory_order_relaxed)) << 32;
  }

  // All handles of this process.
  std::atomic<File*> files = nullptr;
  uint64_t last_serial = 0;
  // The handle that each seat closed last, with its description's slot, for the next open to reuse.
  std::array<File*, pool::SeatArray::most> spare_files{};
  std::mutex files_lock;
  // One fork runs at a time. While it runs, handles are added to the list but not removed: a file
  // opened meanwhile is held for the child as well, and a file closed meanwhile is closed
  // afterwards.
  std::mutex fork_lock;
  int64_t lane_of_fork = -1;  // the child's; under files_lock

  // Hints of this process: inode numbers, open-file slots and pins that may be free.
  struct Candidates {
    static constexpr unsigned capacity = 64;
    std::atomic<uint32_t> lock{0};
    unsigned count = 0;
    uint64_t number[capacity];
    bool pop(uint64_t* value);
    bool push(uint64_t value);
  };
  Candidates free_inodes;
  Candidates free_open_files;
  Candidates free_pins;
  struct PinSearch {
    std::atomic<uint64_t> next{0};
    // Number of entries when the search last began from the start.
    std::atomic<uint64_t> searched{0};
    std::atomic<uint64_t> taken{0};  // entries taken since then
  };
  PinSearch pin_search;

  // Caches of the blocks that this process has found mapped, of tables and of directories (created
  // at the first look-up).
  mutable TableBlocks inode_blocks;
  mutable TableBlocks open_file_blocks;
  mutable std::atomic<DirectoryBlocks*> directory_blocks{nullptr};
  // Consecutive searches of the inode table that found nothing free, and the number of growths for
  // which the next search is skipped.
  std::atomic<uint32_t> fruitless_searches{0};
  std::atomic<uint32_t> searches_to_skip{0};

  [[nodiscard]] Map itable() const { return {&pool.state->itable, format::itable_number}; }
  [[nodiscard]] Map otable() const { return {&pool.state->otable, format::otable_number}; }
  [[nodiscard]] Map ptable() const { return {&pool.state->ptable, format::ptable_number}; }

  // Recovers the files of dead lanes (lane_recovery.h); called by the pool.
  std::unique_ptr<pool::Client> client;
};

// --- inode_table.cc ---
// Returns the inode of a number, whatever its state; null if the table has none, or is damaged
// there.
Inode* find_inode(const FileSystem& fs, uint64_t number);
inline Inode* inode_at(const FileSystem& fs, uint64_t number) {
  uint8_t* block = fs.inode_blocks.find(number / format::inodes_per_block);
  if (block == nullptr || number == 0) [[unlikely]]
    return find_inode(fs, number);
  return reinterpret_cast<Inode*>(block) + number % format::inodes_per_block;
}
// Returns ESTALE with a text: the inode is not live.
Status no_inode(uint64_t number);
inline bool is_live(const Inode& inode) { return (inode.state.load() & 7) == format::inode_live; }
// Returns true if the inode's contents lie in the covered directory: not yet staged, or evicted.
inline bool is_lazy(const Inode& inode) { return (inode.flags.load() & format::flag_lazy) != 0; }
inline Result<Inode*> live_inode(FileSystem& fs, uint64_t number) {
  Inode* inode = inode_at(fs, number);
  if (inode == nullptr || !is_live(*inode)) [[unlikely]]
    return no_inode(number);
  return inode;
}
// Returns true if the number still means the file of that generation (0: any). While the caller
// holds the inode's lock, the answer stays true; otherwise it holds for what the caller read
// before.
inline bool is_still(const Map& map, uint64_t generation) {
  return is_live(*map.inode) && (generation == 0 || map.inode->generation.load() == generation);
}
// Returns ESTALE if is_still() is false.
inline Status check_generation(const Map& map, uint64_t generation) {
  return is_still(map, generation) ? Status() : no_inode(map.number);
}
// A directory as its name led to it: its number, and above it the low bits of its generation (0:
// unknown). Before a name in the directory is changed, the directory may have been removed and its
// number reused.
inline constexpr unsigned number_bits = 36;
static_assert(format::max_inode == (1ULL << number_bits) - 1);
inline uint64_t found_as(uint64_t number, uint64_t generation) {
  return number | generation << number_bits;
}
inline uint64_t number_of(uint64_t found) { return found & format::max_inode; }
// Does what is_still() does, for a directory that found_as() describes.
inline bool is_what_was_found(const Map& map, uint64_t found) {
  return is_live(*map.inode) && (found <= format::max_inode ||
                                 found_as(map.number, map.inode->generation.load()) == found);
}
struct NewInode {
  Inode* inode = nullptr;
  uint64_t number = 0;
};
// Takes a free inode, sets type, owner and times, and leaves it in state allocating, noted in the
// seat. No name refers to it; a Change makes it live. A seat makes one inode at a time.
Result<NewInode> make_inode(FileSystem& fs, LocalSeat& seat, uint32_t mode, pool::Need need);
// Clears the seat's note after the Change has committed.
void inode_is_made(FileSystem& fs, LocalSeat& seat);
// Undoes make_inode().
void unmake_inode(FileSystem& fs, LocalSeat& seat, const NewInode& made);
// Frees an inode that holds nothing, as part of a change. No process may take the inode before the
// change is over, because a record that is replayed late must not meet the inode's next life. Until
// inode_is_retired(), the seat's note of an inode in the making reserves it. A seat retires one
// inode at a time.
void retire_inode(FileSystem& fs, LocalSeat& seat, pool::RedoChange& change, const Map& map);
// Releases the inode after the change has committed.
void inode_is_retired(FileSystem& fs, LocalSeat& seat, const Map& map);
// Releases an inode that was about to be freed and stays live.
void inode_is_kept(FileSystem& fs, LocalSeat& seat, const Map& map);

// Returns the time for changes of names and attributes. A drain detects changes by their times, so
// no two are equal.
uint64_t now_ns();

}  // namespace cairn::file
