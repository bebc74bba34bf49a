// SetFile: the file `set` of a set, which says which set it is, and holds the words that the
// processes of a run share.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "checkpoint/store/records.h"
#include "file/inode/pins.h"
#include "persist/core/word.h"

namespace cairn::checkpoint {

using Uuid = std::array<uint8_t, 16>;

inline constexpr const char* checkpoints_directory = ".checkpoints";

// EINVAL unless it has 1 to 64 of A-Z a-z 0-9 . _ - and does not begin with a dot.
Status check_set_name(std::string_view name);
Result<Uuid> draw_uuid();
Uuid pool_uuid(const file::FileSystem& fs);
// The name that a record of a set says. "": it says none.
std::string name_in(const SetRecord& record);

class SetFile {
 public:
  ~SetFile();
  SetFile(const SetFile&) = delete;
  SetFile& operator=(const SetFile&) = delete;

  // ENOENT: the pool has no such set. EUCLEAN: it is damaged, or was copied from another pool.
  // EPROTONOSUPPORT: a newer Cairn made it.
  static Result<std::unique_ptr<SetFile>> open(file::FileSystem& fs, const std::string& name);
  // Makes the set if it is not there. `uuid` is the set's then, unless another process was faster.
  static Result<std::unique_ptr<SetFile>> open_or_make(file::FileSystem& fs,
                                                       const std::string& name, const Uuid& uuid);

  [[nodiscard]] file::FileSystem& fs() const { return fs_; }
  // The directory of the set's files.
  [[nodiscard]] uint64_t directory() const { return directory_; }
  [[nodiscard]] const SetRecord& record() const { return record_; }
  // Is this file still what its name names? False: the set was removed, or made anew.
  [[nodiscard]] Result<bool> is_named() const;
  // A word that processes of a run share; valid as long as this object. EROFS in a pool that is
  // only looked at.
  [[nodiscard]] Result<persist::Word*> word(uint64_t offset) const;

 private:
  explicit SetFile(file::FileSystem& fs) : fs_(fs) {}
  Status find(const std::string& name);
  Status check(const std::string& name) const;

  file::FileSystem& fs_;
  uint64_t directory_ = 0;
  file::Map map_;
  SetRecord record_{};
  file::PinHandle pin_;
};

}  // namespace cairn::checkpoint
