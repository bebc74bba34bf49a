// Writes a file of the pool to a directory of the system, in steps: for a drain to the covered
// directory or to another one.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <string>

#include "file/inode/attributes.h"
#include "file/namespace/directory.h"
#include "tier/record/attributes.h"
#include "tier/system/system.h"

namespace cairn::tier {

file::Attributes attributes_now(file::FileSystem& fs, const file::Map& map);
// Copies the bytes of a regular file, and reads each piece back to compare it. `advance` is called
// with the size of each piece; false: stop.
Status copy_contents(file::FileSystem& fs, const file::Map& map, int to, const std::string& path,
                     const std::function<bool(uint64_t bytes)>& advance);
// Sets owner, mode, times and attributes. Attributes that the pool does not hold come from `old`
// (-1: none), the file that this one replaces. An access list comes over only if the owner of the
// new file, or this process's user, owns the old one, and so has set the list.
Status set_attributes(file::FileSystem& fs, const file::Map& map, const file::Attributes& wanted,
                      int fd, int old, const std::string& path);
// A file that is about to be made.
struct FileToMake {
  int directory;
  const std::string& name;  // the temporary one
  const std::string& path;  // for messages
  const NewFileList& list;
};
// Makes a symbolic link, FIFO, socket or device.
Status make_special(file::FileSystem& fs, const file::Map& map, const file::Attributes& wanted,
                    const FileToMake& made);
// Is `name`, which has the type of the pool's inode and these attributes, the same special file?
bool is_same_special(file::FileSystem& fs, int directory, const char* name, const file::Map& map,
                     const sys::FileStat& st);

}  // namespace cairn::tier
