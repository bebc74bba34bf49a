// Moving: marks a file while the nodes of a job settle which of them has it (cluster/names/names.h,
// cluster/remote/remote_files.h). No process opens the file until that is known, so none is left
// with a file whose name is gone.
//
// An opener counts itself, then reads the mark. A mover sets the mark, then looks for openers. So
// at least one of the two sees the other.
#pragma once

#include <optional>

#include "file/inode/file_system.h"
#include "pool/lanes/seats.h"

namespace cairn::file {

inline bool is_moving(const Inode& inode) {
  return (inode.flags.load() & format::flag_moving) != 0;
}
// Removes a mark whose setter was killed, then does what is_moving() does.
bool is_still_moving(FileSystem& fs, LocalSeat& seat, const Map& map);
// Marks a file that is being made: it is moving from the start.
void mark_new(FileSystem& fs, LocalSeat& seat, Inode& inode);
// EBUSY: a process has the file open or mapped. EAGAIN: another process moves it.
Status begin_moving(FileSystem& fs, const Map& map);
// Removes the mark, also of a file that is gone. With `mover`, only that mover's mark is removed.
void end_moving(FileSystem& fs, LocalSeat& seat, const Map& map, uint64_t generation,
                std::optional<uint64_t> mover = {});
// Waits until the move is over: the file is here, or has lost its name. A mover needs a few
// messages. If a mark stays longer, a server set it for a process of another node that was killed;
// it is removed.
void await_place(FileSystem& fs, LocalSeat& seat, const Map& map);

}  // namespace cairn::file
