// Makes and removes what a pool has of a cover: record, directory, parts and journal.
#pragma once

#include <cstdint>
#include <string>

#include "file/inode/file_system.h"
#include "tier/record/record.h"

namespace cairn::tier {

// Makes what is missing of a cover. The caller holds the lock on covers.
Status make_cover(file::FileSystem& fs, uint64_t covers, const std::string& name,
                  CoverRecord record);
// Removes a cover. If the process is killed, the next one that opens a cover removes the rest.
Status remove_cover(file::FileSystem& fs, uint64_t covers, const std::string& name);
// The record of the cover of this path; ENOENT if there is none.
Result<CoverRecord> find_record(file::FileSystem& fs, const std::string& path);

}  // namespace cairn::tier
