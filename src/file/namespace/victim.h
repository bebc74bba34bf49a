// Victim: prepares a file that is to lose its name, for unlink, rmdir or rename: stages its bytes,
// or syncs those of its replacement.
#pragma once

#include <string_view>

#include "file/namespace/directory.h"

namespace cairn::file::names {

// The number of attempts to stage a file that is evicted again before its name can change. In a
// pool that is so full the change is refused.
inline constexpr int most_tries_to_stage = 8;

// One name, as read from a directory without its lock.
struct NamePlace {
  const Map& directory;
  const Name& name;
};
// Page media: syncs a file before it replaces another one, because a name of a whole file must not
// show an empty one after a power loss. Does nothing if `to` names nothing.
Status sync_what_replaces(FileSystem& fs, NamePlace from, NamePlace to, bool exchange);

// Returns the inode of a name whose file lies in lower, at least in part; 0 for all others.
Result<uint64_t> lower_inode(FileSystem& fs, const Map& directory, const Name& name);

// Stages a file that is to lose its name `text` while a process has it open. If that fails, `*lost`
// receives its number: readers of an imported file then get errors. ENOSPC: lower has the only copy
// of an evicted file's bytes, and they do not fit.
Status stage_victim(FileSystem& fs, uint64_t number, std::string_view text, uint64_t* lost);
Status no_room_for_victim(std::string_view text);
// Asks lower whether a directory is empty, and stages a file that a process has open, before a name
// is removed or replaced.
Status fill_victim(FileSystem& fs, const Map& directory, const Name& name, uint64_t* lost);

}  // namespace cairn::file::names
