// Attach: creates pools with a file system, attaches them to this process and detaches them.
#pragma once

#include <memory>
#include <string>

#include "file/inode/file_system.h"
#include "pool/medium/files.h"

namespace cairn::file {

// Creates a pool at `path` with an empty root directory, detached cleanly.
Status create(const std::string& path, const pool::CreateOptions& options, uint32_t root_mode);
struct AttachOptions {
  bool read_only = false;
  bool no_recovery = false;
};
Result<std::unique_ptr<FileSystem>> attach(const std::string& path, const AttachOptions& options);
// Do the same on a pool that is already mapped (the simulator's).
Status create_in(Pool& pool, uint32_t root_mode);
Result<std::unique_ptr<FileSystem>> attach_to(std::unique_ptr<Pool> pool,
                                              const AttachOptions& options);
// Releases the lanes; the last process to detach leaves the pool clean.
void detach(FileSystem& fs);

}  // namespace cairn::file
