// Lower is where the contents of lazy files and directories come from. One per attached pool, for
// all of its covers.
//
// Invariants
//  1. While an inode is lazy, its path below its cover's top is its path below the covered
//     directory: what is about to move is made the pool's own first.
//  2. Lazy goes away only once everything that lay in lower is in the pool, in one atomic change;
//     until then everybody reads lower. So no half-imported directory or file is ever seen.
//  3. What is read from lower is what it was when its name was imported (device, inode, size,
//     mtime), or the call fails with ESTALE: a file that changed behind our back is never mixed
//     with the old.
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
#include "tier/system/source.h"
#include "tier/system/system.h"

namespace cairn::tier {

// A cover, as this process knows it. Kept until the pool is detached.
struct Known {
  std::string path;
  uint64_t top = 0;
  uint64_t generation = 0;  // of the inode `top`
  uint64_t device = 0;      // of the covered directory
  Known* next = nullptr;
};

// Where a lazy inode lies in lower.
struct Place {
  const Known* cover = nullptr;
  uint64_t parent = 0;  // directory and name in the pool; 0 for the top itself
  std::string name;
  std::string path;  // in the system
  file::LowerIdentity identity;
  bool was_evicted = false;       // the pool had the file's bytes
  std::optional<uint32_t> owner;  // of the file; none: the pool has a change that lower has not
};

// In Inode::lower_unit of a directory: it was made in lower by a drain that has not finished below
// it, so what lies there is looked at, name by name.
inline constexpr uint64_t unit_is_new = 1ULL << 63;

// Names in lower that a cover never shows: the claim, and these with digits that Cairn puts behind
// them. Whatever else begins like them is the user's.
inline constexpr const char* claim_file = ".cairn-claim";
inline constexpr const char* drain_prefix = ".cairn-drain-";
// Of the files that one drain writes aside at once.
inline constexpr size_t most_aside = 64;
std::string numbered_aside(const std::string& aside, size_t number);
// What a drain that was killed has left in a directory, named after one of them.
void remove_aside(int directory, const std::string& aside);
bool is_hidden(const std::string& name);
// At the top of the covered directory also the directory of the records of files that several nodes
// write (cluster/record/record.h). Deeper down such a name is the user's.
inline constexpr const char* records_directory = ".cairn";
bool is_hidden_at_top(const std::string& name);

// Descriptors of lower files that were read lately. All of them verify, before they are used, that
// the number still is what it was: programs close numbers that they do not know.
class DescriptorCache {
 public:
  DescriptorCache() = default;
  ~DescriptorCache();
  DescriptorCache(const DescriptorCache&) = delete;
  DescriptorCache& operator=(const DescriptorCache&) = delete;

  // A file in lower, by the inode that it is the contents of. A drain puts another one in its
  // place, which `drained` tells.
  struct Key {
    uint64_t inode = 0;
    uint64_t generation = 0;
    uint64_t drained = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  static Key key_of(const file::Map& map) {
    return {map.number, map.inode->generation.load(), map.inode->drained.load()};
  }
  // Reads through a kept descriptor; -EBADF if there is none (or it is in use by another thread).
  int64_t pread(const Key& key, void* buffer, size_t size, uint64_t offset);
  void keep(const Key& key, const struct stat& st, sys::Descriptor fd);

 private:
  static constexpr unsigned capacity = 64;
  struct Kept {
    std::atomic_flag busy = ATOMIC_FLAG_INIT;
    Key key;
    int fd = -1;
    struct stat st = {};
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

  // Of files without names whose bytes lie elsewhere.
  Sources& sources() { return sources_; }
  // ESTALE if the inode came from no cover that exists.
  Result<Place> locate(uint64_t inode);
  // At or below this directory something changed in lower at `newest` with our knowledge: its
  // identity and those of the directories above say so.
  Status raise_newest(uint64_t directory, uint64_t newest);
  // From a directory up to below the top: visit(its inode, the newest time of its identity) may
  // change that, and ends the way with false.
  using Climb = std::function<bool(uint64_t inode, uint64_t* newest)>;
  Status climb(uint64_t directory, const Climb& visit);
  // The cover whose top this inode is; null if it is none.
  Result<const Known*> cover_of_top(uint64_t top);
  // The covered directory has been opened by the path of the cover: it lies on this device.
  Status confirm_device(uint64_t top, const std::string& path, uint64_t device);
  // To this process the cover's directory lies at `path` from now on: it was moved.
  Status move_cover(uint64_t top, const std::string& path);

 private:
  const Known* make_known(const std::string& path, uint64_t top, uint64_t generation,
                          uint64_t device);
  Status import_names(const Place& place, uint64_t inode);
  Status import_one(const Place& place, uint64_t directory, int fd, const std::string& name,
                    uint64_t* newest);
  Result<size_t> read_lower(const file::Map& map, void* buffer, size_t size, uint64_t offset);
  Result<uint64_t> seek_lower(const file::Map& map, uint64_t offset, int whence);
  // What `look` sees of a lazy file in lower; once more if a drain was just changing its times, or
  // was killed while it did.
  template <typename Look>
  auto undisturbed(const file::Map& map, Look look);
  // The caller holds the file's ImportLock. If lower has the file with the times that a killed
  // drain has announced, the pool remembers these; ESTALE: it has not.
  Status take_announced(const file::Map& map);
  Status copy_in(const file::Map& map, uint64_t* size);
  Status copy_from(const Place& place, const file::Map& map);
  Result<std::shared_ptr<Source>> source_of(const file::Map& map);
  Status stage_source(const file::Map& map, Source& source);
  Result<sys::Descriptor> open_file(const Place& place, struct stat* st) const;
  // What lower has of a file that may be evicted.
  Status look_for_eviction(const file::Map& map, file::Evictable* seen);
  // Evicts until so many blocks have gone, or no file is left that can go; how many have.
  uint64_t evict_oldest(uint64_t blocks);

  file::FileSystem& fs_;
  std::atomic<Known*> known_{nullptr};
  DescriptorCache descriptors_;
  Sources sources_;
  std::atomic<uint64_t> next_to_evict_{0};  // inode number: where the last search ended
  std::atomic<uint64_t> rest_until_{0};     // ns of the monotonic clock: it has found nothing
};

// The entry of inode `number` in a directory: in the slot at `unit` - 1 or, failing that (0:
// unknown), found by looking through all names. ESTALE if it is not there.
Result<file::Listed> entry_of(file::FileSystem& fs, const file::Map& directory, uint64_t unit,
                              uint64_t number);

// The LowerTree that serves `fs`; it is to be put into fs.lower.
std::unique_ptr<file::Lower> make_lower(file::FileSystem& fs);
// The one that serves a file system already, made if there is none.
LowerTree& lower_of(file::FileSystem& fs);

// --- identity.cc --- The device is told as 0 where it is that of the covered directory: network
// file systems get another number with every mount.
file::LowerIdentity identity_of(const Known& cover, const struct stat& st);
bool is_same(const file::LowerIdentity& a, const file::LowerIdentity& b);
// A directory's identity says device, inode and (in `mtime`) its owner; `size` holds the newest
// ctime that anything at or below it had when it was imported or drained, against which its removal
// is checked. newest_unknown: something lies there that the pool does not know, so it is not
// removed at all.
inline constexpr uint64_t newest_unknown = 0;
file::LowerIdentity directory_identity(const Known& cover, const struct stat& st, uint64_t newest);
// `found`: of a directory that is there now. A file system gives the number of a removed directory
// to the next one, so the owner counts as well: the one that is remembered, the user, or root.
bool is_same_directory(const file::LowerIdentity& remembered, const file::LowerIdentity& found);
// Whether what has these attributes is what the pool remembers under a name.
bool is_remembered(const Known& known, const file::LowerIdentity& identity, const struct stat& st);
// What a name of the pool is in lower from now on (null: nothing); ENOENT if the pool has no such
// name.
Status set_identity(file::FileSystem& fs, const file::Map& directory, const std::string& name,
                    const file::LowerIdentity* identity);

// Is held while an inode's contents come from lower, by whoever fills or stages it, and by a drain
// while the file's times there and what the pool remembers of them are not the same. A lock of the
// pool (the inode's append lock, which nobody else takes while it is lazy), so it ends with its
// owner.
class ImportLock {
 public:
  ImportLock(file::FileSystem& fs, const file::Map& map);
  ~ImportLock();
  ImportLock(const ImportLock&) = delete;
  ImportLock& operator=(const ImportLock&) = delete;
  [[nodiscard]] bool ok() const { return seat_.ok(); }

 private:
  file::FileSystem& fs_;
  const file::Map& map_;
  pool::SeatGuard seat_;
};

}  // namespace cairn::tier
