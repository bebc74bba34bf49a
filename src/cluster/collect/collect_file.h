// One file that is collected (collect.h).
#pragma once

#include <string>
#include <vector>

#include "cluster/record/record.h"
#include "file/inode/file_system.h"
#include "tier/cover/drain.h"
#include "tier/system/system.h"

namespace cairn::cluster {

// What the files of one cover have in common.
struct Collecting {
  file::FileSystem& fs;
  const std::string& directory;  // the covered one
  const tier::sys::Descriptor& covered;
  const RecordsDirectory& records;
  const std::string& cover_name;  // in the pool
  Uuid pool;                      // this node's
  const tier::DrainCalls& calls;
  tier::DrainReport& report;
  uint64_t done = 0;
  uint64_t total = 0;

  // False: the caller wants to stop.
  bool advance(uint64_t bytes);
};

// A part whose share was written ahead, and which has not changed since. That is noted as for any
// file that is drained (Inode::drained), so whatever makes a file count as changed ends it.
bool is_shared_ahead(file::FileSystem& fs, const file::Map& part);
// Nodes (indices into the record's) that hold bytes of the file.
std::vector<uint32_t> holders_of(const Record& record);

class FileCollector {
 public:
  FileCollector(Collecting& all, const std::string& path, Record record);

  // This node has bytes in it.
  [[nodiscard]] bool is_ours() const { return holds_; }
  // Does this node's share, and gives the file its name once all have done theirs. EAGAIN: the
  // record has changed or gone meanwhile. ESTALE: something else lies there than the file was based
  // on.
  Status collect();
  // While programs run: writes this node's share if no process writes to `part`. EBUSY: one does.
  // EAGAIN: as above.
  Status share_ahead(const file::Map& part);
  // Nodes that have not done their share; empty: the file is whole, under its name.
  [[nodiscard]] const std::vector<uint32_t>& missing() const { return missing_; }

 private:
  // A name in the directory that the record lies in.
  [[nodiscard]] std::string mark_of(const Uuid& pool) const;
  [[nodiscard]] std::string ahead_of(const Uuid& pool) const;
  // What can be said only if the record still is the one that we know.
  Status check_record() const;
  Status open_places();
  [[nodiscard]] Result<bool> is_published() const;
  [[nodiscard]] Result<std::vector<std::string>> all_marks() const;
  [[nodiscard]] Result<tier::sys::Descriptor> check_aside(int64_t opened) const;
  [[nodiscard]] Result<tier::sys::Descriptor> make_aside() const;
  [[nodiscard]] Result<tier::sys::Descriptor> open_aside() const;
  [[nodiscard]] Status sync_place() const;
  Status give_share();
  // Its share was written ahead, and nobody has written to its part since.
  [[nodiscard]] bool has_written_ahead() const;
  Status note_ahead(int aside);
  Status write_share(int aside);
  Status copy_pieces(int aside);
  [[nodiscard]] Result<tier::sys::Descriptor> base() const;
  bool find_missing();
  // Which permissions the file may have then.
  [[nodiscard]] Result<uint32_t> give_owner(int aside) const;
  void carry_attributes(int aside) const;
  Status set_attributes(int aside) const;
  Status publish();
  Status settle();

  Collecting& all_;
  std::string path_;  // below the covered directory
  Record record_;
  std::vector<uint32_t> holders_;
  uint32_t own_;  // ShareMap::nobody: no node of the record
  bool holds_ = false;
  bool copies_base_ = false;
  std::string lower_;  // where the file belongs, for messages
  std::string name_;   // there, in the directory `above_`
  std::string aside_;
  std::string aside_path_;       // for messages
  tier::sys::Descriptor place_;  // the directory of the record, the aside file and the marks
  tier::sys::Descriptor above_;  // -1: it is not there
  std::vector<uint32_t> missing_;
};

}  // namespace cairn::cluster
