// The directory that a pool on files is: whose it may be, and what lies in it for a moment.
#pragma once

#include <string>

#include "base/status.h"

namespace cairn::pool {

// ENOTDIR, or EACCES if it belongs to another user or others may enter it.
Status check_directory(const std::string& path);
// A name that an adapter makes for a moment, and that stays if its process is killed.
bool is_of_a_moment(const char* name);
// Removes those. A process that is just making one makes it under another name.
Status sweep_directory(const std::string& path);
// Removes of a pool's directory what a pool consists of, and the directory if nothing else is in
// it.
void take_pool_apart(const std::string& path);
// Unlinks the files of a folder, and the folder.
void remove_folder(const std::string& path);

}  // namespace cairn::pool
