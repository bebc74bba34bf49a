// A path that the user names, without the symbolic links of others.
//
// A command acts on the object that the user named. Another user's link may lead to anything that
// the user owns, and may lead elsewhere at each look. So each command that takes a pool, a pool
// directory or a DIR resolves it once with named_path() and uses the result, which has no links.
#pragma once

#include <string>

namespace cairn::cli {

// Resolves `path` as realpath(3) does, up to the first component that does not exist or is not a
// directory; the rest stays as it is. Throws at a symbolic link that belongs neither to this user
// nor to root, also where another link leads to it.
std::string named_path(const std::string& path);

// Is the last component a symbolic link at which named_path() throws?
bool is_link_of_other(const std::string& path);

}  // namespace cairn::cli
