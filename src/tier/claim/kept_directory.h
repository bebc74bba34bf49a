// A kept directory is the hidden directory in a covered one where a pool keeps what it has replaced
// (replaced_backup.cc) or put out of the way (displace.h).
//
// It is called `.cairn-drain-HOST-POOL`. Others may be able to create that name in the covered
// directory, or to move another user's directory to it. So it counts only if it is a directory of
// the user to which nobody else can write, and if the symbolic link `cairn-kept` in it says the
// pool and the directory's name (docs/design/trust.md). Where something else has the name, the pool
// takes a random one, and goes on with that.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "file/inode/file_system.h"
#include "tier/system/same_directory.h"
#include "tier/system/system.h"

namespace cairn::tier {

// In each kept directory.
inline constexpr const char* kept_mark = "cairn-kept";

// All take the open covered directory and CoverRecord::owner; 0 or -errno.
//
// Open a kept directory of the pool, with mode 0700; it is created if need be, durably.
int64_t make_kept_directory(const file::FileSystem& fs, int covered, uint64_t owner,
                            sys::Descriptor* kept);
// All that the pool has there.
std::vector<sys::Descriptor> find_kept_directories(const file::FileSystem& fs, int covered,
                                                   uint64_t owner);
// Open a kept directory of any pool of the user, by its name. -ENOENT: it is none. -EPERM: it is
// one, but others can write to it, so it does not count.
int64_t open_kept_directory(int covered, const std::string& name, uint64_t owner,
                            sys::Descriptor* kept);
// Remove a kept directory in which nothing is kept any more. -ENOTEMPTY.
int64_t remove_kept_directory(int covered, uint64_t owner, int kept);

// What was moved to `there` in a kept directory, and is not what was meant, goes back to `name`.
// Where that cannot be, it stays under a name that no drain removes. False: it stays.
bool give_back(int kept, const std::string& there, int directory, const std::string& name);
bool is_foreign(const std::string& name);

// What is kept is called so in its directory, for people who look.
std::string kept_name(const std::string& name);

// Of the file beside something that was put away (displace.h), which says where in the covered
// directory that belongs.
inline constexpr const char* origin_prefix = "origin-";

bool is_origin(const std::string& name);

// The names in an open directory, from the first one on, whoever has read it before.
int64_t list_of(int directory, std::vector<sys::DirectoryEntry>* entries);

}  // namespace cairn::tier
