// Tells whether a path still leads to the directory that a cover was made for.
//
// A cover has a token: random digits in its record in the pool (record.h) and in the claim in the
// directory (claim.h). A directory whose claim holds the token is the covered one, wherever it
// lies. If the claim is gone, Cairn recognises a directory of a local file system by device, inode
// and time of creation. On network file systems these change with the mount or the server, so only
// the token counts. On a local one a directory with the path and the token of the covered one, but
// another time of creation, is a copy of it.
//
// Other users may write to the directory. A claim counts only if it belongs to the user, to root,
// or to the owner that the file system showed for the claim when the cover was made.
#pragma once

#include <cstdint>
#include <string>

namespace cairn::tier {

struct DirectoryMarks {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t birth = 0;  // in nanoseconds; 0: the directory cannot be recognised by its marks
  friend bool operator==(const DirectoryMarks&, const DirectoryMarks&) = default;
};
// The marks of an open directory; none (birth is 0) on a file system that is not known to be local.
int64_t marks_of(int directory, DirectoryMarks* marks);
bool are_same(const DirectoryMarks& a, const DirectoryMarks& b);

std::string new_token();
bool is_token(const std::string& text);

inline constexpr uint64_t no_owner = ~0ULL;
// Does a claim of this user count? `owner`: the one that the record names.
bool is_trusted_owner(uint32_t uid, uint64_t owner);

}  // namespace cairn::tier
