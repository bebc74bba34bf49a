// The steps in which a name of the pool is written to a directory of the system, be it the covered
// one or another one.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <string>

#include "file/inode/attributes.h"
#include "file/namespace/directory.h"

namespace cairn::tier {

file::Attributes attributes_now(file::FileSystem& fs, const file::Map& map);
// The bytes of a regular file, each piece read back and compared. `advance` is told of each piece;
// false: stop.
Status copy_contents(file::FileSystem& fs, const file::Map& map, int to, const std::string& path,
                     const std::function<bool(uint64_t bytes)>& advance);
// Owner, mode, times and users' attributes. `old` (-1: none) gives what the pool does not hold.
Status set_attributes(file::FileSystem& fs, const file::Map& map, const file::Attributes& wanted,
                      int fd, int old, const std::string& path);
// A symbolic link, FIFO, socket or device, named `aside`; `path` is for messages.
Status make_special(file::FileSystem& fs, const file::Map& map, const file::Attributes& wanted,
                    int directory, const std::string& path, const std::string& aside);
// Whether `name`, which has the type of the pool's inode and these attributes, is the same without
// any bytes.
bool is_same_special(file::FileSystem& fs, int directory, const char* name, const file::Map& map,
                     const struct stat& st);

}  // namespace cairn::tier
