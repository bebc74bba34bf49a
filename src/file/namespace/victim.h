// Victim: what a file needs before it loses its name, to unlink, rmdir or rename: its bytes staged,
// or those of its replacement synced.
#pragma once

#include <string_view>

#include "file/namespace/directory.h"

namespace cairn::file::names {

// How often a file is staged that is evicted before its name can change: in a pool that is so full,
// the change is refused.
inline constexpr int most_tries_to_stage = 8;

// One name, as it stands in a directory that nobody has locked.
struct NamePlace {
  const Map& directory;
  const Name& name;
};
// Page media: a name that shows a whole file must not show an empty one after a power loss, because
// another took its place before it was synced. Does nothing if `to` names nothing.
Status sync_what_replaces(FileSystem& fs, NamePlace from, NamePlace to, bool exchange);

// The inode of a name whose file still lies in lower, at least in part; 0 for all others.
Result<uint64_t> lower_inode(FileSystem& fs, const Map& directory, const Name& name);

// Stages a file that is to lose its name `text` while a process has it open. `*lost` gets its
// number if that fails. An opener of an imported file then gets errors when it reads. ENOSPC: lower
// has the only copy of an evicted file's bytes, and they do not fit.
Status stage_victim(FileSystem& fs, uint64_t number, std::string_view text, uint64_t* lost);
Status no_room_for_victim(std::string_view text);
// Before a name is removed or replaced: asks lower whether a directory is empty, and stages a file
// that a process has open.
Status fill_victim(FileSystem& fs, const Map& directory, const Name& name, uint64_t* lost);

}  // namespace cairn::file::names
