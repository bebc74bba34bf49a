// Pins: an inode whose blocks are mapped or viewed must keep them, even after they were cut out of
// the file, until the last mapping or view is gone. A pin is an entry of the pin table and a kernel
// lock on the entry's byte of the lock file. A mapping that forked children inherit holds the lock,
// so the pin ends with its last holder.
#pragma once

#include "file/inode/file_system.h"

namespace cairn::file {

struct PinHandle {
  uint64_t number = 0;
  media::LivenessLock lock;
};

Result<PinHandle> pin_inode(FileSystem& fs, LocalSeat& seat, uint64_t inode);
void unpin(FileSystem& fs, PinHandle& pin);
// Returns true if a pin on the inode is in force. Frees entries of dead processes on the way.
bool is_pinned(FileSystem& fs, uint64_t inode);

}  // namespace cairn::file
