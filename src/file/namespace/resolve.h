// Resolve: finds the inode of a path, by the rules of path_resolution(7).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "file/namespace/directory.h"
#include "pool/lanes/seats.h"

namespace cairn::file {

inline constexpr int most_links = 40;
inline constexpr size_t longest_path = 4095;
// The number of looks at a name that other processes change between every two looks.
inline constexpr int most_looks = 100;

struct Resolved {
  Resolved() = default;
  Resolved(const Resolved&) = delete;
  Resolved& operator=(const Resolved&) = delete;

  // The directory of the last component, as found_as() has it, once every earlier component was
  // found; else 0.
  uint64_t parent = 0;
  // The last component; "." if the path ends in a directory itself. It points into the resolved
  // path, or into `spliced`.
  std::string_view name = ".";
  bool must_be_directory = false;  // the path ended in '/' or "." or ".."
  // The inode of the name; 0 if the name does not exist (status ENOENT), or was not looked for.
  uint64_t inode = 0;
  uint64_t generation = 0;  // with which it was named, if it was looked for: open_inode
  // While held, keeps the inode that was found readable. Release it before anything that may take
  // long.
  std::optional<pool::SeatGuard> seat;
  std::string spliced;  // the path after its last symbolic link was expanded
};

struct ResolveOptions {
  uint64_t top = format::root_inode;  // ".." stays inside
  bool follow_last = true;
  // False: resolve() does not look up a plain last component; the caller does so with the directory
  // locked.
  bool find_last = true;
  // True: resolve() stops with EXDEV at an absolute link, or at ".." out of `top`, and `rest` says
  // where to go on. False: such links start at the pool's root.
  bool stop_outside = false;
  // True: the caller expects that the last component may be missing, and no text is made for that
  // ENOENT.
  bool may_be_missing = false;
  // Called for each directory on the way that is not open to everybody; returns 0 or a negative
  // errno.
  int (*search)(uint32_t mode, uint32_t uid, uint32_t gid) = nullptr;
};

// Resolves a path. Fills the Resolved, a fresh one, as far as the walk came. ENOENT, ENOTDIR,
// ELOOP, ENAMETOOLONG, EXDEV (stop_outside), EIO.
Status resolve(FileSystem& fs, uint64_t directory, const char* path, const ResolveOptions& options,
               Resolved* resolved, std::string* rest = nullptr);

// Returns the inode as a directory whose names can be looked up; fills it from lower first if it is
// lazy. `found` is as found_as() has it, like all directory numbers here. ENOTDIR, ESTALE.
Result<Map> enter_directory(FileSystem& fs, uint64_t found);

// Returns the text of a symbolic link.
Result<std::string> link_text(FileSystem& fs, const Map& link);

}  // namespace cairn::file
