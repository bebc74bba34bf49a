// Names: creates, moves and removes names. Each call is one atomic change, so a killed process
// leaves it done or not done.
#pragma once

#include <string>
#include <string_view>

#include "file/namespace/resolve.h"

namespace cairn::file {

struct CreateRequest {
  uint32_t mode = 0;  // type and permissions
  uint64_t rdev = 0;
  const std::string_view* target = nullptr;  // of a symbolic link
  bool moving = false;                       // moving.h
};

struct Created : Map {
  uint64_t generation = 0;
};
// Creates an inode and names it `name` in directory `parent`. EEXIST, ENOENT (the directory was
// removed), ENOSPC.
Result<Created> create_name(FileSystem& fs, uint64_t parent, std::string_view name,
                            const CreateRequest& request);
// Creates a file without a name (O_TMPFILE); link_inode() may name it if `may_get_name`. The inode
// stays in state allocating until open_unnamed() opens it.
Result<Map> create_unnamed(FileSystem& fs, LocalSeat& seat, const Inode& directory, uint32_t mode,
                           bool may_get_name);

// The inode that the caller saw under a name. The call returns ENOENT if the name refers to another
// inode by now, and ESTALE if the inode has changed since the given change time.
struct Seen {
  uint64_t number = 0;
  uint64_t generation = 0;
  uint64_t ctime = 0;  // 0: any
};
Status unlink_name(FileSystem& fs, uint64_t parent, std::string_view name,
                   const Seen* seen = nullptr);
Status remove_directory(FileSystem& fs, uint64_t parent, std::string_view name);
// Removes the name in a slot of a directory that is being removed as a whole, if no call by name
// can: the name is not sound, or the index does not lead to it. Does nothing if the slot names
// another inode by now. With `with_inode`, a file loses that name, and an empty directory ends;
// ENOTEMPTY if the directory is not empty.
Status clear_slot(FileSystem& fs, uint64_t parent, uint64_t unit, uint64_t number, bool with_inode);
// Adds a name to an inode. ENOENT: the inode is gone, or its number no longer means the file of
// `generation` (0: any).
Status link_inode(FileSystem& fs, uint64_t inode, uint64_t parent, std::string_view name,
                  uint64_t generation = 0);

inline constexpr unsigned rename_no_replace = 1;
inline constexpr unsigned rename_exchange = 2;
struct RenameEnd {
  uint64_t parent;
  std::string_view name;
  bool must_be_directory;
};
Status rename(FileSystem& fs, const RenameEnd& from, const RenameEnd& to, unsigned flags);

// Returns the path of a directory below `top`, "/" for `top` itself.
Result<std::string> path_of(FileSystem& fs, uint64_t top, uint64_t directory);

// The attributes of a name that is imported from lower into a lazy directory. The inode is lazy if
// it is a regular file or directory, and records its origin (Inode::lower_parent, drained). EEXIST
// if the name is there (also as a whiteout).
struct ImportedInode {
  uint32_t mode;
  uint32_t uid;
  uint32_t gid;
  uint64_t size;
  uint64_t units;  // of 512 bytes, occupied in lower
  uint64_t links;
  uint64_t atime;
  uint64_t mtime;
  uint64_t ctime;
  uint64_t rdev;
  std::string target;
};
Status import_name(FileSystem& fs, uint64_t parent, std::string_view name,
                   const ImportedInode& imported, const Witness& lower);

}  // namespace cairn::file
