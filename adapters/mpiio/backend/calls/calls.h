// The calls as they come from the program (calls.def): each serves a Cairn file or calls the MPI.
#pragma once

#include "mpiio/backend/base/handlers.h"
#include "mpiio/backend/base/real.h"
#include "mpiio/backend/file/file.h"

namespace mpiio {

// Returns true if the name leads to a covered file; `*path` then opens a descriptor of it.
bool is_covered(const char* filename, std::string* path);

// The calls on Cairn's files. Each returns an error class; the caller passes it to the file's error
// handler. Counts of any size.
namespace serve {
int File_open(MPI_Comm comm, const std::string& path, int amode, MPI_Info info, MPI_File* opened);
int File_close(File& file, MPI_File* closed);
int File_delete(const std::string& path);
int File_set_size(File& file, MPI_File, MPI_Offset size);
int File_preallocate(File& file, MPI_File, MPI_Offset size);
int File_get_size(File& file, MPI_File, MPI_Offset* size);
int File_get_group(File& file, MPI_File, MPI_Group* group);
int File_get_amode(File& file, MPI_File, int* amode);
int File_set_info(File& file, MPI_File, MPI_Info info);
int File_get_info(File& file, MPI_File, MPI_Info* info);
int File_set_view(File& file, MPI_File, MPI_Offset displacement, MPI_Datatype etype,
                  MPI_Datatype filetype, const char* representation, MPI_Info info);
int File_get_view(File& file, MPI_File, MPI_Offset* displacement, MPI_Datatype* etype,
                  MPI_Datatype* filetype, char* representation);
int File_seek(File& file, MPI_File, MPI_Offset offset, int whence);
int File_get_position(File& file, MPI_File, MPI_Offset* offset);
int File_get_byte_offset(File& file, MPI_File, MPI_Offset offset, MPI_Offset* displacement);
int File_seek_shared(File& file, MPI_File, MPI_Offset offset, int whence);
int File_get_position_shared(File& file, MPI_File, MPI_Offset* offset);
int type_extent(const File& file, MPI_Datatype datatype, int64_t* extent);
template <typename Extent>  // MPI_Aint or MPI_Count, which may be the same
int File_get_type_extent(File& file, MPI_File, MPI_Datatype datatype, Extent* extent) {
  int64_t bytes = 0;
  const int code = type_extent(file, datatype, &bytes);
  *extent = static_cast<Extent>(bytes);
  return code;
}
int File_set_atomicity(File& file, MPI_File, int flag);
int File_get_atomicity(File& file, MPI_File, int* flag);
int File_sync(File& file, MPI_File);

#define DATA_CALLS(call, Buffer)                                                                   \
  int File_##call##_at(File&, MPI_File, MPI_Offset, Buffer, MPI_Count, MPI_Datatype, MPI_Status*); \
  int File_i##call##_at(File&, MPI_File, MPI_Offset, Buffer, MPI_Count, MPI_Datatype,              \
                        MPI_Request*);                                                             \
  int File_##call##_at_all(File&, MPI_File, MPI_Offset, Buffer, MPI_Count, MPI_Datatype,           \
                           MPI_Status*);                                                           \
  int File_i##call##_at_all(File&, MPI_File, MPI_Offset, Buffer, MPI_Count, MPI_Datatype,          \
                            MPI_Request*);                                                         \
  int File_##call##_at_all_begin(File&, MPI_File, MPI_Offset, Buffer, MPI_Count, MPI_Datatype);    \
  int File_##call##_at_all_end(File&, MPI_File, Buffer, MPI_Status*);                              \
  int File_##call(File&, MPI_File, Buffer, MPI_Count, MPI_Datatype, MPI_Status*);                  \
  int File_i##call(File&, MPI_File, Buffer, MPI_Count, MPI_Datatype, MPI_Request*);                \
  int File_##call##_all(File&, MPI_File, Buffer, MPI_Count, MPI_Datatype, MPI_Status*);            \
  int File_i##call##_all(File&, MPI_File, Buffer, MPI_Count, MPI_Datatype, MPI_Request*);          \
  int File_##call##_all_begin(File&, MPI_File, Buffer, MPI_Count, MPI_Datatype);                   \
  int File_##call##_all_end(File&, MPI_File, Buffer, MPI_Status*);                                 \
  int File_##call##_shared(File&, MPI_File, Buffer, MPI_Count, MPI_Datatype, MPI_Status*);         \
  int File_i##call##_shared(File&, MPI_File, Buffer, MPI_Count, MPI_Datatype, MPI_Request*);       \
  int File_##call##_ordered(File&, MPI_File, Buffer, MPI_Count, MPI_Datatype, MPI_Status*);        \
  int File_##call##_ordered_begin(File&, MPI_File, Buffer, MPI_Count, MPI_Datatype);               \
  int File_##call##_ordered_end(File&, MPI_File, Buffer, MPI_Status*);
DATA_CALLS(read, void*)
DATA_CALLS(write, const void*)
#undef DATA_CALLS
}  // namespace serve

}  // namespace mpiio
