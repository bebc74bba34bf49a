// Extended attributes: all of an inode's attributes in one block, replaced as a whole. Names with the
// prefix "cairn." are Cairn's own and not shown to programs.
#pragma once

#include <string>

#include "file/file_system.h"

namespace cairn::file {

// EEXIST, ENODATA (by flags XATTR_CREATE 1, XATTR_REPLACE 2), ENOSPC above one block, ERANGE.
Status set_xattr(FileSystem& fs, const Map& map, const std::string& name, const void* value,
                 size_t size, int flags);
Status remove_xattr(FileSystem& fs, const Map& map, const std::string& name);
// ENODATA.
Result<std::string> get_xattr(FileSystem& fs, const Map& map, const std::string& name);
// Names, each terminated by a NUL, those of Cairn left out.
Result<std::string> list_xattrs(FileSystem& fs, const Map& map);

}  // namespace cairn::file
