// A lock of one lazy inode.
#pragma once

#include "file/inode/file_system.h"
#include "pool/lanes/seats.h"

namespace cairn::tier {

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
