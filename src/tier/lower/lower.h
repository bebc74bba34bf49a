// LowerTree is what a process remembers of lower. Each attached pool has one, for all of its
// covers.
// The contents of lazy files and directories are found by record/locate.h, imported by
// stage/import.h, read and staged by stage/stage.h, and given back by drain/evict.h.
// cover/cover_lower.h makes the LowerTree whose calls go to these.
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
#include <memory>
#include <optional>
#include <string>

#include "file/inode/file_system.h"
#include "file/namespace/directory.h"
#include "file/open/open_file.h"
#include "file/space/evict.h"
#include "pool/lanes/seats.h"
#include "tier/lower/known_cover.h"
#include "tier/lower/witness.h"
#include "tier/system/source.h"
#include "tier/system/system.h"

namespace cairn::tier {

// The place of a lazy inode in lower.
struct LowerLocation {
  const KnownCover* cover = nullptr;
  uint64_t parent = 0;  // directory and name in the pool; 0 for the top itself
  std::string name;
  std::string path;  // in the system
  file::Witness witness;
  bool was_evicted = false;       // the pool had the file's bytes
  std::optional<uint32_t> owner;  // of the file; none: the pool has a change that lower has not
  Rights rights;                  // as the pool has them
};

// The unit + 1 of the slot, in directory Inode::lower_parent, of the name that lower has or had of
// the inode. 0: not known.
inline uint64_t home_unit(const file::Inode& inode) {
  return inode.lower_unit.load() & format::unit_bits;
}
// Has the inode lost that name since?
inline bool has_left_home(const file::Inode& inode) {
  return (inode.lower_unit.load() & format::unit_was_left) != 0;
}

// Names in lower that a cover never shows: the claim, and these prefixes with the digits that Cairn
// appends. Other names with these prefixes are the user's.
inline constexpr const char* claim_file = ".cairn-claim";
inline constexpr const char* drain_prefix = ".cairn-drain-";
// The most temporary files that one drain has at a time, and the name of one of them.
inline constexpr size_t most_temp_files = 64;
std::string numbered_temp_name(const std::string& temp_name, size_t number);
// Removes the temporary files of a killed drain from a directory; `temp_name` is the name of one.
void remove_temp_files(int directory, const std::string& temp_name);
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
  struct DescriptorKey {
    uint64_t inode = 0;
    uint64_t generation = 0;
    uint64_t drained = 0;
    uint64_t changed = 0;  // in the pool: it may have other rights then
    friend bool operator==(const DescriptorKey&, const DescriptorKey&) = default;
  };
  static DescriptorKey key_of(const file::Map& map) {
    return {map.number, map.inode->generation.load(), map.inode->drained.load(),
            map.inode->ctime.load()};
  }
  // Reads through a kept descriptor; -EBADF if there is none (or it is in use by another thread).
  int64_t pread(const DescriptorKey& key, void* buffer, size_t size, uint64_t offset);
  void keep(const DescriptorKey& key, const sys::FileStat& st, sys::Descriptor fd);

 private:
  static constexpr unsigned capacity = 64;
  struct CachedDescriptor {
    std::atomic_flag busy = ATOMIC_FLAG_INIT;
    DescriptorKey key;
    int fd = -1;
    sys::FileStat st = {};
  };
  static bool is_still(const CachedDescriptor& kept);
  static void drop(CachedDescriptor& kept);
  CachedDescriptor kept_[capacity];
};

class LowerTree : public file::Lower {
 public:
  explicit LowerTree(file::FileSystem& fs) : fs_(fs) {}
  ~LowerTree() override;
  LowerTree(const LowerTree&) = delete;
  LowerTree& operator=(const LowerTree&) = delete;

  [[nodiscard]] file::FileSystem& fs() const { return fs_; }
  KnownCovers& covers() { return covers_; }
  DescriptorCache& descriptors() { return descriptors_; }
  // The sources of files without names.
  Sources& sources() { return sources_; }
  // The result of pool_gives_rights() (pool_rights.h); -1: it has not looked yet.
  std::atomic<int> pool_gives_rights{-1};

 private:
  file::FileSystem& fs_;
  KnownCovers covers_;
  DescriptorCache descriptors_;
  Sources sources_;
};

// The LowerTree of a file system; FileSystem::lower_maker makes it if there is none.
LowerTree& lower_of(file::FileSystem& fs);

// Does the cover of this name hold undrained data? Of a pool that is attached for this question.
using HoldsData = bool (*)(file::FileSystem& fs, const std::string& cover);
// LowerHooks has the calls of the room cover that earlier rooms make. FileSystem::lower_maker is of
// this type.
struct LowerHooks : file::LowerMaker {
  HoldsData holds_data;
};
HoldsData holds_data_of(const file::FileSystem& fs);

}  // namespace cairn::tier
