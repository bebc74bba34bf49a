// Answers other adapters (engine/paths.h).
#include "engine/paths.h"

#include <fcntl.h>

#include "posix/core/engine.h"
#include "posix/fd/table.h"
#include "posix/io/open.h"
#include "posix/job/job_files.h"
#include "posix/job/job_path.h"
#include "posix/libc/flush_remote.h"
#include "posix/path/covered.h"

namespace posix {
namespace {

cairn_file* file_of(int fd) {
  table::Use use(fd);
  if (!use || use->kind != Kind::kFile) return nullptr;
  cairn_retain(use->file);
  return use->file;
}

bool leads_to_cover(const char* path) {
  if (outside(path)) return false;
  CoveredPath spot;
  return locate(AT_FDCWD, path, &spot) == 0 && spot.cover != nullptr;
}

}  // namespace
}  // namespace posix

constexpr engine::Paths engine::paths = {
    .size = sizeof(engine::Paths),
    .file_of = posix::file_of,
    .covers = posix::leads_to_cover,
    .directory = posix::job_path::directory,
    .place = posix::job_path::of,
    .masked = posix::masked,
    .is_below = posix::job_path::is_below,
    .set_job = posix::job_files::set_job,
    .hide_job = posix::job_files::hide,
    .flush_unwritten = posix::flush_unwritten,
};
