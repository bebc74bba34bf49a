// Positions: a file's individual and shared pointers.
#include "cluster/mpi/messages/collectives.h"
#include "cluster/mpi/messages/waiting.h"
#include "mpiio/backend/calls/calls.h"
#include "mpiio/backend/file/pointers.h"
#include "mpiio/backend/job/errors.h"
#include "mpiio/backend/job/session.h"

namespace mpiio {
namespace {

int move_to(const File& file, int64_t base, MPI_Offset offset, int64_t* target) {
  if (base + offset < 0)
    return error(MPI_ERR_ARG, file.path + ": seek: invalid offset " + std::to_string(offset) +
                                  ": before the beginning of the view");
  *target = base + offset;
  return MPI_SUCCESS;
}

// Returns the end of file, in etypes of the view.
int end_of(File& file, int64_t* etypes) {
  MPI_Offset size = 0;
  if (const int code = serve::File_get_size(file, MPI_FILE_NULL, &size); code != MPI_SUCCESS)
    return code;
  *etypes = (file.view.stream_below(size) + file.view.etype_size_in_file - 1) /
            file.view.etype_size_in_file;
  return MPI_SUCCESS;
}

int seek(File& file, int64_t current, MPI_Offset offset, int whence, int64_t* target) {
  int64_t base = 0;
  if (whence == MPI_SEEK_CUR) {
    base = current;
  } else if (whence == MPI_SEEK_END) {
    if (const int code = end_of(file, &base); code != MPI_SUCCESS) return code;
  } else if (whence != MPI_SEEK_SET) {
    return error(MPI_ERR_ARG, file.path + ": seek: unknown whence " + std::to_string(whence) +
                                  ": expected MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END");
  }
  return move_to(file, base, offset, target);
}

}  // namespace

namespace serve {

int File_seek(File& file, MPI_File, MPI_Offset offset, int whence) {
  if (const int code = check_random(file); code != MPI_SUCCESS) return code;
  int64_t target = 0;
  const int code = seek(file, file.pointer, offset, whence, &target);
  if (code == MPI_SUCCESS) file.pointer = target;
  return code;
}

int File_get_position(File& file, MPI_File, MPI_Offset* offset) {
  if (const int code = check_random(file); code != MPI_SUCCESS) return code;
  *offset = file.pointer;
  return MPI_SUCCESS;
}

int File_get_byte_offset(File& file, MPI_File, MPI_Offset offset, MPI_Offset* displacement) {
  if (offset < 0)
    return error(MPI_ERR_ARG, file.path + ": get byte offset: invalid offset " +
                                  std::to_string(offset) + ": give 0 or more");
  *displacement = file.view.place_of(file.view.stream_of(offset));
  return MPI_SUCCESS;
}

int File_seek_shared(File& file, MPI_File, MPI_Offset offset, int whence) {
  if (const int refused = check_random(file); refused != MPI_SUCCESS) return refused;
  const cairn::mpi::Doing doing("seek the shared pointer of", file.path);
  int code = check_same(file, {offset, whence}, "places to seek");
  if (code != MPI_SUCCESS) return code;
  if (file.rank == 0) {
    int64_t pointer = 0;
    int64_t target = 0;
    code = read_shared_pointer(file, &pointer);
    if (code == MPI_SUCCESS) code = seek(file, pointer, offset, whence, &target);
    if (code == MPI_SUCCESS) code = set_shared_pointer(file, target);
  }
  cairn::mpi::broadcast(session::ranks(file.comm), &code, sizeof code, 0, "waiting for rank 0");
  return file.rank == 0 || code == MPI_SUCCESS
             ? code
             : error(code, file.path + ": seek the shared pointer: failed on rank 0");
}

int File_get_position_shared(File& file, MPI_File, MPI_Offset* offset) {
  if (const int refused = check_random(file); refused != MPI_SUCCESS) return refused;
  int64_t pointer = 0;
  const int code = read_shared_pointer(file, &pointer);
  *offset = pointer;
  return code;
}

}  // namespace serve
}  // namespace mpiio
