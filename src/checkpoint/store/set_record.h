// SetRecord: identifies a set. The file `set` has two copies; each is verified.
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

// Returns EINVAL unless the name has 1 to 64 of A-Z a-z 0-9 . _ - and does not begin with a dot.
Status check_set_name(std::string_view name);
Uuid pool_uuid(const file::FileSystem& fs);

// Makes a record; `created` is in ns since 1970.
SetRecord make_set_record(const Uuid& pool, const std::string& name, const Uuid& uuid,
                          uint64_t created);
// Reads a record. EUCLEAN: it is damaged. EPROTONOSUPPORT: a newer Cairn made it.
Result<SetRecord> read_set_record(const uint8_t* bytes, size_t size);
// Returns the name in a record; "": it has none.
std::string name_in(const SetRecord& record);
// Returns the uuid of the set that a SET or a VERSION belongs to.
template <typename Record>
Uuid uuid_in(const Record& record) {
  Uuid uuid;
  std::copy(std::begin(record.set), std::end(record.set), uuid.begin());
  return uuid;
}

// Returns the bytes of the file `set` up to the end of the second copy.
std::vector<uint8_t> bytes_of_set(const SetRecord& record);
// Returns the first valid copy in these bytes. EUCLEAN: neither is valid; EPROTONOSUPPORT.
// `are_both_right`: both are valid, and equal.
Result<SetRecord> read_set_copies(const std::vector<uint8_t>& bytes, bool* are_both_right);

}  // namespace cairn::checkpoint
