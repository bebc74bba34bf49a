// Extended attributes on their way between pool and lower. Users' own ("user.") are kept in the
// pool; others (access control lists, labels) stay in lower and go over to the file that takes the
// old one's place.
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
// Gives the name in the pool what its file in lower has, and its ctime back. The caller holds the
// import lock of the directory.
Status import_attributes(file::FileSystem& fs, uint64_t directory, const std::string& name,
                         const ImportedName& from, uint64_t ctime);

// Gives the file `fd` what the pool's inode has, and what `old` (-1: none) had that the pool does
// not keep. ENOTSUP if lower has no such attributes and some are wanted.
Status export_attributes(file::FileSystem& fs, const file::Map& map, int fd, int old);
// Gives the file `fd` what `old` had, as far as it may.
void copy_attributes(int fd, int old);

}  // namespace cairn::tier
