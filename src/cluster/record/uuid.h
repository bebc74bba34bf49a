// Uuid names pools and the parts of shared files.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "file/inode/file_system.h"

namespace cairn::cluster {

using Uuid = std::array<uint8_t, 16>;

std::string hex_of(const Uuid& uuid);
Uuid random_uuid();
// The uuid of the pool.
Uuid uuid_of(const file::FileSystem& fs);
// The inode number that all nodes show for a shared file. It stays the same for the file's life,
// and no inode of a pool has it.
uint64_t inode_number(const Uuid& uuid);

}  // namespace cairn::cluster
