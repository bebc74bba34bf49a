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

// "v000000000000002a", followed by what it is of the version.
inline constexpr const char* lower_manifest = ".manifest";
inline constexpr const char* lower_data = ".data";
// Written last: the version is complete in lower. A few lines of JSON for people and tools.
inline constexpr const char* lower_record = ".json";
std::string lower_name(uint64_t sequence, const char* suffix);
// Of a part. A version of several parts has "v000000000000002a-00003": the fourth of them.
std::string lower_part_name(uint64_t sequence, uint32_t part, uint32_t parts, const char* suffix);
// The sequence of the version that a file belongs to; 0: it belongs to none.
uint64_t sequence_of_name(const std::string& name);
// The record of the set.
inline constexpr const char* lower_set_name = "set";
inline constexpr const char* lower_set_copy = "set.copy";
// Of the set: a drain holds it locked.
inline constexpr const char* lower_lock = "lock";
// A file that has no name yet begins with it.
inline constexpr const char* lower_aside = ".tmp-";

// Adds what a file gets, and gives it its name. Until it has one, it is locked.
class LowerFile {
 public:
  Status write(const void* bytes, uint64_t size, uint64_t offset);
  // EUCLEAN: fewer bytes are there.
  Status read(void* bytes, uint64_t size, uint64_t offset) const;
  Status set_size(uint64_t size);
  // EUCLEAN: it is not a regular file.
  [[nodiscard]] Result<uint64_t> size() const;
  Status sync();

 private:
  friend class LowerSet;
  tier::sys::Descriptor descriptor_;
  std::string aside_;
  tier::CacheLimit cache_;
};

// Is the directory there, for sets to come? ENOENT, ENOTDIR.
Status check_lower(const std::string& directory);

// Of a set in lower, until this object is gone: a child of fork() that has the descriptor does not
// hold it any longer.
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
  // ENOENT: there is none, and `makes` is not set. EPERM: it is another user's, or others can write
  // to it.
  static Result<LowerSet> open(const std::string& directory, const std::string& set, bool makes);

  // Waits until nobody else drains into the set; until the lock is gone, nobody does.
  // EBUSY: one still did after `timeout_ns`; ECANCELED. A file system without locks gives none:
  // the caller then sees to it that no two drains run at the same time.
  [[nodiscard]] Result<LowerLock> lock(uint64_t timeout_ns,
                                       const std::atomic<bool>* stop = nullptr) const;

  Result<LowerFile> create();
  // A synced file gets its name, durably, in place of one that has it.
  Status publish(LowerFile* file, const std::string& name);
  // Without a name it is removed.
  void drop(LowerFile* file);
  Status write_file(const std::string& name, const void* bytes, size_t size);

  // ENOENT.
  Result<LowerFile> open_file(const std::string& name) const;
  // The whole file, of at most so many bytes. ENOENT; EUCLEAN: it is larger.
  [[nodiscard]] Result<std::vector<uint8_t>> read_file(const std::string& name,
                                                       uint64_t most) const;
  Status remove(const std::string& name);
  // Does another process write this file, which has no name yet?
  [[nodiscard]] bool is_being_written(const std::string& name) const;
  // Sequences of versions that are complete, ascending.
  [[nodiscard]] Result<std::vector<uint64_t>> versions() const;
  [[nodiscard]] Result<std::vector<std::string>> names() const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  tier::sys::Descriptor directory_;
  std::string path_;
};

}  // namespace cairn::checkpoint
