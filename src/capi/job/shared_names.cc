// C API: files that several nodes write, by their names (include/cairn/adapter/shared.h).
#include <fcntl.h>
#include <sys/stat.h>

#include <cstring>

#include "capi/job/job.h"
#include "cluster/names/names.h"
#include "cluster/record/uuid.h"
#include "cluster/remote/remote_files.h"
#include "cluster/shared/by_name.h"
#include "cluster/shared/shared_reader.h"
#include "cluster/shared/unshare.h"
#include "pool/lanes/seats.h"

using cairn::Status;
using cairn::capi::code;

namespace {

// Also where a name is too long for a record, or what stands for a directory is none.
bool is_missing(int error) { return error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG; }

void show(const cairn::cluster::Record& record, cairn_stat* st) {
  *st = {};
  st->ino = cairn::cluster::inode_number(record.uuid);
  st->generation = 1;
  st->mode = S_IFREG | record.mode;
  st->uid = record.uid;
  st->gid = record.gid;
  st->nlink = 1;
  st->size = record.size;
  constexpr uint64_t unit = 512;
  st->blocks = (record.size + unit - 1) / unit;
  st->atime_ns = st->mtime_ns = st->ctime_ns = st->btime_ns = static_cast<int64_t>(record.mtime);
  st->flags = CAIRN_FILE_LAZY;
}

void show(const cairn::cluster::Job& job, const cairn::cluster::RemoteFile& file, cairn_stat* st) {
  const cairn::cluster::FileState& state = file.state;
  uint64_t inode = 0;
  std::memcpy(&inode, state.file.data(), sizeof inode);
  *st = {};
  st->ino = cairn::cluster::inode_number(job, file.node, inode);
  st->generation = 1;
  st->mode = state.mode;
  st->uid = state.uid;
  st->gid = state.gid;
  st->nlink = state.links;
  st->size = state.size;
  constexpr uint64_t units = 4096 / 512;
  st->blocks = state.blocks * units;
  st->atime_ns = static_cast<int64_t>(state.atime);
  st->mtime_ns = static_cast<int64_t>(state.mtime);
  st->ctime_ns = static_cast<int64_t>(state.ctime);
  st->btime_ns = static_cast<int64_t>(state.btime);
  st->flags = CAIRN_FILE_LAZY;
}

// The one of a shared file, or that of an ordinary file of another node where there is none.
template <typename Shared, typename Ordinary>
int shared_or_ordinary(Shared shared, Ordinary ordinary) {
  const Status status = shared();
  return code(is_missing(status.code()) ? ordinary() : status);
}

// UINT32_MAX, CAIRN_TIME_OMIT: as it is.
cairn::cluster::NewAttributes attributes_from(uint32_t mode, uint32_t uid, uint32_t gid,
                                              int64_t atime_ns, int64_t mtime_ns) {
  cairn::cluster::NewAttributes attributes;
  if (mode != UINT32_MAX) attributes.mode = mode & 07777;
  if (uid != UINT32_MAX) attributes.uid = uid;
  if (gid != UINT32_MAX) attributes.gid = gid;
  const uint64_t now = cairn::file::now_ns();
  const auto time = [now](int64_t ns) -> std::optional<uint64_t> {
    if (ns == CAIRN_TIME_OMIT) return std::nullopt;
    return ns == CAIRN_TIME_NOW ? now : static_cast<uint64_t>(ns);
  };
  attributes.atime = time(atime_ns);
  attributes.mtime = time(mtime_ns);
  return attributes;
}

cairn::file::Remote::Change change_from(const cairn::cluster::NewAttributes& given) {
  cairn::file::Remote::Change to;
  if (given.mode) to.mode = *given.mode;
  if (given.uid) to.uid = *given.uid;
  if (given.gid) to.gid = *given.gid;
  if (given.atime) to.atime = *given.atime;
  if (given.mtime) to.mtime = *given.mtime;
  return to;
}

}  // namespace

extern "C" {

int cairn_shared_exists(cairn_job* job, const char* path) {
  const WriteWindow window;
  auto record = cairn::cluster::read_record(job->job.records(), path);
  if (record.ok()) return 1;
  return is_missing(record.code()) ? 0 : code(record.status());
}

int cairn_shared_stat(cairn_job* job, const char* path, cairn_stat* st) {
  const WriteWindow window;
  auto record = cairn::cluster::read_record(job->job.records(), path);
  if (!record.ok()) return is_missing(record.code()) ? -ENOENT : code(record.status());
  show(*record, st);
  return 0;
}

int cairn_shared_stat_ordinary(cairn_job* job, const char* path, cairn_stat* st) {
  const WriteWindow window;
  auto found = cairn::cluster::find_remote(job->job, path);
  if (!found.ok()) return is_missing(found.code()) ? -ENOENT : code(found.status());
  show(job->job, *found, st);
  return 0;
}

int cairn_shared_open_reader(cairn_job* job, const char* path, int flags, cairn_file** file) {
  const WriteWindow window;
  auto opened = cairn::cluster::open_shared_reader(job->job, path, flags);
  if (is_missing(opened.code())) opened = cairn::cluster::open_remote(job->job, path, flags);
  if (!opened.ok()) return code(opened.status());
  *file = cairn::capi::handle_of(opened->release());
  return 0;
}

int cairn_shared_open_writer(cairn_job* job, const char* path, int flags, cairn_file** file) {
  const WriteWindow window;
  auto opened = cairn::cluster::open_remote_writer(job->job, path, flags);
  if (!opened.ok()) return is_missing(opened.code()) ? -ENOENT : code(opened.status());
  *file = cairn::capi::handle_of(opened->release());
  return 0;
}

int cairn_shared_make_plain(cairn_job* job, const char* path, int empty) {
  const WriteWindow window;
  return shared_or_ordinary(
      [&] { return cairn::cluster::unshare(job->job, path, empty != 0); },
      [&] { return cairn::cluster::fetch_remote(job->job, path, empty != 0); });
}

int cairn_shared_fetch(cairn_job* job, const char* path) {
  const WriteWindow window;
  return code(cairn::cluster::fetch_remote(job->job, path, false));
}

int cairn_shared_set_size(cairn_job* job, const char* path, uint64_t size) {
  const WriteWindow window;
  return shared_or_ordinary([&] { return cairn::cluster::set_size(job->job, path, size); },
                            [&] { return cairn::cluster::set_remote_size(job->job, path, size); });
}

int cairn_shared_set_attributes(cairn_job* job, const char* path, uint32_t mode, uint32_t uid,
                                uint32_t gid, int64_t atime_ns, int64_t mtime_ns) {
  const WriteWindow window;
  const auto attributes = attributes_from(mode, uid, gid, atime_ns, mtime_ns);
  return shared_or_ordinary(
      [&] { return cairn::cluster::set_attributes(job->job, path, attributes); },
      [&] { return cairn::cluster::set_remote_attributes(job->job, path, attributes); });
}

int cairn_shared_rename(cairn_job* job, const char* from, const char* to, unsigned flags) {
  const WriteWindow window;
  if ((flags & ~1U) != 0) return code(cairn::fail(EINVAL, "%s: invalid flags %u", from, flags));
  return code(cairn::cluster::rename_of_job(job->job, from, to, flags != 0));
}

int cairn_shared_remove(cairn_job* job, const char* path) {
  const WriteWindow window;
  return shared_or_ordinary([&] { return cairn::cluster::remove_shared(job->job, path); },
                            [&] { return cairn::cluster::remove_remote(job->job, path); });
}

int cairn_shared_remove_below(cairn_job* job, const char* path) {
  const WriteWindow window;
  auto removed = cairn::cluster::remove_below(job->job, path);
  return removed.ok() ? *removed : code(removed.status());
}

int cairn_shared_list(cairn_job* job, const char* directory, int deep, cairn_shared_visit visit,
                      void* context) {
  const WriteWindow window;
  int stopped = 0;
  const Status status = cairn::cluster::for_each_shared_in(
      job->job.records(), directory, deep != 0, [&](const std::string& name) {
        stopped = visit(context, name.c_str());
        return stopped == 0 ? Status() : Status(ECANCELED);
      });
  return stopped != 0 ? stopped : code(status);
}

int cairn_shared_list_ordinary(cairn_job* job, const char* directory,
                               cairn_shared_visit_ordinary visit, void* context) {
  const WriteWindow window;
  auto names = cairn::cluster::list_remote(job->job, directory);
  if (!names.ok()) return code(names.status());
  for (const cairn::cluster::RemoteName& one : *names)
    if (const int stopped = visit(context, one.name.c_str(), one.inode); stopped != 0)
      return stopped;
  return 0;
}

int cairn_shared_mkdir(cairn_job* job, const char* path, uint32_t mode) {
  const WriteWindow window;
  return code(cairn::cluster::make_directory(job->job, path, mode & 07777));
}

int cairn_shared_symlink(cairn_job* job, const char* target, const char* path) {
  const WriteWindow window;
  return code(cairn::cluster::make_symbolic_link(job->job, path, target));
}

int cairn_shared_set_everywhere(cairn_job* job, const char* path, uint32_t mode, uint32_t uid,
                                uint32_t gid, int64_t atime_ns, int64_t mtime_ns) {
  const WriteWindow window;
  const auto to = change_from(attributes_from(mode, uid, gid, atime_ns, mtime_ns));
  return code(cairn::cluster::set_attributes_everywhere(job->job, path, to));
}

int cairn_shared_set_inode_everywhere(cairn_job* job, cairn_ino ino, uint64_t generation,
                                      uint32_t mode, uint32_t uid, uint32_t gid, int64_t atime_ns,
                                      int64_t mtime_ns) {
  const WriteWindow window;
  const auto to = change_from(attributes_from(mode, uid, gid, atime_ns, mtime_ns));
  return code(cairn::cluster::set_attributes_of(job->job, {ino, generation}, to));
}

int cairn_shared_rmdir(cairn_job* job, const char* path) {
  const WriteWindow window;
  return code(cairn::cluster::remove_directory(job->job, path));
}

int cairn_shared_unlink(cairn_job* job, const char* path) {
  const WriteWindow window;
  return code(cairn::cluster::remove_file(job->job, path));
}

int cairn_shared_mknod(cairn_job* job, const char* path, uint32_t mode, int exclusive) {
  const WriteWindow window;
  if (S_ISFIFO(mode) || S_ISSOCK(mode))
    return code(cairn::cluster::make_special(job->job, path, mode & (S_IFMT | 07777)));
  const auto leave = [](const cairn::file::Created&) { return Status(); };
  return code(exclusive != 0 ? cairn::cluster::make_file(job->job, path, mode, leave)
                             : cairn::cluster::make_or_give_way(job->job, path, mode, leave));
}

int cairn_shared_create(cairn_job* job, const char* path, int flags, uint32_t mode,
                        cairn_file** file) {
  const WriteWindow window;
  cairn::file::FileSystem& fs = job->job.fs();
  const auto open = [&](const cairn::file::Created& made) -> Status {
    const cairn::pool::SeatGuard seat(fs.pool);
    if (!seat.ok()) return cairn::pool::no_seat(fs.pool);
    constexpr int done = O_CREAT | O_EXCL | O_TRUNC;
    CAIRN_TRY_ASSIGN(opened, cairn::file::open_inode(fs, *seat, made.number, flags & ~done,
                                                     made.generation, true));
    *file = cairn::capi::handle_of(opened.release());
    return Status();
  };
  return code((flags & O_EXCL) != 0 ? cairn::cluster::make_file(job->job, path, mode, open)
                                    : cairn::cluster::make_or_give_way(job->job, path, mode, open));
}

int cairn_shared_link(cairn_job* job, cairn_ino ino, uint64_t generation, const char* path) {
  const WriteWindow window;
  return code(cairn::cluster::link_inode(job->job, {ino, generation}, path));
}

int cairn_shared_claim(cairn_job* job, const char* path) {
  const WriteWindow window;
  return code(cairn::cluster::claim_file(job->job, path));
}

int cairn_shared_rename_name(cairn_job* job, const char* from, const char* to, unsigned flags) {
  const WriteWindow window;
  if ((flags & ~1U) != 0) return code(cairn::fail(EINVAL, "%s: invalid flags %u", from, flags));
  return code(cairn::cluster::rename_name(job->job, from, to, flags != 0));
}

void cairn_job_fork_child(cairn_job* job) {
  const WriteWindow window;
  job->job.fall_silent();
}

}  // extern "C"
