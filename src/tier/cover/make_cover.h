// Making and removing what a pool has of a cover: record, directory, parts and journal.
#pragma once

#include <cstdint>
#include <string>

#include "file/inode/file_system.h"
#include "tier/record/record.h"

namespace cairn::tier {

// The caller holds the lock on covers. What is there already stays.
Status make_cover(file::FileSystem& fs, uint64_t covers, const std::string& name,
                  CoverRecord record);
// From here on the cover does not exist; what a killed process leaves is removed by the next one.
Status remove_cover(file::FileSystem& fs, uint64_t covers, const std::string& name);
// The record of the cover of this path; ENOENT if there is none.
Result<CoverRecord> find_record(file::FileSystem& fs, const std::string& path);

}  // namespace cairn::tier
