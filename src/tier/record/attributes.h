// Copies extended attributes between pool and lower. The pool keeps users' own ("user."). Others
// (access control lists, labels) stay in lower, and a drain copies them to the file that replaces
// the old one.
#pragma once

#include <string>

#include "file/inode/file_system.h"
#include "tier/system/system.h"

namespace cairn::tier {

// A name in an open directory of lower, and which file or directory it was when it was looked at.
struct ImportedName {
  int directory;
  const char* name;
  const sys::FileStat& st;
};
// Copies the attributes of a file in lower to its name in the pool. The caller holds the import
// lock of the directory.
Status import_attributes(file::FileSystem& fs, uint64_t directory, const std::string& name,
                         const ImportedName& from);

// Says what a file gets from the one that it replaces, besides users' own attributes that the pool
// does not hold.
struct Carried {
  int old = -1;           // -1: it replaces none
  bool rights = false;    // access lists and labels
  bool contents = false;  // what holds for these bytes only: capabilities and hashes
};
// Copies to the file `fd` the attributes of the pool's inode, and those of the old file. ENOTSUP:
// there are some, and lower does not support them.
Status export_attributes(file::FileSystem& fs, const file::Map& map, int fd,
                         const Carried& carried);
// The permissions that a new file `fd` may get in the place of `old` (-1: there is none to look
// at). If it has not got the access list that the old file has or had, those of the group were the
// mask of the list; if they are not known, the group gets no more than all others.
uint32_t permissions_with(file::FileSystem& fs, const file::Map& map, int fd, int old,
                          uint32_t permissions);
// The permissions of a file that has had this access list, and gets another file's place without
// it: the bits of the group were the mask of the list. Returns `permissions` if there is none.
uint32_t without_access_list(int fd, uint32_t permissions);
// Removes the access list of a file or directory, and the one that new files in it get. The
// descriptor may be opened with O_PATH.
void drop_access_lists(int fd);

// Notes the default access list of a directory of another user, who may set another one for files
// that the drain makes there. The caller has just opened it to list it.
Status note_default_list(file::FileSystem& fs, const file::Map& map, int directory);
// The access list of what a drain makes in a directory.
struct NewFileList {
  bool is_from_directory = true;  // its default list, as the file system gives it
  std::string list;               // otherwise; "": none
};
// In a directory of another user: the default list if it still is the one that was noted.
NewFileList noted_list(file::FileSystem& fs, const file::Map& map, int directory);
// Gives it to a file or directory that was just made and has mode 0600 or 0700. Its owner may have
// set another default list in the moment before, so what the file system gave is dropped. Nobody
// else gets permissions before the mode is set. The descriptor may be opened with O_PATH.
void give_list(int fd, const NewFileList& wanted, bool is_directory);

// Does the pool give the file attributes that are not users' own, such as capabilities?
bool has_system_attributes(file::FileSystem& fs, const file::Map& map);
// Copies the attributes of `old` to the file `fd`, as far as this process may.
void copy_attributes(int fd, int old);

}  // namespace cairn::tier
