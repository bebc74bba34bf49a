// Bulk writing: makes many pieces, of one file or several, durable together. The caller fences once
// for all of them (Pool::fence_bytes).
#pragma once

#include "file/inode/file_system.h"

namespace cairn::file {

// Writes all of the bytes below the end of file, as write_at() does, but does not fence bytes in
// mapped blocks. Filling a hole fences by itself. ENOSPC: some of the bytes may be written. EFBIG:
// they reach beyond the end of file.
Status write_bulk(File& file, const void* bytes, size_t size, uint64_t offset);

}  // namespace cairn::file
