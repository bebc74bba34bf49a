#include "mpiio/backend/file/shared_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "cluster/mpi/messages/collectives.h"
#include "cluster/mpi/messages/waiting.h"
#include "mpiio/backend/base/callers.h"
#include "mpiio/backend/base/texts.h"
#include "mpiio/backend/file/group.h"
#include "mpiio/backend/file/hints.h"
#include "mpiio/backend/job/errors.h"
#include "mpiio/backend/job/session.h"

namespace mpiio::shared_file {
namespace {

const engine::ApiTable& calls() { return *host->engine; }

int failed(int64_t result, const std::string& what, const std::string& path) {
  const char* detail = host->engine->last_error();
  return error(
      class_of(static_cast<int>(result)),
      told_once(path, what, detail[0] == '\0' ? std::strerror(static_cast<int>(-result)) : detail));
}

int outcome(int result, const char* what, const std::string& path) {
  return result < 0 ? failed(result, what, path) : MPI_SUCCESS;
}

// Makes POSIX calls use this node's pool while it exists.
class OwnPool {
 public:
  OwnPool() : before_(host->paths->hide_job(true)) {}
  ~OwnPool() { host->paths->hide_job(before_); }
  OwnPool(const OwnPool&) = delete;
  OwnPool& operator=(const OwnPool&) = delete;

 private:
  bool before_;
};

// Returns true if a shared file stands above the name; this node's pool does not show it.
bool is_below_a_file(const std::string& path) {
  const bool hidden = host->paths->hide_job(false);
  struct stat above;
  const size_t slash = path.rfind('/');
  const bool found =
      slash != std::string::npos && ::stat(path.substr(0, slash + 1).c_str(), &above) != 0;
  const bool below = found && errno == ENOTDIR;
  host->paths->hide_job(hidden);
  return below;
}

int find_place(const std::string& path, const char* what, engine::Place* place) {
  int result = host->paths->place(path.c_str(), place);
  if (result == -ENOENT && is_below_a_file(path)) result = -ENOTDIR;
  if (result == -EXDEV)
    return error(MPI_ERR_BAD_FILE, path + ": " + what + ": not below the covered directory");
  return result < 0 ? system_error(result, what, path) : MPI_SUCCESS;
}

// Returns the path by which POSIX calls reach the file in this node's pool.
std::string covered_path(const engine::Place& place) {
  return std::string(host->paths->directory()) + "/" + place.relative;
}

// Opens a file that other calls have made under this name in this node's pool and that is not in
// the covered directory.
int open_local(const std::string& path, const engine::Place& place, cairn_file** local) {
  if (!place.exists) return MPI_SUCCESS;
  if (S_ISDIR(place.st.mode)) return system_error(EISDIR, "open", path);
  if (!S_ISREG(place.st.mode)) return error(MPI_ERR_BAD_FILE, path + ": open: not a regular file");
  // An evicted file was made here.
  if ((place.st.flags & (CAIRN_FILE_LAZY | CAIRN_FILE_EVICTED)) == CAIRN_FILE_LAZY)
    return MPI_SUCCESS;
  const int fd = ::open(covered_path(place).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return system_error(errno, "open", path);
  *local = host->paths->file_of(fd);
  ::close(fd);
  return MPI_SUCCESS;
}

// Opens such a file, and fetches it first if it lies in another node's pool.
int bring_local(const std::string& path, engine::Place* place, cairn_file** local) {
  if (!place->exists && calls().shared_exists(session::job(), place->relative) == 0) {
    const int result = calls().shared_fetch(session::job(), place->relative);
    if (result < 0 && result != -ENOENT) return failed(result, "open", path);
    if (const int code = find_place(path, "open", place); result == 0 && code != MPI_SUCCESS)
      return code;
  }
  return open_local(path, *place, local);
}

// Returns rank 0's code on all ranks.
int told_by_first(const File& file, int code) {
  cairn::mpi::broadcast(session::ranks(file.comm), &code, sizeof code, 0,
                        "waiting for what rank 0 has found");
  if (file.rank == 0 || code == MPI_SUCCESS) return code;
  return error(code, file.path + ": open: failed on rank 0");
}

}  // namespace

namespace {

template <typename Call>
int with_left(const std::string& path, const char* what, const Call& call, bool* found) {
  *found = false;
  engine::Place place;
  // A fault in the name is found again by the call that opens or deletes it.
  if (!host->paths->is_below(".cairn") || host->paths->place(path.c_str(), &place) < 0)
    return MPI_SUCCESS;
  int result = 0;
  if (cairn_job* job = session::own_job(&result); job != nullptr)
    result = call(job, place.relative);
  *found = result == 0;
  return result == -ENOENT ? MPI_SUCCESS : outcome(result, what, path);
}

}  // namespace

int make_plain(const std::string& path) {
  bool found = false;
  const auto call = [](cairn_job* job, const char* left) {
    return calls().shared_make_plain(job, left, 0);
  };
  return with_left(path, "open", call, &found);
}

int remove_left(const std::string& path, bool* removed) {
  return with_left(path, "delete", calls().shared_remove, removed);
}

int open(File& file, int flags, mode_t mode) {
  const cairn::mpi::Doing doing("open", file.path);
  const OwnPool own_pool;
  engine::Place place = {};
  cairn_file* local = nullptr;
  int code = MPI_SUCCESS;
  if (file.rank == 0) code = find_place(file.path, "open", &place);
  if (file.rank == 0 && code == MPI_SUCCESS) code = bring_local(file.path, &place, &local);
  if (code = told_by_first(file, code); code != MPI_SUCCESS) return code;
  file.group = group_of(&file.comm, file.rank, file.ranks);
  const int result = calls().shared_open(session::job(), &file.group, place.relative, flags,
                                         host->paths->masked(mode), local, &file.shared_file);
  if (local != nullptr) {
    host->engine->close(local);
    // The shared file has the bytes now: the name comes back when that file is carried to the
    // covered directory.
    if (result == 0) ::unlink(covered_path(place).c_str());
  }
  if (result < 0) return failed(result, "open", file.path);
  file.without_sync = called_without_sync();
  return follow_visibility(file);
}

int close(File& file) {
  const cairn::mpi::Doing doing("close", file.path);
  return outcome(calls().shared_close(std::exchange(file.shared_file, nullptr)), "close",
                 file.path);
}

int remove(const std::string& path) {
  const cairn::mpi::Doing doing("delete", path);
  struct stat link;
  if (::lstat(path.c_str(), &link) == 0 && S_ISLNK(link.st_mode))
    return ::unlink(path.c_str()) == 0 ? MPI_SUCCESS : system_error(errno, "delete", path);
  const OwnPool own_pool;
  engine::Place place;
  if (const int code = find_place(path, "delete", &place); code != MPI_SUCCESS) return code;
  const int result = calls().shared_remove(session::job(), place.relative);
  if (result < 0 && result != -ENOENT) return failed(result, "delete", path);
  const bool unlinked = ::unlink(covered_path(place).c_str()) == 0;
  if (!unlinked && errno != ENOENT) return system_error(errno, "delete", path);
  const int below = calls().shared_remove_below(session::job(), place.relative);
  if (below < 0) return failed(below, "delete", path);
  return result == 0 || unlinked || below != 0 ? MPI_SUCCESS : system_error(ENOENT, "delete", path);
}

int size(const File& file, int64_t* bytes) {
  const cairn::mpi::Doing doing("size", file.path);
  uint64_t found = 0;
  const int result = calls().shared_size(file.shared_file, &found);
  *bytes = static_cast<int64_t>(found);
  return outcome(result, "size", file.path);
}

int set_size(const File& file, int64_t bytes) {
  const cairn::mpi::Doing doing("set size", file.path);
  return outcome(calls().shared_truncate(file.shared_file, static_cast<uint64_t>(bytes)),
                 "set size", file.path);
}

int preallocate(const File& file, int64_t bytes) {
  // All ranks see the same size afterwards.
  int64_t now = 0;
  int code = sync(file);
  if (code == MPI_SUCCESS) code = size(file, &now);
  return code == MPI_SUCCESS && bytes > now ? set_size(file, bytes) : code;
}

int sync(const File& file) {
  const cairn::mpi::Doing doing("sync", file.path);
  return outcome(calls().shared_commit(file.shared_file), "sync", file.path);
}

int follow_visibility(File& file) {
  const cairn::mpi::Doing doing("set atomicity", file.path);
  int immediate = file.atomic || wants_immediate(file) ? 1 : 0;
  cairn::mpi::broadcast(session::ranks(file.comm), &immediate, sizeof immediate, 0,
                        "waiting for what rank 0 requests");
  if (file.immediate == (immediate != 0)) return MPI_SUCCESS;
  file.immediate = immediate != 0;
  return outcome(calls().shared_set_immediate(file.shared_file, immediate), "set atomicity",
                 file.path);
}

int add_to_pointer(const File& file, uint32_t which, int64_t etypes, int64_t* before) {
  const cairn::mpi::Doing doing("move the shared pointer of", file.path);
  return outcome(calls().shared_fetch_add(file.shared_file, which, etypes, before),
                 "move the shared pointer", file.path);
}

int set_pointer(const File& file, uint32_t which, int64_t etypes) {
  const cairn::mpi::Doing doing("set the shared pointer of", file.path);
  return outcome(calls().shared_store(file.shared_file, which, etypes), "set the shared pointer",
                 file.path);
}

int lock(const File& file) {
  const cairn::mpi::Doing doing("wait for the atomic access to", file.path);
  return outcome(calls().shared_lock(file.shared_file), "atomic access", file.path);
}

int unlock(const File& file) {
  const cairn::mpi::Doing doing("end the atomic access to", file.path);
  return outcome(calls().shared_unlock(file.shared_file), "atomic access", file.path);
}

}  // namespace mpiio::shared_file
