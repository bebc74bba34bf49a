// Access: moves bytes between a program's buffer and a file, through its view.
#pragma once

#include "mpiio/backend/file/direction.h"
#include "mpiio/backend/file/file.h"

namespace mpiio {

// Moves the bytes of `count` items of `datatype` at `buffer`, from byte `stream` of the view on.
// `*moved` receives the bytes read or written: fewer than requested at the end of file. Returns an
// error class.
int transfer(File& file, Direction direction, int64_t stream, void* buffer, int64_t count,
             MPI_Datatype datatype, int64_t* moved);

// Does what MPI_Type_size does, quickly for the type that was asked for last.
int64_t size_of(MPI_Datatype datatype);

// A predefined type and its size. Threads ask for these most often, and no attribute has to be
// looked up for them.
struct NamedType {
  MPI_Datatype datatype;
  int64_t size;  // 0: none was asked for yet
};
extern constinit thread_local NamedType last_named;

// Performs an access of the most frequent kind, from etype `offset` of the view on, in as few
// instructions as possible: memory waits for a call's own work (src/file/data/fast_path.h). Returns
// false for any other access, or if an obstacle was met: transfer() then performs all of it.
[[gnu::always_inline]] inline bool transfer_fast(const File& file, Direction direction,
                                                 int64_t offset, void* buffer, int64_t count,
                                                 MPI_Datatype datatype, int64_t* moved) {
  const bool may = direction == Direction::read ? file.fast_path.read : file.fast_path.write;
  const NamedType& type = last_named;
  const View& view = file.view;
  int64_t bytes = 0;
  int64_t place = 0;
  if (!may || datatype != type.datatype || type.size == 0 ||
      (view.etype_size != 1 && view.etype_size != type.size) || count <= 0 || offset < 0 ||
      __builtin_mul_overflow(count, type.size, &bytes) ||
      __builtin_mul_overflow(offset, view.etype_size, &place) ||
      __builtin_add_overflow(place, view.displacement, &place))
    return false;
  const auto size = static_cast<size_t>(bytes);
  const auto at = static_cast<uint64_t>(place);
  const ssize_t n = direction == Direction::read
                        ? host->engine->pread(file.file, buffer, size, at)
                        : host->engine->pwrite(file.file, buffer, size, at);
  if (n != bytes) return false;
  *moved = bytes;
  return true;
}

// Sets a status for so many bytes.
void set_status(MPI_Status* status, int64_t bytes);

}  // namespace mpiio
