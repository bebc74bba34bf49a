// Manage: sizes, views, hints, atomicity.
#include <algorithm>
#include <cstring>

#include "cluster/mpi/messages/collectives.h"
#include "cluster/mpi/messages/waiting.h"
#include "mpiio/backend/calls/calls.h"
#include "mpiio/backend/datatype/contents.h"
#include "mpiio/backend/datatype/layout_of.h"
#include "mpiio/backend/file/access.h"
#include "mpiio/backend/file/collective_writes.h"
#include "mpiio/backend/file/hints.h"
#include "mpiio/backend/file/pointers.h"
#include "mpiio/backend/file/shared_file.h"
#include "mpiio/backend/job/errors.h"
#include "mpiio/backend/job/session.h"

namespace mpiio {
namespace {

int size_of(const File& file, int64_t* size) {
  if (file.shared_file != nullptr) return shared_file::size(file, size);
  cairn_stat st = {};
  const int result = host->engine->fstat(file.file, &st);
  if (result < 0) return system_error(result, "size", file.path);
  *size = static_cast<int64_t>(st.size);
  return MPI_SUCCESS;
}

// Runs `act` on rank 0 after all ranks have come; all ranks get its result.
template <typename Do>
int by_one(const File& file, const char* what, const Do& act) {
  int result = file.rank == 0 ? act() : 0;
  cairn::mpi::broadcast(session::ranks(file.comm), &result, sizeof result, 0, "waiting for rank 0");
  return result < 0 ? system_error(result, what, file.path) : MPI_SUCCESS;
}

bool writable(const File& file) { return (file.amode & MPI_MODE_RDONLY) == 0; }

// Checks the size that a file is to get.
int check_size(const File& file, MPI_Offset size) {
  if (size < 0)
    return error(MPI_ERR_ARG,
                 file.path + ": invalid size " + std::to_string(size) + ": give 0 or more");
  if (!writable(file))
    return error(MPI_ERR_READ_ONLY,
                 file.path +
                     ": set size: open for reading only; open it with MPI_MODE_WRONLY or "
                     "MPI_MODE_RDWR");
  return check_random(file);
}

// Returns a handle that the back end owns: the program may free its type, and gets another one from
// get_view.
MPI_Datatype own(MPI_Datatype datatype) {
  if (is_predefined(datatype)) return datatype;
  MPI_Datatype mine = MPI_DATATYPE_NULL;
  PMPI_Type_dup(datatype, &mine);
  return mine;
}

// Returns true if a byte occurs twice, in pieces whose offsets do not decrease.
bool overlaps(const Layout& layout) {
  int64_t end = 0;
  for (const Run& run : layout.runs) {
    if (run.offset < end || (run.count > 1 && run.stride < run.length)) return true;
    end = run.offset + (run.count - 1) * run.stride + run.length;
  }
  return false;
}

// Fills in the members that follow from the types and the representation.
int make_view(const File& file, MPI_Datatype etype, MPI_Datatype filetype, const char* name,
              View* view) {
  const auto refuse = [&](int error_class, const std::string& why) {
    return error(error_class, file.path + ": set view: " + why);
  };
  if (etype == MPI_DATATYPE_NULL || filetype == MPI_DATATYPE_NULL)
    return refuse(MPI_ERR_TYPE, "invalid etype or filetype MPI_DATATYPE_NULL");
  if (!is_committed(etype, file.comm) || !is_committed(filetype, file.comm))
    return refuse(MPI_ERR_TYPE, "the etype or the filetype is not committed; call MPI_Type_commit");
  if (name == nullptr || !find_representation(name, &view->representation))
    return refuse(MPI_ERR_UNSUPPORTED_DATAREP,
                  std::string("unknown data representation '") + (name == nullptr ? "" : name) +
                      "': expected native, internal, external32 or a registered one");
  view->representation_name = name;
  view->etype_size = layout_of(etype)->size;
  if (view->representation == nullptr) {
    view->etype_size_in_file = view->etype_size;
    view->layout = layout_of(filetype);
  } else {
    const SizeInFile size = [&](MPI_Datatype type) { return view->representation->size(type); };
    view->etype_size_in_file = layout_in_file(etype, size).size;
    view->layout = std::make_shared<Layout>(layout_in_file(filetype, size));
  }
  if (!view->layout->known) return refuse(MPI_ERR_TYPE, "unknown constructor in the filetype");
  if (view->etype_size_in_file == 0 || view->layout->size % view->etype_size_in_file != 0)
    return refuse(MPI_ERR_IO, "invalid filetype of " + std::to_string(view->layout->size) +
                                  " bytes: not a multiple of the etype of " +
                                  std::to_string(view->etype_size_in_file) + " bytes");
  int64_t last = 0;
  for (const Run& run : view->layout->runs) {
    if (run.offset < last || (run.count > 1 && run.stride < 0))
      return refuse(MPI_ERR_IO,
                    "invalid filetype: a displacement is negative, or less than the one before");
    last = run.offset + (run.count - 1) * run.stride;
  }
  if (writable(file) && overlaps(*view->layout))
    return refuse(MPI_ERR_IO,
                  "invalid filetype: its pieces overlap, and the file is open for writing");
  view->etype = own(etype);
  view->filetype = own(filetype);
  view->dense = view->layout->is_dense() && view->layout->runs[0].offset == 0;
  return MPI_SUCCESS;
}

}  // namespace

namespace serve {

int File_set_size(File& file, MPI_File, MPI_Offset size) {
  const cairn::mpi::Doing doing("set size", file.path);
  if (const int code = check_size(file, size); code != MPI_SUCCESS) return code;
  if (const int code = check_same(file, {size}, "sizes"); code != MPI_SUCCESS) return code;
  if (file.shared_file != nullptr) return shared_file::set_size(file, size);
  return by_one(file, "set size",
                [&] { return host->engine->ftruncate(file.file, static_cast<uint64_t>(size)); });
}

int File_preallocate(File& file, MPI_File, MPI_Offset size) {
  const cairn::mpi::Doing doing("preallocate", file.path);
  if (const int code = check_size(file, size); code != MPI_SUCCESS) return code;
  if (const int code = check_same(file, {size}, "sizes"); code != MPI_SUCCESS) return code;
  if (file.shared_file != nullptr) return shared_file::preallocate(file, size);
  return by_one(file, "preallocate", [&] {
    return size == 0 ? 0 : host->engine->fallocate(file.file, 0, 0, static_cast<uint64_t>(size));
  });
}

int File_get_size(File& file, MPI_File, MPI_Offset* size) {
  await_collective_writes(file, "size");
  int64_t bytes = 0;
  const int code = size_of(file, &bytes);
  *size = bytes;
  return code;
}

int File_get_group(File& file, MPI_File, MPI_Group* group) {
  return PMPI_Comm_group(file.comm, group);
}

int File_get_amode(File& file, MPI_File, int* amode) {
  *amode = file.amode;
  return MPI_SUCCESS;
}

int File_set_info(File& file, MPI_File, MPI_Info info) {
  take_hints(file, info);
  return file.shared_file == nullptr ? MPI_SUCCESS : shared_file::follow_visibility(file);
}

int File_get_info(File& file, MPI_File, MPI_Info* info) {
  PMPI_Info_create(info);
  for (const auto& [key, value] : file.hints) PMPI_Info_set(*info, key.c_str(), value.c_str());
  // A single host makes every write visible immediately.
  const bool immediate = file.shared_file == nullptr || file.immediate;
  PMPI_Info_set(*info, "cairn_visibility", immediate ? "immediate" : "sync");
  return MPI_SUCCESS;
}

int File_set_view(File& file, MPI_File, MPI_Offset displacement, MPI_Datatype etype,
                  MPI_Datatype filetype, const char* representation, MPI_Info info) {
  const cairn::mpi::Doing doing("set view", file.path);
  const bool here = displacement == MPI_DISPLACEMENT_CURRENT;
  View view;
  int code = MPI_SUCCESS;
  const auto refuse = [&](const std::string& why) {
    return error(MPI_ERR_ARG, file.path + ": set view: invalid displacement " + why);
  };
  if (here && (file.amode & MPI_MODE_SEQUENTIAL) == 0)
    code = refuse("MPI_DISPLACEMENT_CURRENT: the file is not open with MPI_MODE_SEQUENTIAL");
  else if (!here && (file.amode & MPI_MODE_SEQUENTIAL) != 0)
    code = refuse(std::to_string(displacement) +
                  ": MPI_MODE_SEQUENTIAL needs MPI_DISPLACEMENT_CURRENT");
  else if (!here && displacement < 0)
    code = refuse(std::to_string(displacement) + ": give 0 or more");
  if (code == MPI_SUCCESS) code = make_view(file, etype, filetype, representation, &view);
  // One rank suffices if each costs a message.
  if (code == MPI_SUCCESS && (file.shared != nullptr || file.rank == 0))
    code = set_shared_pointer(file, 0, 1);
  // All ranks have come: no rank uses the pointer of the view before any more. Either all ranks
  // change the view, or none does.
  if (code = agree(file.comm, code); code != MPI_SUCCESS) {
    free_types(view);
    return code;
  }
  int64_t pointer = 0;
  if (here) code = read_shared_pointer(file, &pointer);
  view.displacement = here ? file.view.place_of(file.view.stream_of(pointer)) : displacement;
  free_types(file.view);
  file.view = view;
  file.choose_way();
  ++file.views;
  file.pointer = 0;
  take_hints(file, info);
  if (file.shared_file != nullptr && code == MPI_SUCCESS)
    code = shared_file::follow_visibility(file);
  return code;
}

int File_get_view(File& file, MPI_File, MPI_Offset* displacement, MPI_Datatype* etype,
                  MPI_Datatype* filetype, char* representation) {
  *displacement = file.view.displacement;
  *etype = own(file.view.etype);
  *filetype = own(file.view.filetype);
  // The caller's array has MPI_MAX_DATAREP_STRING characters, and no name is longer.
  const std::string& name = file.view.representation_name;
  std::memcpy(representation, name.c_str(), name.size() + 1);
  return MPI_SUCCESS;
}

int File_get_type_extent(File& file, MPI_File, MPI_Datatype datatype, MPI_Count* extent) {
  if (datatype == MPI_DATATYPE_NULL)
    return error(MPI_ERR_TYPE, file.path + ": get type extent: invalid datatype MPI_DATATYPE_NULL");
  const Representation* representation = file.view.representation.get();
  *extent = representation == nullptr ? layout_of(datatype)->extent
                                      : layout_in_file(datatype, [&](MPI_Datatype type) {
                                          return representation->size(type);
                                        }).extent;
  return MPI_SUCCESS;
}

int File_set_atomicity(File& file, MPI_File, int flag) {
  const cairn::mpi::Doing doing("set atomicity", file.path);
  if (const int code = check_same(file, {flag != 0 ? 1 : 0}, "modes of atomicity");
      code != MPI_SUCCESS)
    return code;
  file.atomic = flag != 0;
  file.choose_way();
  return file.shared_file == nullptr ? MPI_SUCCESS : shared_file::follow_visibility(file);
}

int File_get_atomicity(File& file, MPI_File, int* flag) {
  *flag = file.atomic ? 1 : 0;
  return MPI_SUCCESS;
}

int File_sync(File& file, MPI_File) {
  if (file.shared_file != nullptr) return shared_file::sync(file);
  const int result = host->engine->fsync(file.file);
  const int code = result < 0 ? system_error(result, "sync", file.path) : MPI_SUCCESS;
  // A rank that returns from this call sees what the others wrote before their syncs.
  cairn::mpi::barrier(session::ranks(file.comm), "waiting for all ranks");
  return code;
}

}  // namespace serve
}  // namespace mpiio
