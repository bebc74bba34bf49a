// Pieces: one call moves bytes that are scattered in a file and in memory, as in a view of MPI-IO.
#pragma once

#include <cstddef>
#include <cstdint>

#include "file/inode/file_system.h"

namespace cairn::file {

// Bytes in memory and their place in the file.
struct BufferPiece {
  void* buffer;
  size_t size;
  uint64_t offset;
};

// Run read_at() or write_at() for one piece after the other, until one comes short. Return the
// number of bytes moved, or the failure of the first piece.
Result<uint64_t> read_pieces(File& file, const BufferPiece* pieces, size_t count);
Result<uint64_t> write_pieces(File& file, const BufferPiece* pieces, size_t count);

}  // namespace cairn::file
