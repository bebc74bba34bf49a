// Data: reads and writes, with the three ways to give a position, and the three to complete.
#include <cstdint>

#include "cluster/mpi/messages/collectives.h"
#include "cluster/mpi/messages/waiting.h"
#include "mpiio/backend/calls/calls.h"
#include "mpiio/backend/datatype/layout_of.h"
#include "mpiio/backend/file/access.h"
#include "mpiio/backend/file/collective_writes.h"
#include "mpiio/backend/file/pointers.h"
#include "mpiio/backend/file/shared_file.h"
#include "mpiio/backend/job/errors.h"
#include "mpiio/backend/job/session.h"

namespace mpiio {
namespace {

struct Data {
  Direction direction;
  void* buffer;
  MPI_Count count;
  MPI_Datatype datatype;
};

Data data(Direction direction, const void* buffer, MPI_Count count, MPI_Datatype datatype) {
  return {direction, const_cast<void*>(buffer), count, datatype};
}

int refuse(const File& file, int error_class, const std::string& why) {
  return error(error_class, file.path + ": " + why);
}

const char* name_of(Direction direction) { return direction == Direction::read ? "read" : "write"; }

// Refuses an access: `why` follows "read: " or "write: ".
int refuse_access(const File& file, const Data& data, int error_class, const std::string& why) {
  return refuse(file, error_class, std::string(name_of(data.direction)) + ": " + why);
}

// Checks that the access is allowed, and counts its etypes.
int check(const File& file, const Data& data, int64_t* etypes) {
  if (data.count < 0)
    return refuse_access(file, data, MPI_ERR_COUNT,
                         "invalid count " + std::to_string(data.count) + ": give 0 or more");
  if (data.datatype == MPI_DATATYPE_NULL)
    return refuse_access(file, data, MPI_ERR_TYPE, "invalid datatype MPI_DATATYPE_NULL");
  if (data.direction == Direction::write && (file.amode & MPI_MODE_RDONLY) != 0)
    return refuse(file, MPI_ERR_READ_ONLY,
                  "write: open for reading only; open it with MPI_MODE_WRONLY or MPI_MODE_RDWR");
  if (data.direction == Direction::read && (file.amode & MPI_MODE_WRONLY) != 0)
    return refuse(file, MPI_ERR_ACCESS,
                  "read: open for writing only; open it with MPI_MODE_RDONLY or MPI_MODE_RDWR");
  if (last_named.datatype != data.datatype && !is_committed(data.datatype, file.comm))
    return refuse_access(file, data, MPI_ERR_TYPE,
                         "the datatype is not committed; call MPI_Type_commit");
  *etypes = size_of(data.datatype) * data.count;
  if (file.view.etype_size == 1) [[likely]]
    return MPI_SUCCESS;
  if (*etypes % file.view.etype_size != 0)
    return refuse_access(file, data, MPI_ERR_IO,
                         "invalid size " + std::to_string(*etypes) +
                             ": not a multiple of the view's etype of " +
                             std::to_string(file.view.etype_size) + " bytes");
  *etypes /= file.view.etype_size;
  return MPI_SUCCESS;
}

int run(File& file, const Data& data, int64_t etype, int64_t* moved) {
  return transfer(file, data.direction, file.view.stream_of(etype), data.buffer, data.count,
                  data.datatype, moved);
}

int at_offset(File& file, const Data& data, MPI_Offset offset, int64_t* moved) {
  int64_t etypes = 0;
  int code = check(file, data, &etypes);
  if (code == MPI_SUCCESS) code = check_random(file);
  if (code == MPI_SUCCESS && offset < 0)
    code = refuse_access(file, data, MPI_ERR_ARG,
                         "invalid offset " + std::to_string(offset) + ": give 0 or more");
  int64_t bytes = 0;
  if (code == MPI_SUCCESS && __builtin_mul_overflow(offset, file.view.etype_size_in_file, &bytes))
    code = refuse_access(file, data, MPI_ERR_ARG,
                         "invalid offset " + std::to_string(offset) + ": beyond the largest file");
  return code == MPI_SUCCESS ? run(file, data, offset, moved) : code;
}

// Accesses at the individual pointer, which advances by the requested amount.
int at_pointer(File& file, const Data& data, int64_t* moved) {
  int64_t etypes = 0;
  int code = check(file, data, &etypes);
  if (code == MPI_SUCCESS) code = check_random(file);
  if (code != MPI_SUCCESS) return code;
  return run(file, data, file.pointer.fetch_add(etypes), moved);
}

int at_shared_pointer(File& file, const Data& data, int64_t* moved) {
  int64_t etypes = 0;
  if (const int code = check(file, data, &etypes); code != MPI_SUCCESS) return code;
  int64_t before = 0;
  if (const int code = add_to_shared_pointer(file, etypes, &before); code != MPI_SUCCESS)
    return code;
  return run(file, data, before, moved);
}

// Accesses in the order of ranks from the shared pointer on. Every rank takes part, also one whose
// access is refused.
int move_in_order(File& file, const Data& data, int64_t* moved) {
  int64_t etypes = 0;
  const int code = check(file, data, &etypes);
  int64_t through = 0;  // up to and including this rank
  const cairn::mpi::Doing doing("access in order of ranks to", file.path);
  cairn::mpi::sum_through(session::ranks(file.comm), &etypes, &through,
                          "waiting for the ranks before this one");
  struct {
    int64_t base;
    int64_t code;
  } moving = {0, MPI_SUCCESS};
  const int last = file.ranks - 1;
  if (file.rank == last) moving.code = add_to_shared_pointer(file, through, &moving.base);
  cairn::mpi::broadcast(session::ranks(file.comm), &moving, sizeof moving, last,
                        "waiting for the last rank");
  if (code != MPI_SUCCESS) return code;
  if (moving.code != MPI_SUCCESS)
    return refuse_access(file, data, static_cast<int>(moving.code),
                         "the last rank could not move the shared pointer");
  return run(file, data, moving.base + through - etypes, moved);
}

// Accesses in order. An ordered write between hosts commits, which the standard does not ask for:
// all ranks meet in it anyway, and programs that write in order read what the others wrote after a
// barrier, as they may on a common file system.
int in_order(File& file, const Data& data, int64_t* moved) {
  const int code = move_in_order(file, data, moved);
  if (data.direction == Direction::read || file.shared_file == nullptr || file.immediate)
    return code;
  const int committed = shared_file::sync(file);
  return code != MPI_SUCCESS ? code : committed;
}

// ---- requests: done when they are made ----

int tell(void* bytes, MPI_Status* status) {
  set_status(status, static_cast<int64_t>(reinterpret_cast<intptr_t>(bytes)));
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
int forget(void*) { return MPI_SUCCESS; }
int cancel(void*, int) { return MPI_SUCCESS; }

int finished(int code, int64_t moved, MPI_Request* request) {
  if (code != MPI_SUCCESS) return code;
  PMPI_Grequest_start(tell, forget, cancel, reinterpret_cast<void*>(static_cast<intptr_t>(moved)),
                      request);
  return PMPI_Grequest_complete(*request);
}

// ---- split collective calls ----

int begun(File& file, File::Split split) {
  if (file.split != File::Split::none)
    return refuse(file, MPI_ERR_OTHER,
                  "begin: another split collective call has begun; call its _end first");
  file.split = split;
  file.split_bytes = 0;
  return MPI_SUCCESS;
}

int ended(File& file, File::Split split, MPI_Status* status) {
  if (file.split != split)
    return refuse(file, MPI_ERR_OTHER,
                  "end: no split collective call of this kind has begun; call its _begin first");
  file.split = File::Split::none;
  set_status(status, file.split_bytes);
  return MPI_SUCCESS;
}

template <typename Do>
int blocking(MPI_Status* status, const Do& act) {
  int64_t moved = 0;
  const int code = act(&moved);
  set_status(status, moved);
  return code;
}

template <typename Do>
int nonblocking(MPI_Request* request, const Do& act) {
  int64_t moved = 0;
  const int code = act(&moved);
  return finished(code, moved, request);
}

template <Direction direction, typename Do>
int begin(File& file, File::Split split, const Do& act) {
  if (const int code = begun(file, split); code != MPI_SUCCESS) return code;
  const int code = collectively<direction>(file, [&] { return act(&file.split_bytes); });
  if (code != MPI_SUCCESS) file.split = File::Split::none;
  return code;
}

}  // namespace

// On one node a collective call on local bytes needs no other rank (the standard does not make it a
// barrier), so it moves the same bytes as the independent one. collective_writes.h counts them.
namespace serve {

#define DATA_CALLS(call, Buffer)                                                                 \
  int File_##call##_at(File& file, MPI_File, MPI_Offset offset, Buffer buffer, MPI_Count count,  \
                       MPI_Datatype datatype, MPI_Status* status) {                              \
    int64_t bytes = 0;                                                                           \
    if (transfer_fast(file, Direction::call, offset, const_cast<void*>(buffer), count, datatype, \
                      &bytes)) [[likely]] {                                                      \
      set_status(status, bytes);                                                                 \
      return MPI_SUCCESS;                                                                        \
    }                                                                                            \
    return blocking(status, [&](int64_t* moved) {                                                \
      return at_offset(file, data(Direction::call, buffer, count, datatype), offset, moved);     \
    });                                                                                          \
  }                                                                                              \
  int File_i##call##_at(File& file, MPI_File, MPI_Offset offset, Buffer buffer, MPI_Count count, \
                        MPI_Datatype datatype, MPI_Request* request) {                           \
    return nonblocking(request, [&](int64_t* moved) {                                            \
      return at_offset(file, data(Direction::call, buffer, count, datatype), offset, moved);     \
    });                                                                                          \
  }                                                                                              \
  int File_##call##_at_all(File& file, MPI_File handle, MPI_Offset offset, Buffer buffer,        \
                           MPI_Count count, MPI_Datatype datatype, MPI_Status* status) {         \
    return collectively<Direction::call>(file, [&] {                                             \
      return File_##call##_at(file, handle, offset, buffer, count, datatype, status);            \
    });                                                                                          \
  }                                                                                              \
  int File_i##call##_at_all(File& file, MPI_File handle, MPI_Offset offset, Buffer buffer,       \
                            MPI_Count count, MPI_Datatype datatype, MPI_Request* request) {      \
    return File_i##call##_at(file, handle, offset, buffer, count, datatype, request);            \
  }                                                                                              \
  int File_##call##_at_all_begin(File& file, MPI_File, MPI_Offset offset, Buffer buffer,         \
                                 MPI_Count count, MPI_Datatype datatype) {                       \
    return begin<Direction::call>(file, File::Split::call##_at, [&](int64_t* moved) {            \
      return at_offset(file, data(Direction::call, buffer, count, datatype), offset, moved);     \
    });                                                                                          \
  }                                                                                              \
  int File_##call##_at_all_end(File& file, MPI_File, Buffer, MPI_Status* status) {               \
    return ended(file, File::Split::call##_at, status);                                          \
  }                                                                                              \
  int File_##call(File& file, MPI_File, Buffer buffer, MPI_Count count, MPI_Datatype datatype,   \
                  MPI_Status* status) {                                                          \
    return blocking(status, [&](int64_t* moved) {                                                \
      return at_pointer(file, data(Direction::call, buffer, count, datatype), moved);            \
    });                                                                                          \
  }                                                                                              \
  int File_i##call(File& file, MPI_File, Buffer buffer, MPI_Count count, MPI_Datatype datatype,  \
                   MPI_Request* request) {                                                       \
    return nonblocking(request, [&](int64_t* moved) {                                            \
      return at_pointer(file, data(Direction::call, buffer, count, datatype), moved);            \
    });                                                                                          \
  }                                                                                              \
  int File_##call##_all(File& file, MPI_File handle, Buffer buffer, MPI_Count count,             \
                        MPI_Datatype datatype, MPI_Status* status) {                             \
    return collectively<Direction::call>(                                                        \
        file, [&] { return File_##call(file, handle, buffer, count, datatype, status); });       \
  }                                                                                              \
  int File_i##call##_all(File& file, MPI_File handle, Buffer buffer, MPI_Count count,            \
                         MPI_Datatype datatype, MPI_Request* request) {                          \
    return File_i##call(file, handle, buffer, count, datatype, request);                         \
  }                                                                                              \
  int File_##call##_all_begin(File& file, MPI_File, Buffer buffer, MPI_Count count,              \
                              MPI_Datatype datatype) {                                           \
    return begin<Direction::call>(file, File::Split::call, [&](int64_t* moved) {                 \
      return at_pointer(file, data(Direction::call, buffer, count, datatype), moved);            \
    });                                                                                          \
  }                                                                                              \
  int File_##call##_all_end(File& file, MPI_File, Buffer, MPI_Status* status) {                  \
    return ended(file, File::Split::call, status);                                               \
  }                                                                                              \
  int File_##call##_shared(File& file, MPI_File, Buffer buffer, MPI_Count count,                 \
                           MPI_Datatype datatype, MPI_Status* status) {                          \
    return blocking(status, [&](int64_t* moved) {                                                \
      return at_shared_pointer(file, data(Direction::call, buffer, count, datatype), moved);     \
    });                                                                                          \
  }                                                                                              \
  int File_i##call##_shared(File& file, MPI_File, Buffer buffer, MPI_Count count,                \
                            MPI_Datatype datatype, MPI_Request* request) {                       \
    return nonblocking(request, [&](int64_t* moved) {                                            \
      return at_shared_pointer(file, data(Direction::call, buffer, count, datatype), moved);     \
    });                                                                                          \
  }                                                                                              \
  int File_##call##_ordered(File& file, MPI_File, Buffer buffer, MPI_Count count,                \
                            MPI_Datatype datatype, MPI_Status* status) {                         \
    return collectively<Direction::call>(file, [&] {                                             \
      return blocking(status, [&](int64_t* moved) {                                              \
        return in_order(file, data(Direction::call, buffer, count, datatype), moved);            \
      });                                                                                        \
    });                                                                                          \
  }                                                                                              \
  int File_##call##_ordered_begin(File& file, MPI_File, Buffer buffer, MPI_Count count,          \
                                  MPI_Datatype datatype) {                                       \
    return begin<Direction::call>(file, File::Split::call##_ordered, [&](int64_t* moved) {       \
      return in_order(file, data(Direction::call, buffer, count, datatype), moved);              \
    });                                                                                          \
  }                                                                                              \
  int File_##call##_ordered_end(File& file, MPI_File, Buffer, MPI_Status* status) {              \
    return ended(file, File::Split::call##_ordered, status);                                     \
  }
DATA_CALLS(read, void*)
DATA_CALLS(write, const void*)
#undef DATA_CALLS

}  // namespace serve
}  // namespace mpiio
