// C API: files that several nodes write, by their names (include/cairn/shared.h).
#include <sys/stat.h>

#include "capi/job.h"
#include "cluster/by_name.h"
#include "cluster/plain.h"
#include "cluster/reader.h"

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

}  // namespace

extern "C" {

int cairn_shared_exists(cairn_job* job, const char* path) {
  const WriteWindow window;
  auto record = cairn::cluster::read_record(job->job.directory(), path);
  if (record.ok()) return 1;
  return is_missing(record.code()) ? 0 : code(record.status());
}

int cairn_shared_stat(cairn_job* job, const char* path, cairn_stat* st) {
  const WriteWindow window;
  auto record = cairn::cluster::read_record(job->job.directory(), path);
  if (!record.ok()) return is_missing(record.code()) ? -ENOENT : code(record.status());
  show(*record, st);
  return 0;
}

int cairn_shared_open_reader(cairn_job* job, const char* path, int flags, cairn_file** file) {
  const WriteWindow window;
  auto opened = cairn::cluster::open_reader(job->job, path, flags);
  if (!opened.ok()) return code(opened.status());
  *file = cairn::capi::handle_of(opened->release());
  return 0;
}

int cairn_shared_make_plain(cairn_job* job, const char* path, int empty) {
  const WriteWindow window;
  return code(cairn::cluster::make_plain(job->job, path, empty != 0));
}

int cairn_shared_set_size(cairn_job* job, const char* path, uint64_t size) {
  const WriteWindow window;
  return code(cairn::cluster::set_size(job->job, path, size));
}

int cairn_shared_set_attributes(cairn_job* job, const char* path, uint32_t mode, uint32_t uid,
                                uint32_t gid, int64_t mtime_ns) {
  const WriteWindow window;
  cairn::cluster::NewAttributes attributes;
  if (mode != UINT32_MAX) attributes.mode = mode & 07777;
  if (uid != UINT32_MAX) attributes.uid = uid;
  if (gid != UINT32_MAX) attributes.gid = gid;
  if (mtime_ns == CAIRN_TIME_NOW)
    attributes.mtime = cairn::file::now_ns();
  else if (mtime_ns != CAIRN_TIME_OMIT)
    attributes.mtime = static_cast<uint64_t>(mtime_ns);
  return code(cairn::cluster::set_attributes(job->job, path, attributes));
}

int cairn_shared_rename(cairn_job* job, const char* from, const char* to) {
  const WriteWindow window;
  return code(cairn::cluster::rename_shared(job->job, from, to));
}

int cairn_shared_remove(cairn_job* job, const char* path) {
  const WriteWindow window;
  return code(cairn::cluster::remove_shared(job->job, path));
}

int cairn_shared_list(cairn_job* job, const char* directory, int deep, cairn_shared_visit visit,
                      void* context) {
  const WriteWindow window;
  int stopped = 0;
  const Status status = cairn::cluster::for_each_shared_in(
      job->job.directory(), directory, deep != 0, [&](const std::string& name) {
        stopped = visit(context, name.c_str());
        return stopped == 0 ? Status() : Status(ECANCELED);
      });
  return stopped != 0 ? stopped : code(status);
}

void cairn_job_fork_child(cairn_job* job) {
  const WriteWindow window;
  job->job.fall_silent();
}

}  // extern "C"
