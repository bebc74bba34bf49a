#include "mpiio/backend/calls/calls.h"

#include <cstdio>
#include <cstring>

#include "cluster/mpi/session/uncovered_ranks.h"
#include "mpiio/backend/base/texts.h"
#include "mpiio/backend/job/added_time.h"
#include "mpiio/backend/job/errors.h"
#include "mpiio/backend/job/raise.h"
#include "mpiio/backend/job/session.h"

namespace mpiio {

namespace {

// The functions that the program calls, one for each kind of name.
namespace entry {

template <int kind>
int Init(int* argc, char*** argv) {
  const bool needed = session::is_needed();
  add_time_of_start();
  if (!needed) return real::Init[kind](argc, argv);
  int provided = MPI_THREAD_SINGLE;
  const int code = real::Init_thread[kind](argc, argv, MPI_THREAD_MULTIPLE, &provided);
  if (code == MPI_SUCCESS) session::begin();
  return code;
}

template <int kind>
int Init_thread(int* argc, char*** argv, int required, int* provided) {
  const bool needed = session::is_needed();
  add_time_of_start();
  if (!needed) return real::Init_thread[kind](argc, argv, required, provided);
  const int code = real::Init_thread[kind](argc, argv, MPI_THREAD_MULTIPLE, provided);
  if (code == MPI_SUCCESS) session::begin();
  return code;
}

template <int kind>
int Finalize() {
  session::finalize();
  const int code = real::Finalize[kind]();
  tell_added_time();
  return code;
}

template <int kind>
int Intercomm_merge(MPI_Comm comm, int high, MPI_Comm* merged) {
  cairn::mpi::may_come();
  return real::Intercomm_merge[kind](comm, high, merged);
}

template <int kind>
int File_open(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* opened) {
  std::string path;
  if (comm == MPI_COMM_NULL || filename == nullptr || !is_covered(filename, &path))
    return real::File_open[kind](comm, filename, amode, info, opened);
  // The handle is set even if the open fails: MPICH's Fortran reads it then.
  *opened = MPI_FILE_NULL;
  return raise(MPI_FILE_NULL, serve::File_open(comm, path, amode, info, opened));
}

template <int kind>
int File_close(MPI_File* closed) {
  File* file = find_file(*closed);
  if (file == nullptr) return real::File_close[kind](closed);
  // The file's handler is released with it.
  return raise(MPI_FILE_NULL, serve::File_close(*file, closed));
}

template <int kind>
int File_delete(const char* filename, MPI_Info info) {
  std::string path;
  if (filename == nullptr || !is_covered(filename, &path))
    return real::File_delete[kind](filename, info);
  return raise(MPI_FILE_NULL, serve::File_delete(path));
}

template <int kind>
int File_create_errhandler(ErrorHandler* handler, MPI_Errhandler* created) {
  return real::File_create_errhandler[kind](noting(handler), created);
}

// Registers the functions only in the back end: no MPI in use converts by them.
template <int kind>
int Register_datarep(const char* name, Conversion<int>* read, Conversion<int>* write,
                     MPI_Datarep_extent_function* extent, void* extra) {
  if (read == nullptr && write == nullptr)
    real::Register_datarep[kind](name, read, write, extent, extra);
  return raise(MPI_FILE_NULL, register_representation(name, read, write, extent, extra));
}

template <int kind>
int Register_datarep_c(const char* name, Conversion<MPI_Count>* read, Conversion<MPI_Count>* write,
                       MPI_Datarep_extent_function* extent, void* extra) {
  if (read == nullptr && write == nullptr)
    real::Register_datarep_c[kind](name, read, write, extent, extra);
  return raise(MPI_FILE_NULL, register_representation(name, read, write, extent, extra));
}

// Returns the text of this thread's last error. Cairn's errors are the standard's classes, which
// every MPI knows.
template <int kind>
int Error_string(int code, char* text, int* length) {
  const char* ours = text_of(code);
  if (ours == nullptr) return real::Error_string[kind](code, text, length);
  *length = std::snprintf(text, MPI_MAX_ERROR_STRING, "%s",
                          fitted(ours, MPI_MAX_ERROR_STRING - 1).c_str());
  return MPI_SUCCESS;
}

#define STRIP(...) __VA_ARGS__
#define PLAIN(name, parameters, arguments)
#define ENTRY(name, own, parameters, arguments)             \
  template <int kind>                                       \
  int name parameters {                                     \
    File* file = find_file(fh);                             \
    if (file == nullptr) return real::name[kind] arguments; \
    return raise(fh, serve::own(*file, STRIP arguments));   \
  }
#define CALL(name, parameters, arguments) ENTRY(name, name, parameters, arguments)
#define SMALL CALL
#define LARGE(name, parameters, arguments) ENTRY(name##_c, name, parameters, arguments)
#include "mpiio/calls.def"
#undef PLAIN
#undef CALL
#undef SMALL
#undef LARGE

}  // namespace entry

struct Known {
  const char* name;
  void* function[kKinds];
  void* const* real;  // null: this MPI has none of this name, so the back end has none
};
#define KNOWN(name)                                                                             \
  {#name,                                                                                       \
   {reinterpret_cast<void*>(&entry::name<kMpi>), reinterpret_cast<void*>(&entry::name<kPmpi>)}, \
   reinterpret_cast<void* const*>(&real::name[0])},
const Known known[] = {
#define PLAIN(name, parameters, arguments) KNOWN(name)
#define CALL PLAIN
#define SMALL PLAIN
#define LARGE(name, parameters, arguments) KNOWN(name##_c)
#include "mpiio/calls.def"
#undef PLAIN
#undef CALL
#undef SMALL
#undef LARGE
};

void* find(const char* name, int kind) {
  for (const Known& one : known)
    if (std::strcmp(one.name, name) == 0)
      return one.real[kind] == nullptr ? nullptr : one.function[kind];
  return nullptr;
}

// Replaces the function of an MPI that has none; the back end's own registration works in any case.
int no_register_datarep_c(const char*, Conversion<MPI_Count>*, Conversion<MPI_Count>*,
                          MPI_Datarep_extent_function*, void*) {
  return MPI_ERR_UNSUPPORTED_OPERATION;
}

template <typename Function>
void look_up(Function (&functions)[kKinds], const std::string& name) {
  functions[kMpi] = reinterpret_cast<Function>(host->real(("MPI_" + name).c_str()));
  functions[kPmpi] = reinterpret_cast<Function>(host->real(("PMPI_" + name).c_str()));
}

}  // namespace
}  // namespace mpiio

extern "C" __attribute__((visibility("default"))) mpiio::BackendFind cairn_mpiio_backend(
    const mpiio::Host* from, const char** why) {
  if (std::strcmp(from->version, CAIRN_VERSION) != 0 ||
      from->engine->size != sizeof(engine::ApiTable) ||
      from->paths->size != sizeof(engine::Paths)) {
    *why = "its version differs from that of libcairn_posix.so; install both from one build";
    return nullptr;
  }
  mpiio::host = from;
#define PLAIN(name, parameters, arguments) mpiio::look_up(mpiio::real::name, #name);
#define CALL PLAIN
#define SMALL PLAIN
#define LARGE(name, parameters, arguments) mpiio::look_up(mpiio::real::name##_c, #name "_c");
#include "mpiio/calls.def"
  for (auto& function : mpiio::real::Register_datarep_c)
    if (function == nullptr) function = mpiio::no_register_datarep_c;
  return mpiio::find;
}
