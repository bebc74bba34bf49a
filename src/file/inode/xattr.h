// Extended attributes: one block holds all attributes of an inode and is replaced as a whole. Names
// with the prefix "cairn." belong to Cairn and are hidden from programs.
#pragma once

#include <string>

#include "file/inode/file_system.h"

namespace cairn::file {

// Sets an attribute. EEXIST, ENODATA (by flags XATTR_CREATE 1, XATTR_REPLACE 2), ENOSPC above one
// block, ERANGE. A call with a `generation` returns ESTALE if the number no longer means the file
// of `generation` (0: any).
Status set_xattr(FileSystem& fs, const Map& map, const std::string& name, const void* value,
                 size_t size, int flags, uint64_t generation = 0);
// Sets one of Cairn's own attributes; the ctime stays as it is.
Status note_xattr(FileSystem& fs, const Map& map, const std::string& name, const void* value,
                  size_t size);
Status remove_xattr(FileSystem& fs, const Map& map, const std::string& name,
                    uint64_t generation = 0);
// Does what remove_xattr() does, for a caller that is in a seat.
Status remove_xattr(FileSystem& fs, LocalSeat& seat, const Map& map, const std::string& name,
                    uint64_t generation = 0);
// Returns the attribute's value, or ENODATA.
Result<std::string> get_xattr(FileSystem& fs, const Map& map, const std::string& name,
                              uint64_t generation = 0);
// Returns the names, each terminated by a NUL, without those of Cairn.
Result<std::string> list_xattrs(FileSystem& fs, const Map& map, uint64_t generation = 0);

}  // namespace cairn::file
