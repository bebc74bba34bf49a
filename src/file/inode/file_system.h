// FileSystem: the files of one attached pool. Holds what this process knows beyond the pool itself;
// the operations stand in files of their own:
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

  // Every handle of this process.
  std::atomic<File*> files = nullptr;
  uint64_t last_serial = 0;
  // The handle that each seat closed last, with its description's slot: what opens next takes it.
  std::array<File*, pool::SeatArray::most> spare_files{};
  std::mutex files_lock;
  // One fork at a time. While it is under way, the list of handles may grow, but nothing leaves it:
  // what is opened is held for the child as well, and what is closed is closed afterwards.
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
    std::atomic<uint64_t> searched{0};  // how many there were when it last began from the start
    std::atomic<uint64_t> taken{0};     // of these, since then
  };
  PinSearch pin_search;

  // Where this process has found blocks mapped: of the tables, and of directories (made at the
  // first look-up).
  mutable TableBlocks inode_blocks;
  mutable TableBlocks open_file_blocks;
  mutable std::atomic<DirectoryBlocks*> directory_blocks{nullptr};
  // Searches of the inode table that found nothing free lately: how many growths to skip the next
  // for.
  std::atomic<uint32_t> fruitless_searches{0};
  std::atomic<uint32_t> searches_to_skip{0};

  [[nodiscard]] Map itable() const { return {&pool.state->itable, format::itable_number}; }
  [[nodiscard]] Map otable() const { return {&pool.state->otable, format::otable_number}; }
  [[nodiscard]] Map ptable() const { return {&pool.state->ptable, format::ptable_number}; }

  // Recovers what dead lanes leave (lane_recovery.h); the pool calls it.
  std::unique_ptr<pool::Client> client;
};

// --- inode_table.cc ---
// The inode of a number, whatever its state; null if the table has none, or is damaged there.
Inode* find_inode(const FileSystem& fs, uint64_t number);
inline Inode* inode_at(const FileSystem& fs, uint64_t number) {
  uint8_t* block = fs.inode_blocks.find(number / format::inodes_per_block);
  if (block == nullptr || number == 0) [[unlikely]]
    return find_inode(fs, number);
  return reinterpret_cast<Inode*>(block) + number % format::inodes_per_block;
}
// inode_at() for a live inode: ESTALE if it is not live.
Status no_inode(uint64_t number);
inline bool is_live(const Inode& inode) { return (inode.state.load() & 7) == format::inode_live; }
// Do its contents still, or again, lie in the covered directory?
inline bool is_lazy(const Inode& inode) { return (inode.flags.load() & format::flag_lazy) != 0; }
inline Result<Inode*> live_inode(FileSystem& fs, uint64_t number) {
  Inode* inode = inode_at(fs, number);
  if (inode == nullptr || !is_live(*inode)) [[unlikely]]
    return no_inode(number);
  return inode;
}
// Does the number still mean the file of that generation (0: any will do)? For good while the
// inode's lock is held; else of what was looked at before.
inline bool is_still(const Map& map, uint64_t generation) {
  return is_live(*map.inode) && (generation == 0 || map.inode->generation.load() == generation);
}
// ESTALE if not.
inline Status check_generation(const Map& map, uint64_t generation) {
  return is_still(map, generation) ? Status() : no_inode(map.number);
}
// A directory as it was found by its name: its number, and above that as much of its generation as
// there is room for (0: not known). By the time that a name in it is changed, it may have been
// removed, and another directory may have its number.
inline constexpr unsigned number_bits = 36;
static_assert(format::max_inode == (1ULL << number_bits) - 1);
inline uint64_t found_as(uint64_t number, uint64_t generation) {
  return number | generation << number_bits;
}
inline uint64_t number_of(uint64_t found) { return found & format::max_inode; }
// As is_still.
inline bool is_what_was_found(const Map& map, uint64_t found) {
  return is_live(*map.inode) && (found <= format::max_inode ||
                                 found_as(map.number, map.inode->generation.load()) == found);
}
struct NewInode {
  Inode* inode = nullptr;
  uint64_t number = 0;
};
// Takes a free inode, fills in type, owner and times, and leaves it in state allocating, noted in
// the seat. Nothing names it yet; a Change makes it live. One at a time per seat.
Result<NewInode> make_inode(FileSystem& fs, LocalSeat& seat, uint32_t mode, pool::Need need);
// The Change has committed: the seat's note goes.
void inode_is_made(FileSystem& fs, LocalSeat& seat);
// Undoes make_inode.
void unmake_inode(FileSystem& fs, LocalSeat& seat, const NewInode& made);
// Frees an inode that holds nothing, as part of a change. Nobody may take it before the change is
// over, for a record that is replayed late must not meet its next life: until inode_is_retired() it
// is noted in the seat as one in the making. One at a time per seat.
void retire_inode(FileSystem& fs, LocalSeat& seat, pool::Change& change, const Map& map);
// The change has committed.
void inode_is_retired(FileSystem& fs, LocalSeat& seat, const Map& map);
// It was about to be freed and lives on.
void inode_is_kept(FileSystem& fs, LocalSeat& seat, const Map& map);

// For names and attributes: draining tells changes by their times, so two must not look alike.
uint64_t now_ns();

}  // namespace cairn::file
