// Where says which directory of the pool a walk is in, and where that belongs in lower.
#pragma once

#include <optional>
#include <string>

#include "file/inode/file_system.h"
#include "tier/lower/lower.h"
#include "tier/record/drain_mode.h"

namespace cairn::tier {

// A directory of the pool and where it belongs in lower.
struct Where {
  uint64_t inode = 0;
  file::Map map;
  std::string path = {};
  // The directory came here by a move or is new in lower, and what the names in it remember of
  // lower may be about another place: it is looked at before it is believed.
  bool fresh = false;
  // What the pool remembers of the directory in lower. None: the covered directory itself.
  std::optional<file::LowerIdentity> identity = {};
  // In force for what lies in it: its own, or that of the nearest directory above it.
  DrainMode mode = DrainMode::inherit;
  // It is fresh because lower has it, or one above it, under another name, or not at all. For a
  // drain: because lower has it under another name, which is known (DrainState::old_paths).
  bool is_moved = false;
  // A directory that is removed meanwhile may leave its inode to another one.
  uint64_t generation = map.inode == nullptr ? 0 : map.inode->generation.load();
};

}  // namespace cairn::tier
