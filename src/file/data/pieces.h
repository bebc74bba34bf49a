// Pieces: bytes that lie scattered in a file, and in memory, moved by one call, as a view of MPI-IO
// has them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "file/inode/file_system.h"

namespace cairn::file {

// Bytes in memory and where in the file they belong.
struct BufferPiece {
  void* buffer;
  size_t size;
  uint64_t offset;
};

// As read_at and write_at for one piece after the other, until one comes short: how many bytes were
// moved, or the failure of the first piece.
Result<uint64_t> read_pieces(File& file, const BufferPiece* pieces, size_t count);
Result<uint64_t> write_pieces(File& file, const BufferPiece* pieces, size_t count);

}  // namespace cairn::file
