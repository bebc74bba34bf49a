// Copies extended attributes between pool and lower. The pool keeps users' own ("user."). Others
// (access control lists, labels) stay in lower, and a drain copies them to the file that replaces
// the old one.
#pragma once

#include <string>

#include "file/inode/file_system.h"

namespace cairn::tier {

// A name in an open directory of lower, and which file or directory it was when it was looked at.
struct ImportedName {
  int directory;
  const char* name;
  const std::string& path;  // its path in the system
  uint64_t device;
  uint64_t inode;
};
// Copies the attributes of a file in lower to its name in the pool, and keeps the ctime. The caller
// holds the import lock of the directory.
Status import_attributes(file::FileSystem& fs, uint64_t directory, const std::string& name,
                         const ImportedName& from, uint64_t ctime);

// Copies to the file `fd` the attributes of the pool's inode, and those of `old` (-1: none) that
// the pool does not keep. ENOTSUP: there are some, and lower does not support them.
Status export_attributes(file::FileSystem& fs, const file::Map& map, int fd, int old);
// Copies the attributes of `old` to the file `fd`, as far as this process may.
void copy_attributes(int fd, int old);

}  // namespace cairn::tier
