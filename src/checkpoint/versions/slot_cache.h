// SlotCache: the slots of a set that this process has open. A slot stays open from one version to
// the next, so that a write looks up no name.
#pragma once

#include <map>
#include <memory>

#include "checkpoint/store/slots.h"

namespace cairn::checkpoint {

class SlotCache {
 public:
  SlotCache(file::FileSystem& fs, uint64_t directory) : fs_(fs), directory_(directory) {}

  // Opens a slot; the pointer is valid until the slot is dropped. ENOENT: one of its files is
  // missing.
  Result<Slot*> get(uint32_t number);
  // Opens a slot by its inodes. ESTALE: these files are gone.
  Result<Slot*> get(const SlotIds& ids);
  void drop(uint32_t number) { slots_.erase(number); }
  void clear() { slots_.clear(); }

  // Returns a free slot that no process reads and that is at least so large; makes one if there is
  // none. The caller holds the set's lock. `is_new`: it was made. ENOSPC; EMFILE: the set has 4096
  // slots.
  Result<Slot*> take_free(uint64_t manifest_bytes, uint64_t data_bytes, bool* is_new);

 private:
  Result<Slot*> find_free();
  // Returns whether another slot that is open has a file of this one. A flipped bit in a name can
  // do that: a version in one slot would then overwrite that in the other.
  [[nodiscard]] bool shares_a_file(const Slot& slot) const;

  file::FileSystem& fs_;
  uint64_t directory_;
  std::map<uint32_t, std::unique_ptr<Slot>> slots_;
};

}  // namespace cairn::checkpoint
