// Tells which names differ between the pool and lower, and which side has changed.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

#include "file/namespace/names.h"
#include "tier/changes/drain_directory.h"
#include "tier/lower/lower.h"
#include "tier/system/listing.h"

namespace cairn::tier {

// The ctime of an inode, including stamps that its writers have not folded into it yet.
uint64_t change_time(file::FileSystem& fs, const file::Map& map);
// Waits until no change of the inode's structure is under way, and returns its shape
// (file/inode/shape.h). Such a change sets the new time before it has ended, so a copier compares
// the shape as well. EBUSY: a change has not ended in time.
Result<uint64_t> shape_at_rest(file::FileSystem& fs, const file::Map& map);
// Does lower have the name and its inode unchanged, as far as the pool knows?
bool is_drained(file::FileSystem& fs, const DrainDirectory& where, const file::Listed& listed,
                const file::Map& map);
// Does lower have the inode under this name since it was imported or drained?
bool is_at_home(const DrainDirectory& where, const file::Listed& listed, const file::Map& map);
bool is_new_in_lower(const file::Map& map);
void set_home(file::FileSystem& fs, const DrainDirectory& where, const std::string& name,
              const file::Map& map, bool is_new);
// Does the name still lead to the inode that was listed? Called after the ctime was read: while the
// ctime stays the same, so does the name, because a move or removal changes the ctime.
bool still_names(file::FileSystem& fs, const DrainDirectory& where, const file::Listed& listed,
                 const file::Map& map);
// Does the pool still have the name as it was listed, with the same inode and the same file in
// lower? A drain holds listed names for a while, and may have given the name to another file in
// lower since.
bool is_as_listed(file::FileSystem& fs, const DrainDirectory& where, const file::Listed& listed);
void set_drained(file::FileSystem& fs, const file::Map& map, uint64_t change_time);
// The state of a file in the pool before its first byte was copied to lower.
struct CopiedFrom {
  uint64_t change_time = 0;
  uint64_t drained = 0;  // Inode::drained
};
// Returns the state to note for a file that lower has already.
inline CopiedFrom counts_as_drained(const file::Map& map) {
  const uint64_t drained = map.inode->drained.load();
  return {drained, drained};
}
// Notes that lower has the file as of `change_time`, unless Inode::drained has changed since: then
// a process was killed while it wrote the file, and the next drain copies it again.
void set_drained_as_of(file::FileSystem& fs, const file::Map& map, const CopiedFrom& copied);
// Is a name not drained at all, because its mode is `never`? A file that lower has under another
// name is drained once more, so that a move loses nothing. A directory with that mode that lower
// lacks is not made there for its own sake.
bool is_left_out(file::FileSystem& fs, const DrainDirectory& where, const file::Listed& listed,
                 const file::Map& map);
// Waits until the clock that stamps changes has moved on, so that later changes get a later time.
// False: it was set back, and they may get the same time.
bool wait_for_tick(uint64_t change_time);
// How many nanoseconds the clock that stamps changes is ahead of a clock that is never set.
int64_t clock_set_to();
// Was the clock that stamps changes set back since? Then changes may have an old time.
bool is_set_back(int64_t since);

// Notes that changes in lower at or below a directory during the next seconds are this drain's,
// even if it is killed. Returns when that time ends. 0: the directory, or one above it, has just
// been moved or removed in the pool, which does not remember it in lower any more.
uint64_t announce(file::FileSystem& fs, uint64_t directory);
// The end of that time, if it begins now.
uint64_t announced_time();

// Tells if lower has, under a name, nothing, the file that the pool remembers, or another one.
enum class InLower : uint8_t { nothing, remembered, other };
Result<InLower> try_to_look(const KnownCover& known, int directory, const file::Listed& listed,
                            sys::FileStat* st);
// Looks without an error: a file that cannot be looked at counts as `other`, and is left alone.
InLower look(const KnownCover& known, int directory, const file::Listed& listed, sys::FileStat* st);

}  // namespace cairn::tier
