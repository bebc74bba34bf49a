// Pins: inodes whose blocks are mapped or viewed must keep them, also after they were cut out of
// the file, until the last mapping or view is gone. A pin is an entry of the pin table together
// with a kernel lock on its byte of the lock file, held by a mapping that forked children inherit:
// it ends by itself with its last holder.
#pragma once

#include "file/inode/file_system.h"

namespace cairn::file {

struct PinHandle {
  uint64_t number = 0;
  media::LivenessLock lock;
};

Result<PinHandle> pin_inode(FileSystem& fs, LocalSeat& seat, uint64_t inode);
void unpin(FileSystem& fs, PinHandle& pin);
// Is a pin on the inode in force? Entries of the dead are freed on the way.
bool is_pinned(FileSystem& fs, uint64_t inode);

}  // namespace cairn::file
