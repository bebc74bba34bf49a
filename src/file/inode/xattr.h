// Extended attributes: all of an inode's attributes in one block, replaced as a whole. Names with
// the prefix "cairn." are Cairn's own and not shown to programs.
#pragma once

#include <string>

#include "file/inode/file_system.h"

namespace cairn::file {

// All: ESTALE if the number does not mean the file of `generation` any more (0: any will do).
// EEXIST, ENODATA (by flags XATTR_CREATE 1, XATTR_REPLACE 2), ENOSPC above one block, ERANGE.
Status set_xattr(FileSystem& fs, const Map& map, const std::string& name, const void* value,
                 size_t size, int flags, uint64_t generation = 0);
// Sets an attribute that no program has set, and so leaves the ctime as it is.
Status note_xattr(FileSystem& fs, const Map& map, const std::string& name, const void* value,
                  size_t size);
Status remove_xattr(FileSystem& fs, const Map& map, const std::string& name,
                    uint64_t generation = 0);
// The same for a caller that is in a seat.
Status remove_xattr(FileSystem& fs, LocalSeat& seat, const Map& map, const std::string& name,
                    uint64_t generation = 0);
// ENODATA.
Result<std::string> get_xattr(FileSystem& fs, const Map& map, const std::string& name,
                              uint64_t generation = 0);
// Names, each terminated by a NUL, those of Cairn left out.
Result<std::string> list_xattrs(FileSystem& fs, const Map& map, uint64_t generation = 0);

}  // namespace cairn::file
