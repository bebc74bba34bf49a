// LowerTree reads the contents of lazy files and directories from lower. Each attached pool has
// one, for all of its covers.
//
// Invariants
//  1. While an inode is lazy, its path below its cover's top is its path below the covered
//     directory: a file is staged before it is moved.
//  2. An inode stops being lazy in one atomic change, after everything that lay in lower is in the
//     pool. Until then all processes read lower. So no process sees a half-imported directory or
//     file.
//  3. A file in lower is read only if it has the witness (witness.h) of the one whose name was
//     imported; if not, the call fails with ESTALE. So bytes of a file that was changed outside
//     Cairn are never mixed with older ones.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "file/inode/file_system.h"
#include "file/namespace/directory.h"
#include "file/open/open_file.h"
#include "file/space/evict.h"
#include "pool/lanes/seats.h"
#include "tier/lower/known.h"
#include "tier/lower/witness.h"
#include "tier/system/source.h"
#include "tier/system/system.h"

namespace cairn::tier {

// Where a lazy inode lies in lower.
struct Place {
  const Known* cover = nullptr;
  uint64_t parent = 0;  // directory and name in the pool; 0 for the top itself
  std::string name;
  std::string path;  // in the system
  file::Witness witness;
  bool was_evicted = false;       // the pool had the file's bytes
  std::optional<uint32_t> owner;  // of the file; none: the pool has a change that lower has not
  Rights rights;                  // as the pool has them
};

// In Inode::lower_unit of a directory: a drain has made it in lower and has not finished below it.
// So each name there is compared with lower.
inline constexpr uint64_t unit_is_new = 1ULL << 63;

// Names in lower that a cover never shows: the claim, and these prefixes with the digits that Cairn
// appends. Other names with these prefixes are the user's.
inline constexpr const char* claim_file = ".cairn-claim";
inline constexpr const char* drain_prefix = ".cairn-drain-";
// The most temporary files that one drain has at a time.
inline constexpr size_t most_aside = 64;
std::string numbered_aside(const std::string& aside, size_t number);
// Removes the temporary files of a killed drain from a directory; `aside` is the name of one.
void remove_aside(int directory, const std::string& aside);
bool is_hidden(const std::string& name);
// At the top of the covered directory, the directory of the records of files that several nodes
// write (cluster/record/record.h) is hidden as well. Deeper down such a name is the user's.
inline constexpr const char* records_directory = ".cairn";
bool is_hidden_at_top(const std::string& name);

// Descriptors of lower files that were read lately. Before each use it is checked that the number
// still means the same file, because programs close descriptors that they do not know.
class DescriptorCache {
 public:
  DescriptorCache() = default;
  ~DescriptorCache();
  DescriptorCache(const DescriptorCache&) = delete;
  DescriptorCache& operator=(const DescriptorCache&) = delete;

  // A file in lower, by the inode whose contents it has. A drain replaces it by another file, and
  // `drained` differs then.
  struct Key {
    uint64_t inode = 0;
    uint64_t generation = 0;
    uint64_t drained = 0;
    uint64_t changed = 0;  // in the pool: it may have other rights then
    friend bool operator==(const Key&, const Key&) = default;
  };
  static Key key_of(const file::Map& map) {
    return {map.number, map.inode->generation.load(), map.inode->drained.load(),
            map.inode->ctime.load()};
  }
  // Reads through a kept descriptor; -EBADF if there is none (or it is in use by another thread).
  int64_t pread(const Key& key, void* buffer, size_t size, uint64_t offset);
  void keep(const Key& key, const sys::FileStat& st, sys::Descriptor fd);

 private:
  static constexpr unsigned capacity = 64;
  struct Kept {
    std::atomic_flag busy = ATOMIC_FLAG_INIT;
    Key key;
    int fd = -1;
    sys::FileStat st = {};
  };
  static bool is_still(const Kept& kept);
  static void drop(Kept& kept);
  Kept kept_[capacity];
};

class LowerTree final : public file::Lower {
 public:
  explicit LowerTree(file::FileSystem& fs) : fs_(fs) {}
  ~LowerTree() override;
  LowerTree(const LowerTree&) = delete;
  LowerTree& operator=(const LowerTree&) = delete;

  Status fill_directory(uint64_t inode) override;
  Result<size_t> read(uint64_t inode, void* buffer, size_t size, uint64_t offset) override;
  Result<uint64_t> seek(uint64_t inode, uint64_t offset, int whence) override;
  Status stage(uint64_t inode) override;
  Status discard(uint64_t inode, uint64_t generation) override;
  Status stage_tree(uint64_t inode) override;
  bool evict_some(uint64_t bytes, bool has_drained) override;
  std::shared_ptr<file::Remote> remote(uint64_t inode) override;
  // See evict.h.
  Status evict(uint64_t inode, uint64_t* blocks);

  // The sources of files without names.
  Sources& sources() { return sources_; }
  // What pool_gives_rights() has found (pool_rights.h); -1: it has not looked yet.
  std::atomic<int> pool_gives_rights{-1};
  // ESTALE if the inode came from no cover that exists.
  Result<Place> locate(uint64_t inode);
  // Notes in the witnesses of this directory and those above it that Cairn has changed something
  // at or below it in lower at `newest`.
  Status raise_newest(uint64_t directory, uint64_t newest);
  // Notes the owner of a directory, which a drain has just set.
  Status note_owner(uint64_t directory, const sys::FileStat& st);
  // Calls visit(inode, newest time of its witness) for a directory and those above it, without the
  // top. The visit may change the time; false ends the walk.
  using Climb = std::function<bool(uint64_t inode, uint64_t* newest)>;
  Status climb(uint64_t directory, const Climb& visit);
  // The cover whose top this inode is; null if it is none.
  Result<const Known*> cover_of_top(uint64_t top);
  // Notes the device of the covered directory, which was opened by the path of the cover.
  Status confirm_device(uint64_t top, const std::string& path, uint64_t device);
  // The covered directory was moved to `path`; this process looks for it there from now on.
  Status move_cover(uint64_t top, const std::string& path);

 private:
  const Known* make_known(const Known& known);
  Status import_names(const Place& place, uint64_t inode);
  Status import_one(const Place& place, uint64_t directory, int fd, const std::string& name,
                    uint64_t* newest);
  Result<size_t> read_lower(const file::Map& map, void* buffer, size_t size, uint64_t offset);
  Result<uint64_t> seek_lower(const file::Map& map, uint64_t offset, int whence);
  // Calls `look`, which reads a lazy file in lower; once more if a drain was setting the file's
  // times, or was killed while it did.
  template <typename Look>
  auto undisturbed(const file::Map& map, Look look);
  // The caller holds the file's ImportLock. If lower has the file with the times that a killed
  // drain has announced, the pool remembers these; ESTALE: it has not.
  Status take_announced(const file::Map& map);
  Status copy_in(const file::Map& map, uint64_t* size);
  Status copy_from(const Place& place, const file::Map& map);
  Result<std::shared_ptr<Source>> source_of(const file::Map& map);
  Status stage_source(const file::Map& map, Source& source);
  // `base`: as for open_lower().
  Result<sys::Descriptor> open_file(const Place& place, sys::FileStat* st,
                                    sys::Descriptor* base = nullptr) const;
  // Reads what lower has of a file that may be evicted.
  Status look_for_eviction(const file::Map& map, file::Evictable* seen);
  // Evicts files until so many blocks are free, or no more files can be evicted. The number of
  // blocks.
  uint64_t evict_oldest(uint64_t blocks);

  file::FileSystem& fs_;
  std::atomic<Known*> known_{nullptr};
  DescriptorCache descriptors_;
  Sources sources_;
  std::atomic<uint64_t> next_to_evict_{0};  // inode number: where the last search ended
  std::atomic<uint64_t> rest_until_{0};     // ns of the monotonic clock: no search until then
};

// The entry of inode `number` in a directory: in the slot at `unit` - 1 or, failing that (0:
// unknown), found by looking through all names. ESTALE if it is not there.
Result<file::Listed> entry_of(file::FileSystem& fs, const file::Map& directory, uint64_t unit,
                              uint64_t number);

// Makes the LowerTree of `fs`, which the caller puts into fs.lower.
std::unique_ptr<file::Lower> make_lower(file::FileSystem& fs);
// The LowerTree of a file system, made if there is none.
LowerTree& lower_of(file::FileSystem& fs);

// A process holds this lock while it imports or stages an inode, and while a drain changes the
// file's times in lower and the pool's note of them. It is a lock of the pool, so it ends with its
// owner: the inode's append lock, which is not used otherwise while the inode is lazy.
class ImportLock {
 public:
  static constexpr uint64_t forever = UINT64_MAX;
  // Waits for the lock for so long. A process that stages a file may hold it until another process
  // has made room.
  ImportLock(file::FileSystem& fs, const file::Map& map, uint64_t patience_ns = forever);
  ~ImportLock();
  ImportLock(const ImportLock&) = delete;
  ImportLock& operator=(const ImportLock&) = delete;
  [[nodiscard]] bool ok() const { return seat_.ok(); }
  // False: another process held it for all that time.
  [[nodiscard]] bool is_held() const { return is_held_; }

 private:
  file::FileSystem& fs_;
  const file::Map& map_;
  pool::SeatGuard seat_;
  bool is_held_ = false;
};

}  // namespace cairn::tier
