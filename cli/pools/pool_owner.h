// PoolOwner: lets root's commands work in other users' pools with the rights of the pool's owner.
//
// The pool's owner can write anything into the pool: owners, modes and paths of files. A command
// that applies this with root's rights would give all of root's rights to the owner
// (docs/design/trust.md). So a command gives up root's rights before it opens such a pool, for as
// long as the process lives. The pool's library refuses to attach it as root.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace cairn::cli {

struct PoolOwner {
  uid_t user = 0;
  gid_t group = 0;  // of the pool's directory
};

// The owner of the pool at `path`, if this process is root and the owner is another user. A path
// where nothing lies has no owner. Throws if root's device can be written to by others: then no
// user can be named whose pool it is.
std::optional<PoolOwner> other_owner(const std::string& path);

// Gives up root's rights for good if the pool at `path` belongs to another user: user, groups and
// capabilities become those of the owner. Throws if that fails. Does nothing for other processes.
void work_as_owner(const std::string& path);

// Gives up root's rights for those of `owner`, even if another user owns the pool by now: the owner
// may change the path meanwhile.
void work_as(const std::string& path, const PoolOwner& owner);

// The pool for which the process has given up root's rights; "": it has not. The process cannot use
// root's other pools then.
const std::string& pool_of_owner();

// "working with the rights of user U, who owns the pool P", once the process has given up root's
// rights; "" before. For messages about what these rights did not allow.
std::string owner_text();

}  // namespace cairn::cli
