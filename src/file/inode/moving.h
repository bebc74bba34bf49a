// Moving: a file of which it is being settled whether this node of a job has it or another one
// (cluster/names/names.h, cluster/remote/remote_files.h). No process opens it until that is known,
// so none is left with a file that has no name any more.
//
// An opener counts itself and looks at the mark then; a mover sets the mark and looks for openers
// then. So at least one of the two sees the other.
#pragma once

#include <optional>

#include "file/inode/file_system.h"
#include "pool/lanes/seats.h"

namespace cairn::file {

inline bool is_moving(const Inode& inode) {
  return (inode.flags.load() & format::flag_moving) != 0;
}
// As is_moving(), after removing a mark whose setter was killed.
bool is_still_moving(FileSystem& fs, LocalSeat& seat, const Map& map);
// A file that is being made moves from its first moment on.
void mark_new(FileSystem& fs, LocalSeat& seat, Inode& inode);
// EBUSY: a process has it open or mapped; EAGAIN: another one moves it.
Status begin_moving(FileSystem& fs, const Map& map);
// Also of one that is gone. `mover`: only if the mark is still that one's.
void end_moving(FileSystem& fs, LocalSeat& seat, const Map& map, uint64_t generation,
                std::optional<uint64_t> mover = {});
// Waits until it has its place: here, or no name any more. A mover needs a few messages. A mark
// that stays for longer was set by a server for a process of another node that was killed, and is
// removed.
void await_place(FileSystem& fs, LocalSeat& seat, const Map& map);

}  // namespace cairn::file
