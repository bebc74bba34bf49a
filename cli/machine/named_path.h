// A path that the user names, without the symbolic links of others.
//
// What a command does is meant for what the user named. Another user's link may lead to anything
// that the user owns, and may lead elsewhere every time. So each command that takes a pool, a pool
// directory or a DIR goes on with the path that named_path() returns, in which no links are left.
#pragma once

#include <string>

namespace cairn::cli {

// As realpath(3), but from the first component on that is not there or not a directory, the path
// stays as it is. Throws at a symbolic link, also in what another link leads to, that belongs
// neither to this user nor to root.
std::string named_path(const std::string& path);

// Is it a symbolic link at which named_path() throws? What is above it is not looked at.
bool is_link_of_other(const std::string& path);

}  // namespace cairn::cli
