// Pools on a dax device: the differences from files. The device is one pool with one segment; it
// has no directory, no size to choose, and no file that could carry locks (lock_file.h).
#pragma once

#include <string>

#include "format/layout.h"
#include "media/media.h"
#include "pool/core/pool.h"

namespace cairn::pool {

// Returns true for a character device; media::recognise checks whether it is suitable.
bool is_device(const std::string& path);
// Returns the path of the device itself if `path` is a symbolic link to it.
std::string device_path(const std::string& path);

// Both superblocks as they lie on the medium; zeros where they could not be read.
struct FirstBlocks {
  alignas(format::Superblock) uint8_t bytes[2 * format::block_size] = {};
  [[nodiscard]] const format::Superblock& copy(unsigned n) const {
    return reinterpret_cast<const format::Superblock*>(bytes)[n];
  }
  // Returns true if there is or was a pool, sound or not.
  [[nodiscard]] bool are_ours() const {
    return copy(0).magic.load() == format::superblock_magic ||
           copy(1).magic.load() == format::superblock_magic;
  }
};
// Reads the superblocks through a short mapping: read(2) does not work on devices.
FirstBlocks read_first_blocks(int fd, const media::Description& medium);

// Opens the device and reads them.
Result<FirstBlocks> read_device(const std::string& device);
// Returns EEXIST if a pool lies on the device.
Status check_no_pool_on(const std::string& device);
// Wipes the superblocks.
Status wipe_identity(Pool& pool);

}  // namespace cairn::pool
