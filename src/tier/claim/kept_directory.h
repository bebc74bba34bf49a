// A kept directory is the hidden directory in a covered one where a pool keeps files that it has
// replaced (replaced_backup.cc) or displaced (displace.h).
//
// It is called `.cairn-drain-HOST-POOL`. Other users may be able to create that name in the covered
// directory, or to move another user's directory to it. So it counts only if it is a directory of
// the user to which no other user can write, and if the symbolic link `cairn-kept` in it names the
// pool and the directory (docs/design/trust.md). If another file has the name, the pool uses a
// random name from then on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "file/inode/file_system.h"
#include "tier/system/same_directory.h"
#include "tier/system/system.h"

namespace cairn::tier {

// The mark in each kept directory.
inline constexpr const char* kept_mark = "cairn-kept";

// These functions take the open covered directory and CoverRecord::owner; 0 or -errno.
//
// Opens a kept directory of the pool, with mode 0700. If there is none, it is created, durably.
int64_t make_kept_directory(const file::FileSystem& fs, int covered, uint64_t owner,
                            sys::Descriptor* kept);
// All kept directories of the pool.
std::vector<sys::Descriptor> find_kept_directories(const file::FileSystem& fs, int covered,
                                                   uint64_t owner);
// Opens a kept directory of any pool of the user, by its name. -ENOENT: it is not one. -EPERM:
// other users can write to it, so it does not count.
int64_t open_kept_directory(int covered, const std::string& name, uint64_t owner,
                            sys::Descriptor* kept);
// Removes a kept directory that holds only its mark. -ENOTEMPTY.
int64_t remove_kept_directory(int covered, uint64_t owner, int kept);

// Moves a file that was moved to `there` in a kept directory by mistake back to `name`. False: that
// failed, and the file stays under a name that no drain removes.
bool give_back(int kept, const std::string& there, int directory, const std::string& name);
bool is_foreign(const std::string& name);

// The name of a kept file. It shows a user the name that the file had.
std::string kept_name(const std::string& name);

// The prefix of the note beside a displaced file (displace.h), with its path below the covered
// directory.
inline constexpr const char* origin_prefix = "origin-";

bool is_origin(const std::string& name);

// All names in an open directory, wherever its offset is.
int64_t list_of(int directory, std::vector<sys::DirectoryEntry>* entries);

}  // namespace cairn::tier
