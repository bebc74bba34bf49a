// The journal says what a drain is about to do in lower. It is kept in the pool, for the drain
// after one that was killed. One record, written in turn to one of two slots: a torn one does not
// count, because what it would have announced has not been begun, and the one before it does,
// because what that announced may still be there.
#pragma once

#include <sys/stat.h>

#include <memory>
#include <string>

#include "tier/lower/lower.h"
#include "tier/system/pool_file.h"

namespace cairn::tier {

struct JournalRecord {
  std::string directory;  // path in lower
  std::string aside;
  std::string name;  // empty: nothing is renamed yet
  uint64_t pool_directory = 0;
  uint64_t pool_generation = 0;  // of that directory
  uint64_t inode = 0;
  uint64_t generation = 0;
  uint64_t change_time = 0;  // 0: the inode is not to be marked as drained
  file::LowerIdentity identity;
};

// In the place of the time in a record's identity: the drain gives the file the present time, as
// its user may not set another one. It would be a time of the year 1677.
inline constexpr uint64_t present_time = 1ULL << 63;

// Whether the file with these attributes is as the record announces it.
bool is_announced(const JournalRecord& record, const Known& known, const struct stat& st);

class Journal {
 public:
  Status open(file::FileSystem& fs, uint64_t covers, const std::string& name);
  // Empty directory: nothing was under way. EUCLEAN: no drain has written it; it does not count.
  Result<JournalRecord> read();
  Status write(const JournalRecord& record);
  Status clear() { return write({}); }
  // Until when drains of this cover have added and removed names of files that may have others,
  // which moves the ctime of these on. Kept from record to record.
  [[nodiscard]] uint64_t links_until() const { return links_until_; }
  Status announce_links(uint64_t until);
  // Note when a drain of this cover began, and that it has come to its end. The time is kept from
  // record to record, so that a drain that was killed is known afterwards.
  Status begin_drain(uint64_t time_ns);
  Status end_drain();
  // The time of a cover's drain that has not come to its end; 0: none. The pool may be read-only.
  static Result<uint64_t> drain_begun(file::FileSystem& fs, uint64_t covers,
                                      const std::string& name);
  // What the last record of a cover's journal announces. The pool may be read-only, and a drain may
  // be writing the next one.
  static Result<JournalRecord> last(file::FileSystem& fs, uint64_t covers, const std::string& name);
  // The cover's journal goes, with what a drain that was killed has left aside in lower.
  static Status remove(file::FileSystem& fs, uint64_t covers, const std::string& name);

 private:
  // False: the cover has no journal.
  Result<bool> open_to_read(file::FileSystem& fs, uint64_t covers, const std::string& name);

  std::unique_ptr<PoolFile> file_;
  uint64_t sequence_ = 0;  // of the record that counts
  uint64_t links_until_ = 0;
  uint64_t drain_begun_ = 0;
  JournalRecord last_;
};

}  // namespace cairn::tier
