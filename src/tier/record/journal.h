// The journal says what a drain is about to do in lower. It lies in the pool, for the next drain if
// this one is killed. Its record is written in turn to one of two slots. A torn record does not
// count: what it announces was not begun. The record before it counts then, because what that one
// announced may still be there.
#pragma once

#include <sys/stat.h>

#include <memory>
#include <string>

#include "tier/lower/lower.h"
#include "tier/system/pool_file.h"

namespace cairn::tier {

struct JournalRecord {
  std::string directory;  // path in lower
  std::string temp_name;
  std::string name;  // empty: nothing is renamed yet
  uint64_t pool_directory = 0;
  uint64_t pool_generation = 0;  // of that directory
  uint64_t inode = 0;
  uint64_t generation = 0;
  uint64_t change_time = 0;  // 0: the inode is not to be marked as drained
  file::Witness witness;
};

// Stands in a record's witness for the time: the drain gives the file the present time, because
// its user may not set another one. As a time, it lies in the year 1677.
inline constexpr uint64_t present_time = 1ULL << 63;

// Is the file with these attributes as the record announces it?
bool is_announced(const JournalRecord& record, const KnownCover& known, const sys::FileStat& st);

class Journal {
 public:
  Status open(file::FileSystem& fs, uint64_t covers, const std::string& name);
  // Empty directory: nothing was under way. EUCLEAN: no drain has written this record; it does not
  // count.
  Result<JournalRecord> read();
  Status write(const JournalRecord& record);
  Status clear() { return write({}); }
  // Until then drains of this cover have added and removed names of files that may have others,
  // which changes the ctime under these. Kept from record to record.
  [[nodiscard]] uint64_t links_until() const { return links_until_; }
  Status announce_links(uint64_t until);
  // Notes when a drain of this cover began, and that it has ended. The time is kept from record to
  // record, so that a killed drain is known afterwards.
  Status begin_drain(uint64_t time_ns);
  Status end_drain();
  // When a drain of the cover began that has not ended; 0: none. The pool may be read-only.
  static Result<uint64_t> drain_begun(file::FileSystem& fs, uint64_t covers,
                                      const std::string& name);
  // The last record of a cover's journal. The pool may be read-only, and a drain may be writing the
  // next record.
  static Result<JournalRecord> last(file::FileSystem& fs, uint64_t covers, const std::string& name);
  // Removes the cover's journal, and the temporary files of a killed drain in lower.
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
