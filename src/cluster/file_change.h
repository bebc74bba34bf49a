// A change of an ordinary file of this node's pool that a process of another node asks for, by its
// name or with the file open.
#pragma once

#include "cluster/messages.h"
#include "file/inode/file_system.h"

namespace cairn::cluster {

// ESTALE: the inode is another file than that of `generation`.
Status change_file(file::FileSystem& fs, const file::Map& map, uint64_t generation,
                   const FileChange& change);

}  // namespace cairn::cluster
