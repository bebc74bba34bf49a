// The records directory, `.cairn` in a covered directory, holds the records of files that several
// nodes write (cluster/record/record.h).
//
// Other users may write to the covered directory. So `.cairn` counts only if it is a directory, not
// a symbolic link; if it belongs to the user, to root, or to the owner that the file system has
// shown for the cover's claim (same_directory.h); and if no other user can write to it. If other
// users can rename entries of the covered directory, as its owner can, it must also have the mode
// 01700 with which Cairn makes it: they could have moved a private directory of the user there. A
// `.cairn` that does not count is never read, changed or removed.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

#include "base/status.h"
#include "tier/system/same_directory.h"
#include "tier/system/system.h"

namespace cairn::tier {

// Can a file or directory with these attributes be Cairn's? `owner`: CoverRecord::owner.
bool is_of_user(const sys::FileStat& st, uint64_t owner);

struct RecordsFound {
  sys::Descriptor fd;   // of a records directory that counts
  std::string ignored;  // why the file of its name does not count; "" if there is none
};
// Finds the records directory of a covered directory, by descriptor or by path. 0 also if there is
// none; -errno: it cannot be read.
int64_t find_records(int directory, uint64_t owner, RecordsFound* found);
int64_t find_records(const std::string& directory, uint64_t owner, RecordsFound* found);
// Opens the records directory, which is made if it is missing. EPERM: a file that does not count
// has its name.
Result<sys::Descriptor> make_records(const std::string& directory, uint64_t owner);
// Removes the records directory from an open covered directory, if it counts and is empty.
void remove_records(int directory, uint64_t owner);

}  // namespace cairn::tier
