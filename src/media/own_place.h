// Where this user's pools and lock files lie in a directory that others can write to.
//
// That is `cairn-UID`, a directory of the user that is closed to others. Any user can make a name,
// so another one may have taken this one. Then it is `cairn-UID-` and six random characters, which
// nobody can take in advance. Every process of the user finds it: the kernel lets no other user
// make a directory with this owner. So of the names of that form, those that belong to the user
// count, and of several the first.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/status.h"

namespace cairn::media {

struct OwnPlace {
  std::string path;
  std::optional<uid_t> taken_by;  // the user who has taken `cairn-UID`
};

// With `create`, it is made if it is not there. ENOENT, without `create`: another user has taken
// `cairn-UID`, and this one has no other place. EACCES: it is there, and others have permissions on
// it. ENOTDIR: it is a file of the user's.
Result<OwnPlace> own_place(const std::string& directory, bool create);

}  // namespace cairn::media
