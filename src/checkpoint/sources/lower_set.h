// LowerSet: the copies of a set's versions in a directory of lower, DIR/.cairn-checkpoints/NAME.
// Each file gets its name when it is complete and durable.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "tier/system/cache_limit.h"
#include "tier/system/system.h"

namespace cairn::checkpoint {

inline constexpr const char* lower_checkpoints = ".cairn-checkpoints";

// Suffixes of the files of a version, behind its name "v000000000000002a".
inline constexpr const char* lower_manifest = ".manifest";
inline constexpr const char* lower_data = ".data";
// The suffix of the file that is written last: the version is complete in lower. The file has a few
// lines of JSON for people and tools.
inline constexpr const char* lower_record = ".json";
std::string lower_name(uint64_t sequence, const char* suffix);
// Returns the name of a part's file. A version of several parts has "v000000000000002a-00003" for
// the fourth of them.
std::string lower_part_name(uint64_t sequence, uint32_t part, uint32_t parts, const char* suffix);
// Returns the sequence of the version that a file belongs to; 0: it belongs to none.
uint64_t sequence_of_name(const std::string& name);
// The two names of the record of the set.
inline constexpr const char* lower_set_name = "set";
inline constexpr const char* lower_set_copy = "set.copy";
// The lock file of the set, which a drain holds locked.
inline constexpr const char* lower_lock = "lock";
// The prefix of files that do not yet have their name.
inline constexpr const char* lower_aside = ".tmp-";

// A new file: receives its bytes, and then its name. It is locked until it has the name.
class LowerFile {
 public:
  Status write(const void* bytes, uint64_t size, uint64_t offset);
  // Reads bytes. EUCLEAN: the file has fewer.
  Status read(void* bytes, uint64_t size, uint64_t offset) const;
  Status set_size(uint64_t size);
  // Returns the size. EUCLEAN: it is not a regular file.
  [[nodiscard]] Result<uint64_t> size() const;
  Status sync();

 private:
  friend class LowerSet;
  tier::sys::Descriptor descriptor_;
  std::string aside_;
  tier::CacheLimit cache_;
};

// Checks that the directory is there for future sets. ENOENT, ENOTDIR.
Status check_lower(const std::string& directory);

// Holds the lock of a set in lower until it is destroyed. A child of fork() that has the descriptor
// does not hold the lock any longer.
class LowerLock {
 public:
  LowerLock() = default;
  explicit LowerLock(tier::sys::Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  LowerLock(LowerLock&& other) noexcept = default;
  LowerLock& operator=(LowerLock&& other) noexcept {
    release();
    descriptor_ = std::move(other.descriptor_);
    return *this;
  }
  ~LowerLock() { release(); }
  LowerLock(const LowerLock&) = delete;
  LowerLock& operator=(const LowerLock&) = delete;
  void release();

 private:
  tier::sys::Descriptor descriptor_;
};

class LowerSet {
 public:
  // Opens a set. ENOENT: there is none, and `makes` is not set. EPERM: it belongs to another user,
  // or others can write to it.
  static Result<LowerSet> open(const std::string& directory, const std::string& set, bool makes);

  // Waits until no other process drains into the set, and excludes them until the lock is released.
  // EBUSY: another process still drained after `timeout_ns`; ECANCELED. A file system without locks
  // gives none: the caller then ensures that no two drains run at the same time.
  [[nodiscard]] Result<LowerLock> lock(uint64_t timeout_ns,
                                       const std::atomic<bool>* stop = nullptr) const;

  Result<LowerFile> create();
  // Gives a synced file its name, durably, in place of a file that has it.
  Status publish(LowerFile* file, const std::string& name);
  // Removes a file that has no name.
  void drop(LowerFile* file);
  Status write_file(const std::string& name, const void* bytes, size_t size);

  // Opens a file. ENOENT.
  Result<LowerFile> open_file(const std::string& name) const;
  // Reads a whole file of at most so many bytes. ENOENT; EUCLEAN: it is larger.
  [[nodiscard]] Result<std::vector<uint8_t>> read_file(const std::string& name,
                                                       uint64_t most) const;
  Status remove(const std::string& name);
  // Returns true if another process writes this file, which has no name yet.
  [[nodiscard]] bool is_being_written(const std::string& name) const;
  // Returns the sequences of complete versions, ascending.
  [[nodiscard]] Result<std::vector<uint64_t>> versions() const;
  [[nodiscard]] Result<std::vector<std::string>> names() const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  tier::sys::Descriptor directory_;
  std::string path_;
};

}  // namespace cairn::checkpoint
