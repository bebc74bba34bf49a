// What has changed in the pool since it was the same in lower, and what has changed in lower.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

#include "file/namespace/names.h"
#include "tier/changes/where.h"
#include "tier/lower/lower.h"
#include "tier/system/listing.h"

namespace cairn::tier {

// The ctime of an inode, with what its writers have not folded yet.
uint64_t change_time(file::FileSystem& fs, const file::Map& map);
// The shape of an inode once no change of its structure is under way (file/inode/shape.h). Such a
// change shows its new time before all of it is done, so a copier compares the shape as well.
// EBUSY: a process does not get on with one.
Result<uint64_t> shape_at_rest(file::FileSystem& fs, const file::Map& map);
// Nothing has to be looked at for this name: lower has it, as far as we know.
bool is_drained(file::FileSystem& fs, const Where& where, const file::Listed& listed,
                const file::Map& map);
// The directory has its name in lower since it was imported or drained.
bool is_at_home(const Where& where, const file::Listed& listed, const file::Map& map);
bool is_new_in_lower(const file::Map& map);
void set_home(file::FileSystem& fs, const Where& where, const std::string& name,
              const file::Map& map, bool is_new);
// What was listed still holds. Asked after the ctime was read: as long as that stays the same, so
// does the name, because moving and removing it move the ctime on.
bool still_names(file::FileSystem& fs, const Where& where, const file::Listed& listed,
                 const file::Map& map);
void set_drained(file::FileSystem& fs, const file::Map& map, uint64_t change_time);
// Whether a name is not drained at all, because its mode is `never`. What lower has under another
// name is drained once more: a name that was moved loses nothing. Of a directory that lower does
// not have, it says that it needs no place there of its own.
bool is_left_out(file::FileSystem& fs, const Where& where, const file::Listed& listed,
                 const file::Map& map);
// Waits until later changes will have a later time: the clock that stamps them has moved on. False:
// it was set back, and they may have the same.
bool wait_for_tick(uint64_t change_time);
// How far the clock that stamps changes is ahead of one that nobody sets; in nanoseconds.
int64_t clock_set_to();
// Whether that clock has been set back since: what has changed then may have an old time.
bool is_set_back(int64_t since);

// From now on until some seconds later, what changes in lower at or below a directory is a drain's
// own doing, also if it is killed before it can say so. Returns when that ends. 0: the directory or
// one above it has just been moved or removed in the pool, which remembers nothing of it in lower.
uint64_t announce(file::FileSystem& fs, uint64_t directory);

// What lies in lower under a name, compared with what the pool remembers.
enum class InLower : uint8_t { nothing, remembered, other };
Result<InLower> try_to_look(const Known& known, int directory, const file::Listed& listed,
                            struct stat* st);
// As try_to_look(); what cannot be looked at is `other`, which nobody touches.
InLower look(const Known& known, int directory, const file::Listed& listed, struct stat* st);

}  // namespace cairn::tier
