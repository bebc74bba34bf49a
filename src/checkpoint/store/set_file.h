// SetFile: the file `set` of a set. It identifies the set, and holds the words that the processes
// of a run share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "checkpoint/store/set_record.h"
#include "file/inode/pins.h"
#include "persist/core/word.h"

namespace cairn::checkpoint {

Result<Uuid> draw_uuid();

class SetFile {
 public:
  ~SetFile();
  SetFile(const SetFile&) = delete;
  SetFile& operator=(const SetFile&) = delete;

  // Opens a set. ENOENT: the pool has no such set. EUCLEAN: it is damaged, or was copied from
  // another pool. EPROTONOSUPPORT: a newer Cairn made it. One copy of the record repairs the other.
  // If both are lost, the versions identify the set.
  static Result<std::unique_ptr<SetFile>> open(file::FileSystem& fs, const std::string& name);
  // Opens a set, and makes it if it is not there. A new set has this `uuid`, unless another process
  // was faster.
  static Result<std::unique_ptr<SetFile>> open_or_make(file::FileSystem& fs,
                                                       const std::string& name, const Uuid& uuid);

  [[nodiscard]] file::FileSystem& fs() const { return fs_; }
  // Returns the directory of the set's files.
  [[nodiscard]] uint64_t directory() const { return directory_; }
  [[nodiscard]] const SetRecord& record() const { return record_; }
  [[nodiscard]] std::string name() const { return {record_.name, record_.name_length}; }
  // Returns false if the name refers to another file: the set was removed, or made anew.
  [[nodiscard]] Result<bool> is_named() const;
  // Returns the newest version that was committed here; 0: unknown.
  [[nodiscard]] uint64_t newest_committed() const;
  // Records the newest version. Flushed, and durable with the next fence.
  void note_newest(uint64_t sequence) const;
  // Forgets this version before it is dropped, so that no process misses it. Durable.
  [[nodiscard]] Status forget_newest(uint64_t sequence) const;
  // Returns false if the file is so damaged that no run can use the set; its versions can be read.
  [[nodiscard]] bool has_words() const { return why_no_words_.empty(); }
  // Returns a word that processes of a run share, valid as long as this object. EROFS in a pool
  // attached for reading. EUCLEAN: the file is damaged.
  [[nodiscard]] Result<persist::Word*> word(uint64_t offset) const;

 private:
  explicit SetFile(file::FileSystem& fs) : fs_(fs) {}
  Status find(const std::string& name);
  Status read_file(const std::string& name, uint64_t number);
  Status read_record(const std::string& name, file::File& file);
  Status derive_record(const std::string& name, const Status& why);
  Status mend(file::File& file) const;
  Status check(const std::string& name) const;

  file::FileSystem& fs_;
  uint64_t directory_ = 0;
  file::Map map_;
  SetRecord record_{};
  file::PinHandle pin_;
  std::string why_no_words_;
};

}  // namespace cairn::checkpoint
