// The directory that a pool on files is: whose it may be, and what lies in it for a moment.
#pragma once

#include <string>

#include "base/status.h"
#include "pool/medium/directory.h"

namespace cairn::pool {

// Opens a pool's directory. ENOTDIR if it is something else, or EACCES if it belongs to another
// user or others may enter it. By a path links are followed, by a name in a directory none is.
Result<Directory> open_pool_directory(const std::string& path);
Result<Directory> open_pool_directory(const Directory& above, const std::string& name);
// A name that an adapter makes for a moment, and that stays if its process is killed.
bool is_of_a_moment(const std::string& name);
// Removes those. A process that is just making one makes it under another name.
Status sweep_directory(const Directory& pool);
// Removes of a pool's directory what a pool consists of.
void take_pool_apart(const Directory& pool);
// Unlinks the files of a folder, and the folder.
void remove_folder(const Directory& above, const std::string& name);

}  // namespace cairn::pool
