// Pool: memory-speed storage on one node, mapped into every process that uses it.
//
// Invariants
//  1. A block belongs to the inode that its record names; a free bit is only a hint where to look.
//     But a process takes a block by clearing its bit (one atomic operation), so no block is taken
//     twice.
//  2. A process records everything that it holds in its lane: blocks in flight, inodes in the
//     making, shapes made odd, a redo record. A process that finds the lane dead finishes or undoes
//     it (recover.h).
//  3. A lock word names seat, lane generation and attach generation; it is void once either
//     generation has advanced, and a lane's generation advances only after its recovery.
//  4. A block that left a map is taken again only when no seat can still be copying from it
//     (epoch.h).
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <type_traits>

#include "base/status.h"
#include "format/lane.h"
#include "format/layout.h"
#include "media/liveness.h"
#include "persist/region/region.h"
#include "pool/core/held_lanes.h"
#include "pool/core/recent_chunks.h"

namespace cairn::pool {

using format::BlockRef;
using persist::Region;
using persist::Word;

struct Pool;

// One segment as this process sees it.
struct Segment {
  uint32_t number = 0;
  Region region;
  uint8_t* base = nullptr;
  int fd = -1;  // for mappings of its pages
  uint64_t blocks = 0;
  uint64_t data_start = 0;
  uint64_t chunks = 0;
  format::Chunk* chunk = nullptr;         // [chunks], also of the chunks before data_start (unused)
  format::BlockRecord* record = nullptr;  // [blocks]
  bool fresh_zero = false;                // untouched memory holds zeros (files; not devices)
  // Reserves memory of the medium for [offset, offset + size) before it is touched; clean ENOSPC or
  // ENOMEM if there is none. Null: the medium always has memory.
  std::function<Status(uint64_t offset, uint64_t size)> reserve;
  // Returns that memory to the system: the range reads as zeros and must be reserved anew. Null:
  // the memory stays with the pool.
  std::function<Status(uint64_t offset, uint64_t size)> release;
  // [chunks]: the release of a chunk that this process has seen; null if first touch costs nothing.
  std::unique_ptr<std::atomic<uint32_t>[]> releases_seen;
  std::function<void()> unmap;
};

// The contiguous blocks that a seat's last access to a file found; see file/data/run_cache.h.
struct RememberedRun {
  uint64_t handle = 0;  // serial of the open file, 0: none
  uint64_t shape = 0;
  uint64_t offset = 0;  // bytes of the file
  uint64_t size = 0;
  Region* region = nullptr;
  uint64_t at = 0;                // where they lie in the region
  const uint8_t* warm = nullptr;  // there, if they may be read without further ado
  uint64_t next = 0;              // where the last short access ended
};

// One seat as this process sees it. A thread keeps its seat until it ends; while it is in use, the
// thread's signal handlers use another one.
struct LocalSeat {
  format::Seat* words = nullptr;
  Region* home = nullptr;  // the region through which its words are stored
  const Word* pool_epoch = nullptr;
  uint32_t lane = 0;
  uint32_t index = 0;
  uint64_t lock_word = 0;
  std::atomic<uint32_t> thread{0};  // its thread id, 0: free
  RememberedRun run;
  std::atomic<bool> locking{false};  // held by a thread that has announced nothing

  // Returns true if the seat is in use; called by its thread.
  [[nodiscard]] bool is_in_use() const {
    return words->epoch.load_relaxed() != 0 || locking.load(std::memory_order_relaxed);
  }
};

// The file layer's part in the recovery of a lane: only it knows files.
class Client {
 public:
  Client() = default;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  virtual ~Client() = default;
  // Returns true if the map of `inode` holds `block` at `file_block` (level 0: data).
  virtual bool is_published(uint64_t inode, uint64_t file_block, unsigned level,
                            BlockRef block) = 0;
  // Undoes a dead owner's work of one seat: its inode in the making, its bytes beyond the end of
  // file.
  virtual void recover_seat(format::Seat& seat) = 0;
  // Undoes a dead owner's work of a lane: folds its time stamps, drops its references to open
  // files. Takes no lock: the caller may hold some.
  virtual void recover_lane(uint32_t lane) = 0;
  // Frees what unlink and truncate left behind; returns whether any block came back.
  virtual bool reclaim_withheld(LocalSeat& seat) = 0;
  // Frees blocks that no process can be copying from any more; does not wait, and stops at some
  // megabytes.
  virtual bool reclaim_passed(LocalSeat& seat) = 0;
};

// Byte numbers of the locks in the lock file, far beyond its end.
inline constexpr uint64_t attach_lock_byte = 1ULL << 40;  // first attach, last detach, grow
constexpr uint64_t lane_lock_byte(uint32_t lane) { return (1ULL << 40) + 1 + lane; }
constexpr uint64_t pin_lock_byte(uint64_t pin) { return (1ULL << 41) + pin; }

// The seats of all lanes that a process may take. A seat begins with set_up(): attaching must not
// write to all of them.
class SeatArray {
 public:
  static constexpr size_t most = static_cast<size_t>(max_local_lanes) * format::seats_per_lane;
  [[nodiscard]] static constexpr size_t size() { return most; }
  [[nodiscard]] LocalSeat* data() { return reinterpret_cast<LocalSeat*>(room_); }
  LocalSeat& operator[](size_t i) { return data()[i]; }
  LocalSeat& set_up(size_t i) { return *new (data() + i) LocalSeat; }

 private:
  static_assert(std::is_trivially_destructible_v<LocalSeat>);
  alignas(LocalSeat) uint8_t room_[most * sizeof(LocalSeat)];
};

struct Pool {
  Pool();
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // --- what is attached: set by files.h, constant afterwards but for added segments ---
  std::string path;
  std::string home;            // the directory of companions: the pool's own, or its lock file's
  std::string lock_path;       // the file whose bytes are the lanes' liveness locks
  uint64_t lock_identity = 0;  // of the lock file of a pool on a device, see lock_file.h
  // The identity of the pool's own lock file when the pool was opened; 0: not known.
  uint64_t lock_device = 0;
  uint64_t lock_inode = 0;
  std::unique_ptr<Segment> segment[format::max_segments];
  std::atomic<uint32_t> segments{0};
  const format::Superblock* identity = nullptr;
  format::State* state = nullptr;
  format::OrphanShard* orphans = nullptr;
  format::Lane* lanes = nullptr;
  uint32_t lane_count = 0;
  uint64_t attach_generation = 0;
  bool is_volatile = true;
  bool read_only = false;
  bool light_entry = false;  // seats are entered without a fence, see seats.h
  bool plain_entry = false;  // and with nothing but stores: PlainSeat
  uint64_t serial = 0;       // of this attachment in this process, never reused
  std::function<Status(Pool&)> map_new_segments;  // others have grown the pool: growth.h
  mutable std::mutex growing;
  Client* client = nullptr;

  // --- this process's place: seats.cc ---
  HeldLanes held;
  SeatArray seats;
  std::atomic<uint32_t> seats_ready{0};
  std::unique_ptr<format::Seat[]> private_seats;  // of a pool attached for reading
  std::atomic<uint32_t> adding_lane{0};
  bool no_liveness = false;  // images under check: no process is alive, nothing is locked

  // --- hints of this process; races are harmless ---
  std::atomic<uint64_t> current_chunk{UINT64_MAX};  // segment << 32 | chunk, see space.cc
  std::atomic<uint64_t> current_owner{0};           // the lock word it was acquired with
  std::atomic<uint32_t> next_bit{0};                // where the last run in it ended
  std::atomic<uint64_t> search_from{0};  // segment << 32 | chunk: where to look for another
  RecentChunks recent_whole;             // entirely free
  RecentChunks recent_room;
  // The number of chunks opened since the free pieces were last counted, when to count again, and
  // the result; see find_chunk.cc.
  std::atomic<uint32_t> opened_since_count{0};
  std::atomic<uint32_t> next_count{16};
  std::atomic<bool> many_pieces{false};
  // The number of removals since this process last checked whether they can be freed.
  std::atomic<uint64_t> orphans_made{0};
  std::atomic<uint64_t> blocks_orphaned{0};

  // Returns the superblock copy that counts.
  [[nodiscard]] const format::Superblock& superblock() const { return *identity; }

  // Maps the segments that others have added since this process last checked. Const: the mapping is
  // only a cache of the superblock.
  Status see_growth() const;
  // Returns true if segment `number` is part of the pool, and mapped. Allocates, takes a lock and
  // makes system calls only if others have just added it.
  [[nodiscard]] bool has_segment(uint64_t number) const {
    return number < segments.load(std::memory_order_acquire) || find_segment(number);
  }

  // --- addresses; addresses from the medium are validated first ---
  [[nodiscard]] bool valid(BlockRef block) const {
    return has_segment(block.segment()) && block.index() < segment[block.segment()]->blocks &&
           block.index() >= segment[block.segment()]->data_start;
  }
  [[nodiscard]] bool valid_run(BlockRef first, uint64_t count) const {
    return valid(first) && first.index() + count <= segment[first.segment()]->blocks;
  }
  [[nodiscard]] uint8_t* at(BlockRef block) const {
    return segment[block.segment()]->base + (block.index() << format::block_shift);
  }
  [[nodiscard]] Region& region(BlockRef block) const { return segment[block.segment()]->region; }
  [[nodiscard]] format::BlockRecord& record(BlockRef block) const {
    return segment[block.segment()]->record[block.index()];
  }
  [[nodiscard]] format::Chunk& chunk(BlockRef block) const {
    return segment[block.segment()]->chunk[block.index() / format::chunk_blocks];
  }
  // Returns the segment that holds a word of the pool.
  [[nodiscard]] Segment& segment_of(const void* address) const {
    Segment* first = segment[0].get();
    const auto* p = static_cast<const uint8_t*>(address);
    if (p >= first->base && p < first->base + (first->blocks << format::block_shift)) [[likely]]
      return *first;
    return segment_of_slow(p);
  }
  // Returns the bytes from a segment's start.
  [[nodiscard]] static uint64_t offset_in(const Segment& segment, const void* address) {
    return static_cast<uint64_t>(static_cast<const uint8_t*>(address) - segment.base);
  }
  // Addresses in redo records: segment << 40 | byte offset. word_at gives null outside the pool.
  [[nodiscard]] uint64_t address_of(const void* word) const;
  [[nodiscard]] Word* word_at(uint64_t address) const;

  // --- words; the segment is found by address ---
  void store(Word& word, uint64_t value) { segment_of(&word).region.store(word, value); }
  uint64_t exchange(Word& word, uint64_t value) {
    return segment_of(&word).region.exchange(word, value);
  }
  bool compare_exchange(Word& word, uint64_t& expected, uint64_t desired) {
    return segment_of(&word).region.compare_exchange(word, expected, desired);
  }
  uint64_t fetch_add(Word& word, uint64_t value) {
    return segment_of(&word).region.fetch_add(word, value);
  }
  uint64_t fetch_or(Word& word, uint64_t bits) {
    return segment_of(&word).region.fetch_or(word, bits);
  }
  uint64_t fetch_and(Word& word, uint64_t bits) {
    return segment_of(&word).region.fetch_and(word, bits);
  }
  void flush(const void* address, size_t size, persist::Site site = persist::Site::here()) {
    if (!is_volatile) segment_of(address).region.flush(address, size, site);
  }
  // Returns EROFS, with its text, if the pool is attached for reading.
  [[nodiscard]] Status check_writable() const;
  // Drains what this thread flushed, in every segment.
  Status fence(persist::Site site = persist::Site::here()) {
    return is_volatile ? Status() : fence_all(site);
  }
  // Does what fence() does, for bytes of files and the entries that lead to them. On page media
  // these wait for fsync, which writes back everything: this thread's flushes are dropped.
  Status fence_bytes(persist::Site site = persist::Site::here()) {
    return is_volatile ? Status() : fence_bytes_all(site);
  }
  void store_flush(Word& word, uint64_t value, persist::Site site = persist::Site::here()) {
    store(word, value);
    flush(&word, sizeof word, site);
  }
  // Calls visit(number) for every lane that is attached (dead ones included) until it returns
  // false.
  template <typename Visit>
  bool for_each_lane(Visit visit) const {
    for (uint32_t w = 0; w < std::size(state->attached); ++w) {
      for (uint64_t bits = state->attached[w].load(); bits != 0; bits &= bits - 1) {
        const uint32_t l = w * 64 + static_cast<uint32_t>(std::countr_zero(bits));
        if (l >= lane_count || (lanes[l].generation.load() & 1) == 0) continue;
        if (!visit(l)) return false;
      }
    }
    return true;
  }
  // Copies bulk bytes into one block.
  Status copy_in(BlockRef block, uint64_t offset, const void* source, size_t size) {
    return region(block).copy((block.index() << format::block_shift) + offset, source, size);
  }
  Status zero(BlockRef block, uint64_t offset, uint64_t size) {
    return region(block).zero((block.index() << format::block_shift) + offset, size);
  }

 private:
  [[nodiscard]] bool find_segment(uint64_t number) const;
  [[nodiscard]] Segment& segment_of_slow(const uint8_t* p) const;
  Status fence_all(persist::Site site);
  Status fence_bytes_all(persist::Site site);
};

}  // namespace cairn::pool
