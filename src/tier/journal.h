// Journal: what a drain is about to do in lower, kept in the pool, for the drain after one that was
// killed. One record, overwritten; a torn one counts as none, because what it would have announced
// has not been begun.
#pragma once

#include <memory>
#include <string>

#include "tier/lower.h"
#include "tier/pool_file.h"

namespace cairn::tier {

struct JournalRecord {
  std::string directory;  // path in lower
  std::string aside;
  std::string name;  // empty: nothing is renamed yet
  uint64_t pool_directory = 0;
  uint64_t inode = 0;
  uint64_t generation = 0;
  uint64_t change_time = 0;  // 0: the inode is not to be marked as drained
  file::LowerIdentity identity;
};

class Journal {
 public:
  Status open(file::FileSystem& fs, uint64_t covers, const std::string& name);
  // Empty directory: nothing was under way.
  Result<JournalRecord> read();
  Status write(const JournalRecord& record);
  Status clear() { return write({}); }

 private:
  std::unique_ptr<PoolFile> file_;
};

}  // namespace cairn::tier
