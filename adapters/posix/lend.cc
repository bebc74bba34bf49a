#include "posix/lend.h"

#include "posix/covered.h"
#include "posix/engine.h"
#include "posix/open.h"
#include "posix/place.h"
#include "posix/shared_names.h"
#include "posix/table.h"
#include "posix/unwritten.h"

namespace posix {
namespace {

cairn_file* file_of(int fd) {
  table::Use use(fd);
  if (!use || use->kind != Kind::kFile) return nullptr;
  cairn_retain(use->file);
  return use->file;
}

bool covers(const char* path) {
  if (outside(path)) return false;
  Spot spot;
  return locate(AT_FDCWD, path, &spot) == 0 && spot.cover != nullptr;
}

cairn_pool* attached() { return engine::attach() == 0 ? pool : nullptr; }

constexpr LentShared shared = {
    [](cairn_pool* from, cairn_node* node) { return cairn_node_describe(from, node); },
    [](cairn_pool* from, const char* path, const cairn_node* nodes, uint32_t count, uint32_t node,
       cairn_ask ask, cairn_still_waiting waiting, void* context, cairn_job** job) {
      return cairn_job_open(from, path, nodes, count, node, ask, waiting, context, job);
    },
    [](cairn_job* job) { return cairn_job_clean(job); },
    [](cairn_job* job) { return cairn_job_gather_names(job); },
    [](cairn_job* job) { return cairn_job_tell_names(job); },
    [](cairn_job* job) { cairn_job_close(job); },
    [](cairn_job* job, const void* request, size_t size, void* reply) {
      return cairn_job_serve(job, request, size, reply);
    },
    cairn_job_reply_capacity.call,
    cairn_job_request_capacity.call,
    [](cairn_job* job, const char* path) { return cairn_shared_exists(job, path); },
    [](cairn_job* job, const cairn_group* group, const char* path, int flags, uint32_t mode,
       cairn_file* local, cairn_shared** file) {
      return cairn_shared_open(job, group, path, flags, mode, local, file);
    },
    [](cairn_shared* file) { return cairn_shared_close(file); },
    [](cairn_shared* file) { return cairn_shared_commit(file); },
    [](cairn_shared* file, const cairn_piece* pieces, size_t count) {
      return cairn_shared_write(file, pieces, count);
    },
    [](cairn_shared* file, const cairn_piece* pieces, size_t count) {
      return cairn_shared_read(file, pieces, count);
    },
    [](cairn_shared* file, uint64_t* size) { return cairn_shared_size(file, size); },
    [](cairn_shared* file, uint64_t size) { return cairn_shared_truncate(file, size); },
    [](cairn_shared* file, int on) { return cairn_shared_set_immediate(file, on); },
    [](cairn_shared* file) { return cairn_shared_lock(file); },
    [](cairn_shared* file) { return cairn_shared_unlock(file); },
    [](cairn_shared* file, uint32_t which, int64_t value, int64_t* before) {
      return cairn_shared_fetch_add(file, which, value, before);
    },
    [](cairn_shared* file, uint32_t which, int64_t value) {
      return cairn_shared_store(file, which, value);
    },
    [](cairn_job* job, const char* path, int empty) {
      return cairn_shared_make_plain(job, path, empty);
    },
    [](cairn_job* job, const char* path) { return cairn_shared_fetch(job, path); },
    [](cairn_job* job, const char* path) { return cairn_shared_remove(job, path); },
    [](cairn_job* job, const char* path) { return cairn_shared_remove_below(job, path); },
};

constexpr Lent lent = {
    file_of,
    covers,
    [](cairn_file* file) { return cairn_close(file); },
    [](cairn_file* file, void* buffer, size_t size, uint64_t offset) {
      return cairn_pread(file, buffer, size, offset);
    },
    [](cairn_file* file, const void* buffer, size_t size, uint64_t offset) {
      return cairn_pwrite(file, buffer, size, offset);
    },
    [](cairn_file* file, const cairn_piece* pieces, size_t count) {
      return cairn_read_pieces(file, pieces, count);
    },
    [](cairn_file* file, const cairn_piece* pieces, size_t count) {
      return cairn_write_pieces(file, pieces, count);
    },
    [](cairn_file* file, cairn_stat* st) { return cairn_fstat(file, st); },
    [](cairn_file* file, uint64_t size) { return cairn_ftruncate(file, size); },
    [](cairn_file* file, int mode, uint64_t offset, uint64_t size) {
      return cairn_fallocate(file, mode, offset, size);
    },
    [](cairn_file* file) { return cairn_fsync(file); },
    cairn_last_error.call,
    [](const char* text) { log(Level::kInfo, text); },
    [](const char* text) { log(Level::kWarning, text); },
    attached,
    place::directory,
    [](cairn_pool* from, const char* directory, cairn_cover_visit_other visit, void* context) {
      return cairn_cover_others(from, directory, visit, context);
    },
    place::of,
    masked,
    place::is_below,
    shared,
    shared_names::set_job,
    shared_names::hide,
    flush_unwritten,
    engine::is_in_handler,
};

}  // namespace

const Lent& lend() { return lent; }

}  // namespace posix
