// The records directory, `.cairn` in a covered directory, holds the records of files that several
// nodes write (cluster/record/record.h).
//
// Others may write to the covered directory. What lies there under that name counts only if it is a
// directory, no symbolic link, that belongs to the user, to root, or to the owner that the file
// system has shown for the cover's claim (same_directory.h), and nobody else can write to it. Where
// others can rename what lies in the covered directory, as its owner can, it must have the mode
// 01700 besides, with which Cairn makes it: a closed directory of the user could have been moved
// there. What does not count is treated as if it were not there: it is never read, changed or
// removed.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

#include "base/status.h"
#include "tier/system/same_directory.h"
#include "tier/system/system.h"

namespace cairn::tier {

// Whether a file or directory of ours can have these attributes. `owner`: CoverRecord::owner.
bool is_of_user(const struct stat& st, uint64_t owner);

struct RecordsFound {
  sys::Descriptor fd;   // of a records directory that counts
  std::string ignored;  // why what has its name does not count; "" if there is nothing
};
// Of a covered directory, by descriptor or by path. 0 also if there is none; -errno if that cannot
// be told.
int64_t find_records(int directory, uint64_t owner, RecordsFound* found);
int64_t find_records(const std::string& directory, uint64_t owner, RecordsFound* found);
// Makes it if need be. EPERM if something has its name that does not count.
Result<sys::Descriptor> make_records(const std::string& directory, uint64_t owner);
// Removes it from an open covered directory if it counts and nothing is in it.
void remove_records(int directory, uint64_t owner);

}  // namespace cairn::tier
