// Decides if a pool may give rights to files that are drained: owners, set-ID bits, file
// capabilities and device numbers.
//
// A file system that is mounted nosuid or nodev, or over FUSE, may come from a user, with files of
// any owner in it. Root mounts it so that its files give no rights. A drain must not give such
// rights either, in a directory that is mounted otherwise. tmpfs and ramfs are trusted however they
// are mounted (/dev/shm is nosuid and nodev): nothing in them comes from an image. Within a user
// namespace, files in them belong to users of that namespace only.
#pragma once

#include "file/inode/attributes.h"
#include "file/inode/file_system.h"

namespace cairn::tier {

bool pool_gives_rights(file::FileSystem& fs);

// Reduces `wanted` to the rights that a drain may give to a file. If the pool gives no rights,
// there are no set-ID bits, and in root's drain each file keeps the owner and group that it has
// (keeps_owner): new ones are root's.
inline constexpr uint32_t keeps_owner = UINT32_MAX;
file::Attributes with_rights(file::FileSystem& fs, file::Attributes wanted);

}  // namespace cairn::tier
