// Slot: two files of a set, one for the bytes of a part, one for its manifest.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "checkpoint/store/manifest.h"
#include "file/inode/pins.h"
#include "persist/core/word.h"
#include "tier/system/pool_file.h"

namespace cairn::checkpoint {

// These return "slot-0007.manifest" and "slot-0007.data".
std::string manifest_name(uint32_t slot);
std::string data_name(uint32_t slot);

// Identifies a slot for other processes, which need no look-up by name.
struct SlotIds {
  uint32_t number = 0;
  uint64_t manifest = 0;  // inodes, with their generations
  uint64_t manifest_generation = 0;
  uint64_t data = 0;
  uint64_t data_generation = 0;
};

// Keeps a slot from being used for another version. A reader takes it before it reads the decision:
// a version committed then stays readable.
class Lease {
 public:
  Lease() = default;
  explicit Lease(int descriptor) : descriptor_(descriptor) {}
  Lease(Lease&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Lease& operator=(Lease&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

 private:
  int descriptor_ = -1;
};

class Slot {
 public:
  ~Slot();
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  // Opens a slot. ENOENT: one of its files is missing.
  static Result<std::unique_ptr<Slot>> open(file::FileSystem& fs, uint64_t directory,
                                            uint32_t number);
  // Opens a slot by its inodes. ESTALE: they are other files by now.
  static Result<std::unique_ptr<Slot>> open(file::FileSystem& fs, const SlotIds& ids);
  // Makes a new slot, never decided. The manifest has all of its blocks, the data none. EEXIST,
  // ENOSPC.
  static Result<std::unique_ptr<Slot>> make(file::FileSystem& fs, uint64_t directory,
                                            uint32_t number, uint64_t manifest_bytes,
                                            uint64_t data_bytes);
  // Makes the files at least so large, before the slot is used again.
  Status grow(uint64_t manifest_bytes, uint64_t data_bytes);

  [[nodiscard]] const SlotIds& ids() const { return ids_; }
  file::File& manifest_file() { return **manifest_; }
  file::File& data_file() { return **data_; }

  [[nodiscard]] Result<uint64_t> decision();
  // Returns a word of the manifest, to be changed through the pool; valid as long as this object.
  Result<persist::Word*> word(uint64_t offset);
  // Reads only the VERSION. EUCLEAN, EPROTONOSUPPORT.
  Result<VersionRecord> read_version();
  // Reads the whole manifest, checked except for its decision. EUCLEAN, EPROTONOSUPPORT.
  Result<Manifest> read_manifest();
  // Page media: writes both files back. On other media their writers have fenced already.
  Status write_back();
  // Stores *retired* and flushes it; the caller fences before the slot is used again.
  Status retire();

  Result<Lease> take_lease();
  // Returns true if a process holds a lease.
  Result<bool> is_leased();

 private:
  explicit Slot(file::FileSystem& fs) : fs_(fs) {}
  Status open_files(const SlotIds& ids);

  file::FileSystem& fs_;
  SlotIds ids_;
  std::unique_ptr<tier::PoolFile> manifest_;
  std::unique_ptr<tier::PoolFile> data_;
  file::PinHandle pin_;  // on the manifest, for its words
};

// Removes a slot's files, as far as they exist: the data first.
Status remove_slot(file::FileSystem& fs, uint64_t directory, uint32_t number);

}  // namespace cairn::checkpoint
