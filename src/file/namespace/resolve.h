// Resolve: from a path to an inode, as path_resolution(7).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "file/namespace/directory.h"
#include "pool/lanes/seats.h"

namespace cairn::file {

inline constexpr int most_links = 40;
inline constexpr size_t longest_path = 4095;
// How often a name is looked at that others change in each moment between two looks.
inline constexpr int most_looks = 100;

struct Resolved {
  Resolved() = default;
  Resolved(const Resolved&) = delete;
  Resolved& operator=(const Resolved&) = delete;

  // Of the last component, once every earlier one was found: else 0. As found_as() has it.
  uint64_t parent = 0;
  // The last component; "." when the path ends in a directory itself. Lies in the path that was
  // resolved, or in `spliced`.
  std::string_view name = ".";
  bool must_be_directory = false;  // the path ended in '/' or "." or ".."
  // What it names; 0 if the name does not exist (status ENOENT), or was not looked for.
  uint64_t inode = 0;
  uint64_t generation = 0;  // with which it was named, if it was looked for: open_inode
  // What was found stays readable while this is held. Let go before anything that may take long.
  std::optional<pool::SeatGuard> seat;
  std::string spliced;  // the path after its last symbolic link was put in
};

struct ResolveOptions {
  uint64_t top = format::root_inode;  // ".." stays inside
  bool follow_last = true;
  // False: a plain last component is not looked for; the caller does that with the directory
  // locked.
  bool find_last = true;
  // At an absolute link, or ".." out of `top`: stop with EXDEV, `rest` says where to go on. Else
  // such links start at the pool's root.
  bool stop_outside = false;
  // The caller expects that the last component may be missing: no text is made for that ENOENT.
  bool may_be_missing = false;
  // Asked for each directory that is walked through and not open to everybody: 0 or a negative
  // errno.
  int (*search)(uint32_t mode, uint32_t uid, uint32_t gid) = nullptr;
};

// ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG, EXDEV (stop_outside), EIO. The Resolved, a fresh one, is
// filled in as far as the walk came.
Status resolve(FileSystem& fs, uint64_t directory, const char* path, const ResolveOptions& options,
               Resolved* resolved, std::string* rest = nullptr);

// The inode as a directory that names can be looked up in: filled from lower if it was lazy.
// `found`: as found_as() has it, as every number of a directory here. ENOTDIR, ESTALE.
Result<Map> enter_directory(FileSystem& fs, uint64_t found);

// The text of a symbolic link.
Result<std::string> link_text(FileSystem& fs, const Map& link);

}  // namespace cairn::file
