// DrainDirectory is a directory of the pool that a walk is in, and its place in lower.
#pragma once

#include <optional>
#include <string>

#include "file/inode/file_system.h"
#include "tier/lower/lower.h"
#include "tier/record/drain_mode.h"

namespace cairn::tier {

struct DrainDirectory {
  uint64_t inode = 0;
  file::Map map;
  std::string path = {};
  // The directory was moved here, or is new in lower. The witnesses of the names in it may be of
  // another place, so they are compared with lower before they count.
  bool fresh = false;
  // The witness of the directory in lower. None: it is the covered directory itself.
  std::optional<file::Witness> witness = {};
  // In force for names in it: its own mode, or that of the nearest directory above it.
  DrainMode mode = DrainMode::inherit;
  // It is fresh because lower has it, or one above it, under another name or not at all. In a
  // drain: because lower has it under another name, which is known (DrainState::old_paths).
  bool is_moved = false;
  // A directory that is removed meanwhile may leave its inode to another one.
  uint64_t generation = map.inode == nullptr ? 0 : map.inode->generation.load();
};

}  // namespace cairn::tier
