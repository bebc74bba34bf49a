// Open file table: the open file descriptions (offset, flags, inode, holders) that lie in the pool,
// found by their slots. A description lives while a lane holds it.
#pragma once

#include <cstdint>
#include <functional>

#include "file/inode/file_system.h"

namespace cairn::file {

// Returns the description in `slot`, or null.
format::OpenFile* open_file_at(const FileSystem& fs, uint64_t slot);
// Takes a free slot, `*slot` first if it is free, and leaves it in the state of being made.
Status make_description(FileSystem& fs, LocalSeat& seat, uint64_t* slot, format::OpenFile** made);

// Returns the lane whose bit stands for this process.
inline uint32_t first_lane(const FileSystem& fs) { return fs.pool.held.front().number; }
void hold(Pool& pool, format::OpenFile& open, uint32_t lane);
void let_go(Pool& pool, format::OpenFile& open, uint32_t lane);
bool is_only_holder(const format::OpenFile& open, uint32_t lane);
// Ends the description if no lane holds it. Returns true to the caller that ended it.
bool end_description(FileSystem& fs, format::OpenFile& open);
// Releases everything that lane `lane` holds. Returns true if an unlinked file lost its last
// description.
bool drop_lane(FileSystem& fs, uint32_t lane);

// Calls visit(description) for each that is live or being made, until it returns false. Returns
// false if it was stopped.
bool for_each_open_file(FileSystem& fs, const std::function<bool(format::OpenFile&)>& visit);
// Returns true if a live description names the inode.
bool is_open(FileSystem& fs, uint64_t number);

}  // namespace cairn::file
