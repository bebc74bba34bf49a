#include "file/inode/file_system.h"

#include <unistd.h>

namespace cairn::file {

FileSystem::FileSystem(std::unique_ptr<Pool> attached)
    : owned_pool(std::move(attached)), pool(*owned_pool), uid(geteuid()), gid(getegid()) {}

FileSystem::~FileSystem() {
  pool.client = nullptr;
  delete directory_blocks.load();
  for (const File* spare : spare_files) delete spare;
}

}  // namespace cairn::file
