// Bulk writing: many pieces, of one file or several, that become durable together. The caller
// fences once for all of them (Pool::fence_bytes).
#pragma once

#include "file/inode/file_system.h"

namespace cairn::file {

// Writes all of the bytes below the end of file, as write_at() does, but what lies in mapped blocks
// is not fenced. Holes are filled with fences of their own. ENOSPC: some of the bytes may be there.
// EFBIG: they reach beyond the end of file.
Status write_bulk(File& file, const void* bytes, size_t size, uint64_t offset);

}  // namespace cairn::file
