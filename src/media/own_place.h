// Own place: this user's directory for pools and lock files, in a directory that others can write
// to.
//
// It is `cairn-UID`, a directory of the user that is closed to others. Any user can make a name, so
// another one may have taken this one. Then it is `cairn-UID-` and six random characters, which
// cannot be taken in advance. Every process of the user finds it: the kernel lets no other user
// make a directory with this owner. So among the names of that form, those that belong to the user
// count, and the first of several.
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

// Finds the place; with `create`, makes it if it is not there. ENOENT, without `create`: another
// user has taken `cairn-UID`, and this one has no other place. EACCES: it is there, and others have
// permissions on it. ENOTDIR: it is a file of the user's.
Result<OwnPlace> own_place(const std::string& directory, bool create);

}  // namespace cairn::media
