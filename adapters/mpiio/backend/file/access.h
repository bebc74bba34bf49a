// Moving bytes between a program's buffer and a file, through its view.
#pragma once

#include "mpiio/backend/file/direction.h"
#include "mpiio/backend/file/file.h"

namespace mpiio {

// The bytes of `count` items of `datatype` at `buffer`, from byte `stream` of the view on. `*moved`
// are those that were read or written: fewer than asked for at the end of file. A class of errors.
int transfer(File& file, Direction direction, int64_t stream, void* buffer, int64_t count,
             MPI_Datatype datatype, int64_t* moved);

// As MPI_Type_size says it, quickly for the type that was asked for last.
int64_t size_of(MPI_Datatype datatype);

// A predefined type and its size. Threads ask for these most often, and for them no attribute has
// to be looked up.
struct NamedType {
  MPI_Datatype datatype;
  int64_t size;  // 0: none was asked for yet
};
extern constinit thread_local NamedType last_named;

// An access of the most frequent kind, from etype `offset` of the view on, in as few instructions
// as may be: what a call does of its own, memory waits for (src/file/data/fast_path.h). False: the
// access is another one, or something was in its way, and transfer() is to do all of it.
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

// What a status says of so many bytes.
void set_status(MPI_Status* status, int64_t bytes);

}  // namespace mpiio
