// The LowerTree of a file system: what file/ asks of lower goes on to the room that does it.
#pragma once

#include <memory>
#include <string>

#include "file/inode/file_system.h"

namespace cairn::tier {

// Makes the LowerTree of `fs`, which the caller puts into fs.lower.
std::unique_ptr<file::Lower> make_lower(file::FileSystem& fs);
// Lets lower_of() make the tree of a file system that is attached without one.
void make_lower_later(file::FileSystem& fs);

// HoldsData (lower.h): may the cover hold undrained data? `fs` is attached for this question only.
bool holds_data(file::FileSystem& fs, const std::string& name);

}  // namespace cairn::tier
