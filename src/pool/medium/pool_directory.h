// The directory of a pool on files: checks its owner, and handles its temporary files.
#pragma once

#include <string>

#include "base/status.h"
#include "pool/medium/directory.h"

namespace cairn::pool {

// Opens a pool's directory. ENOTDIR if it is something else, EACCES if it belongs to another user
// or others may enter it. Links are followed in a path, but not in a name in a directory.
Result<Directory> open_pool_directory(const std::string& path);
Result<Directory> open_pool_directory(const Directory& above, const std::string& name);
// Returns true for a name that an adapter makes temporarily, and that stays if its process is
// killed.
bool is_of_a_moment(const std::string& name);
// Removes the temporary files. A running process makes them under another name.
Status sweep_directory(const Directory& pool);
// Removes the files of a pool from its directory.
void take_pool_apart(const Directory& pool);
// Unlinks the files of a folder, and the folder.
void remove_folder(const Directory& above, const std::string& name);

}  // namespace cairn::pool
