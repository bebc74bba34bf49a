// Open: opens, closes and deletes files.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "cairn/adapter/printable.h"
#include "cluster/mpi/messages/collectives.h"
#include "cluster/mpi/messages/waiting.h"
#include "cluster/mpi/ranks/launcher.h"
#include "cluster/mpi/ranks/shared_memory.h"
#include "cluster/mpi/session/session.h"
#include "cluster/mpi/session/uncovered_ranks.h"
#include "mpiio/backend/calls/calls.h"
#include "mpiio/backend/calls/romio.h"
#include "mpiio/backend/file/hints.h"
#include "mpiio/backend/file/pointers.h"
#include "mpiio/backend/file/shared_file.h"
#include "mpiio/backend/job/errors.h"
#include "mpiio/backend/job/session.h"

namespace mpiio {
namespace {

constexpr const char* prefix = "cairn:";

int check_amode(const std::string& path, int amode) {
  const int access = amode & (MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR);
  const auto refuse = [&](const char* why) {
    return error(MPI_ERR_AMODE,
                 path + ": open: invalid amode " + std::to_string(amode) + ": " + why);
  };
  if (access != MPI_MODE_RDONLY && access != MPI_MODE_WRONLY && access != MPI_MODE_RDWR)
    return refuse("give one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and MPI_MODE_RDWR");
  if (access == MPI_MODE_RDONLY && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)) != 0)
    return refuse("MPI_MODE_RDONLY excludes MPI_MODE_CREATE and MPI_MODE_EXCL");
  if (access == MPI_MODE_RDWR && (amode & MPI_MODE_SEQUENTIAL) != 0)
    return refuse("MPI_MODE_SEQUENTIAL excludes MPI_MODE_RDWR");
  return MPI_SUCCESS;
}

int flags_of(int amode, bool creator) {
  int flags = (amode & MPI_MODE_RDONLY) != 0   ? O_RDONLY
              : (amode & MPI_MODE_WRONLY) != 0 ? O_WRONLY
                                               : O_RDWR;
  if (creator && (amode & MPI_MODE_CREATE) != 0) flags |= O_CREAT;
  if (creator && (amode & MPI_MODE_EXCL) != 0) flags |= O_EXCL;
  return flags | O_CLOEXEC;
}

int not_covered(const std::string& path, const char* what) {
  return error(MPI_ERR_BAD_FILE,
               path + ": " + what + ": not below the covered directory; remove the prefix cairn:");
}

// Opens a file through the POSIX adapter, which knows the covered directories, and borrows the open
// file.
int open_here(File& file, int flags, mode_t mode) {
  if (!host->paths->covers(file.path.c_str())) return not_covered(file.path, "open");
  const int fd = ::open(file.path.c_str(), flags, mode);
  if (fd < 0) return system_error(errno, "open", file.path);
  file.file = host->paths->file_of(fd);
  struct stat st;
  const bool is_directory = file.file == nullptr && ::fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
  ::close(fd);
  if (is_directory) return system_error(EISDIR, "open", file.path);
  if (file.file == nullptr)
    return error(MPI_ERR_FILE, file.path + ": open: not a file of the pool");
  return MPI_SUCCESS;
}

// ---- the memory that the ranks share ----

// Maps the shared memory; `name` is that of the file whose descriptor is `fd`. MPI_File_open
// returns on no rank before all ranks have been here, so after that no end of the job leaves the
// file behind.
bool map_shared(File& file, int fd, const cairn::mpi::SharedMemoryName& name) {
  void* at =
      ::mmap(nullptr, Shared::size_for(file.ranks), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return false;
  file.shared = static_cast<Shared*>(at);
  if (file.shared->mapped.fetch_add(1) + 1 == file.ranks) cairn::mpi::remove_shared_memory(name);
  if (file.ranks == 1) return true;
  file.own_share = file.shared->ranks() + file.rank;
  file.own_share->process = cairn::mpi::own_process(file.rank);
  return true;
}

// Initialises the shared memory before the ranks map it. Returns an errno value.
int prepare_shared(int fd) {
  void* at = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return errno;
  const int error = static_cast<Shared*>(at)->atomic_turn.prepare();
  ::munmap(at, sizeof(Shared));
  return error;
}

// Makes the shared memory and allocates it, so that no store kills a rank for want of memory.
int make_shared(cairn::mpi::SharedMemoryName* name, int ranks) {
  const int fd = cairn::mpi::make_shared_memory(name);
  if (fd < 0) return fd;
  int failed = ::posix_fallocate(fd, 0, static_cast<off_t>(Shared::size_for(ranks)));
  if (failed == 0) failed = prepare_shared(fd);
  if (failed == 0) return fd;
  cairn::mpi::remove_shared_memory(*name);
  ::close(fd);
  *name = {};
  errno = failed;
  return -1;
}

// ---- closing ----

void release(File* file) {
  if (file->shared_file != nullptr) shared_file::close(*file);
  if (file->shared != nullptr) ::munmap(file->shared, Shared::size_for(file->ranks));
  if (file->file != nullptr) host->engine->close(file->file);
  if (file->comm != MPI_COMM_NULL) PMPI_Comm_free(&file->comm);
  free_types(file->view);
  delete file;
}

constexpr const char* has_later_processes =
    "some processes of the communicator were not in MPI_COMM_WORLD at MPI_Init; open it without "
    "them";
constexpr const char* has_uncovered_hosts =
    "`cairn run` covers only the launcher's host, but the job has others; start it as mpirun ... "
    "cairn run ... program";

// Refuses the file, with a message even if the program checks no codes: ranks that do not learn of
// the refusal wait.
int refuse_uncovered_ranks(const std::string& path, const char* why, bool tell) {
  if (tell)
    cairn_show_line(stderr,
                    "cairn: MPI-IO: %s: open: %s. Ranks that do not run under `cairn run` wait "
                    "without end",
                    path.c_str(), why);
  return error(MPI_ERR_UNSUPPORTED_OPERATION, path + ": open: " + why);
}

bool is_alone(MPI_Comm comm) {
  int ranks = 0;
  PMPI_Comm_size(comm, &ranks);
  return ranks == 1;
}

// Checks that the modes are valid and the same on all ranks, and that all processes can be served
// alike.
int check_together(const File& file, session::Reach* reach) {
  std::string why;
  *reach = session::reach(&why);
  const int code = check_amode(file.path, file.amode);
  int64_t extremes[] = {file.amode, -file.amode, code, session::number(), -session::number()};
  cairn::mpi::compare(session::ranks(file.comm), extremes, std::size(extremes),
                      "comparing the modes of all ranks");
  if (extremes[0] != -extremes[1])
    return error(MPI_ERR_NOT_SAME,
                 file.path + ": open: the ranks give different amodes; give the same on all");
  if (code != MPI_SUCCESS) return code;
  if (extremes[3] != -extremes[4]) why = has_later_processes;
  return why.empty() ? MPI_SUCCESS
                     : error(MPI_ERR_UNSUPPORTED_OPERATION, file.path + ": open: " + why);
}

// The message of rank 0 to the others.
struct Opened {
  int code;
  cairn::mpi::SharedMemoryName shared;
};

// Opens the file on the first rank. Only one rank creates it, so that MPI_MODE_EXCL works.
Opened open_first(File& file, int* shared) {
  Opened opened = {shared_file::make_plain(file.path), {}};
  if (opened.code == MPI_SUCCESS)
    opened.code = open_here(file, flags_of(file.amode, true), file_mode(file));
  if (opened.code != MPI_SUCCESS) return opened;
  *shared = make_shared(&opened.shared, file.ranks);
  if (*shared < 0) opened.code = system_error(errno, "share the file pointers", file.path);
  return opened;
}

int open_other(File& file, const Opened& opened, int* shared) {
  if (opened.code != MPI_SUCCESS) return error(opened.code, file.path + ": open: failed on rank 0");
  *shared = cairn::mpi::open_shared_memory(opened.shared, O_RDWR, Shared::size_for(file.ranks));
  if (*shared < 0)
    return error(MPI_ERR_UNSUPPORTED_OPERATION,
                 file.path +
                     ": open: processes on several hosts were not together in MPI_COMM_WORLD at "
                     "MPI_Init; open the file on one host");
  return open_here(file, flags_of(file.amode, false), 0);
}

int open_on_nodes(File& file) {
  return shared_file::open(file, flags_of(file.amode, true), file_mode(file));
}

// Opens a file of this node's pool. `*name` receives that of the memory which its ranks share.
int open_on_node(File& file, cairn::mpi::SharedMemoryName* name) {
  int shared = -1;
  Opened opened = {};
  if (file.rank == 0) opened = open_first(file, &shared);
  cairn::mpi::broadcast(session::ranks(file.comm), &opened, sizeof opened, 0,
                        "waiting for what rank 0 has opened");
  int code = file.rank == 0 ? opened.code : open_other(file, opened, &shared);
  if (code == MPI_SUCCESS && !map_shared(file, shared, opened.shared))
    code = system_error(errno, "share the file pointers", file.path);
  if (shared >= 0) ::close(shared);
  *name = opened.shared;
  return code;
}

int go_to_end(File& file) {
  MPI_Offset size = 0;
  int code = serve::File_get_size(file, MPI_FILE_NULL, &size);
  file.pointer = size;
  if (code == MPI_SUCCESS && file.rank == 0) code = set_shared_pointer(file, size);
  return code;
}

// Opens the genuine handle; without MPI_Init there is no MPI_COMM_SELF.
int open_handle(File& file) {
  if (cairn::mpi::has_world()) {
    const int code = real::File_open[kPmpi](MPI_COMM_SELF, shadow_path, MPI_MODE_RDWR,
                                            MPI_INFO_NULL, &file.handle);
    if (code == MPI_SUCCESS) return code;
    int error_class = MPI_ERR_IO;
    PMPI_Error_class(code, &error_class);
    return error(error_class, file.path + ": open: " + romio::why_no_shadow(code));
  }
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group own = MPI_GROUP_NULL;
  MPI_Comm self = MPI_COMM_NULL;
  PMPI_Comm_group(file.comm, &all);
  PMPI_Group_incl(all, 1, &file.rank, &own);
  PMPI_Comm_create_group(file.comm, own, 0, &self);
  PMPI_Group_free(&all);
  PMPI_Group_free(&own);
  const int code =
      real::File_open[kPmpi](self, shadow_path, MPI_MODE_RDWR, MPI_INFO_NULL, &file.handle);
  PMPI_Comm_free(&self);
  return code == MPI_SUCCESS
             ? code
             : error(MPI_ERR_UNSUPPORTED_OPERATION,
                     file.path + ": open: this MPI cannot open files without MPI_Init: " +
                         romio::why_no_shadow(code));
}

int open_all(File& file, MPI_Info info) {
  session::Reach reach = session::Reach::node;
  if (const int code = check_together(file, &reach); code != MPI_SUCCESS) return code;
  take_hints(file, info);
  cairn::mpi::SharedMemoryName name;
  int code = reach == session::Reach::nodes ? open_on_nodes(file) : open_on_node(file, &name);
  if (code == MPI_SUCCESS && (file.amode & MPI_MODE_APPEND) != 0) code = go_to_end(file);
  // The handle that the program holds belongs to this process alone, so no rank waits for another.
  if (code == MPI_SUCCESS) code = open_handle(file);
  code = agree(file.comm, code);
  if (code == MPI_SUCCESS || name.path[0] == '\0') return code;
  // Some rank may not have mapped the memory. No rank ends the job for the error before the name is
  // removed.
  if (file.rank == 0) cairn::mpi::remove_shared_memory(name);
  cairn::mpi::barrier(session::ranks(file.comm), "waiting for all ranks");
  return code;
}

}  // namespace

namespace {

std::string absolute_of(const std::string& path) {
  char here[PATH_MAX];
  return path[0] == '/' || ::getcwd(here, sizeof here) == nullptr ? path
                                                                  : std::string(here) + "/" + path;
}

}  // namespace

bool is_covered(const char* filename, std::string* path) {
  if (std::strncmp(filename, prefix, std::strlen(prefix)) == 0) {
    *path = filename + std::strlen(prefix);
    return true;
  }
  // The file, or the directory that it would be created in, must be covered.
  *path = romio::without_file_system(filename);
  return host->paths->covers(path->c_str());
}

namespace serve {

int File_open(MPI_Comm comm, const std::string& path, int amode, MPI_Info info, MPI_File* opened) {
  int inter = 0;
  PMPI_Comm_test_inter(comm, &inter);
  if (inter != 0)
    return error(MPI_ERR_COMM,
                 path + ": open: invalid communicator: an intercommunicator; merge it first");
  // MPI_Finalize has ended the job and freed what the MPI prepares for files.
  if (cairn::mpi::had_world())
    return error(MPI_ERR_UNSUPPORTED_OPERATION,
                 path + ": open: MPI_Finalize was called; open files before it");
  bool first = false;
  if (cairn::mpi::forbid(comm, &first))
    return refuse_uncovered_ranks(path, has_later_processes, first);
  if (cairn::mpi::are_on_other_hosts() && (!is_alone(comm) || host->engine->attach() == nullptr))
    return refuse_uncovered_ranks(path, has_uncovered_hosts, cairn::mpi::is_first_here());
  auto* file = new File;
  file->path = path;
  file->amode = amode;
  file->absolute = absolute_of(path);
  const cairn::mpi::Doing doing("open", file->path);
  file->comm = cairn::mpi::duplicate(session::ranks(comm), "making a communicator");
  if (file->comm == MPI_COMM_NULL) {
    release(file);
    return error(MPI_ERR_NO_MEM,
                 path + ": open: the MPI cannot create another communicator; free some");
  }
  // The communicator has inherited the program's handler; the back end reports errors itself.
  PMPI_Comm_set_errhandler(file->comm, MPI_ERRORS_RETURN);
  PMPI_Comm_rank(file->comm, &file->rank);
  PMPI_Comm_size(file->comm, &file->ranks);
  const int code = open_all(*file, info);
  if (code != MPI_SUCCESS) {
    if (file->handle != MPI_FILE_NULL) real::File_close[kPmpi](&file->handle);
    release(file);
    return code;
  }
  file->choose_way();
  add_file(file);
  *opened = file->handle;
  return MPI_SUCCESS;
}

int File_close(File& file, MPI_File* closed) {
  const cairn::mpi::Doing doing("close", file.path);
  // No rank deletes or reopens the file before all ranks have finished with it.
  int code = MPI_SUCCESS;
  if (file.shared_file != nullptr)
    code = shared_file::close(file);
  else
    cairn::mpi::barrier(session::ranks(file.comm), "waiting for all ranks");
  if ((file.amode & MPI_MODE_DELETE_ON_CLOSE) != 0) {
    int deleted = file.rank == 0 ? File_delete(file.absolute) : MPI_SUCCESS;
    session::meet_in_finalize(file.comm);
    cairn::mpi::broadcast(session::ranks(file.comm), &deleted, sizeof deleted, 0, "deleting it");
    if (code == MPI_SUCCESS) code = deleted;
  }
  remove_file(*closed);
  const int closing = real::File_close[kPmpi](closed);
  release(&file);
  return code != MPI_SUCCESS ? code : closing;
}

int File_delete(const std::string& path) {
  if (session::job() != nullptr) return shared_file::remove(path);
  // The name has Cairn's prefix, which no other file has.
  if (!host->paths->covers(path.c_str())) return not_covered(path, "delete");
  bool removed = false;
  if (const int code = shared_file::remove_left(path, &removed); code != MPI_SUCCESS) return code;
  const bool unlinked = ::unlink(path.c_str()) == 0;
  return unlinked || (removed && errno == ENOENT) ? MPI_SUCCESS
                                                  : system_error(errno, "delete", path);
}

}  // namespace serve
}  // namespace mpiio
