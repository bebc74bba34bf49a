// Moving: a file of which it is being settled whether this node of a job has it or another one
// (cluster/names.h, elsewhere.h). Nobody opens it until that is known, so nobody is left with a
// file that has no name any more.
//
// Who opens counts himself as an opener and looks at the mark then; who moves sets the mark and
// looks for openers then. So at least one of the two sees the other.
#pragma once

#include <optional>

#include "file/inode/file_system.h"
#include "pool/lanes/seats.h"

namespace cairn::file {

inline bool is_moving(const Inode& inode) {
  return (inode.flags.load() & format::flag_moving) != 0;
}
// The same, where a mark whose setter was killed goes.
bool is_still_moving(FileSystem& fs, LocalSeat& seat, const Map& map);
// A file that is being made moves from its first moment on.
void mark_new(FileSystem& fs, LocalSeat& seat, Inode& inode);
// EBUSY: somebody has it open or mapped; EAGAIN: somebody moves it.
Status begin_moving(FileSystem& fs, const Map& map);
// Also of one that is gone. `mover`: only if the mark is still that one's.
void end_moving(FileSystem& fs, LocalSeat& seat, const Map& map, uint64_t generation,
                std::optional<uint64_t> mover = {});
// Until it has its place: here, or no name any more. Who moves it needs a few messages; a mark that
// stays for longer was set by a server for a process of another node that was killed, and goes.
void await_place(FileSystem& fs, LocalSeat& seat, const Map& map);

}  // namespace cairn::file
