// SetRecord: which set it is. It lies twice in the file `set`; each copy is verified.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/store/records.h"
#include "file/inode/file_system.h"

namespace cairn::checkpoint {

using Uuid = std::array<uint8_t, 16>;

inline constexpr const char* checkpoints_directory = ".checkpoints";
inline constexpr const char* set_file_name = "set";

// EINVAL unless it has 1 to 64 of A-Z a-z 0-9 . _ - and does not begin with a dot.
Status check_set_name(std::string_view name);
Uuid pool_uuid(const file::FileSystem& fs);

// `created`: ns since 1970.
SetRecord make_set_record(const Uuid& pool, const std::string& name, const Uuid& uuid,
                          uint64_t created);
// EUCLEAN: it is damaged. EPROTONOSUPPORT: a newer Cairn made it.
Result<SetRecord> read_set_record(const uint8_t* bytes, size_t size);
// The name that a record says. "": it says none.
std::string name_in(const SetRecord& record);
// The uuid of the set that a SET or a VERSION belongs to.
template <typename Record>
Uuid uuid_in(const Record& record) {
  Uuid uuid;
  std::copy(std::begin(record.set), std::end(record.set), uuid.begin());
  return uuid;
}

// The bytes of the file `set` up to the end of the second copy.
std::vector<uint8_t> bytes_of_set(const SetRecord& record);
// From these bytes: the first copy that is right. EUCLEAN: none is; EPROTONOSUPPORT.
// `are_both_right`: and the same.
Result<SetRecord> read_set_copies(const std::vector<uint8_t>& bytes, bool* are_both_right);

}  // namespace cairn::checkpoint
