// C API: files that several nodes write (include/cairn/adapter/shared.h).
#include "cairn/adapter/shared.h"

#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "capi/job/job.h"
#include "cluster/names/preexisting_names.h"
#include "cluster/server/serve.h"
#include "cluster/shared/shared_file.h"
#include "tier/record/record.h"

// Between the two a layout is shared, and looked at here.
static_assert(sizeof(cairn_question) == sizeof(cairn::cluster::Question) &&
              offsetof(cairn_question, got) == offsetof(cairn::cluster::Question, got));
static_assert(sizeof(cairn_node) == sizeof(cairn::cluster::Node) &&
              offsetof(cairn_node, host) == offsetof(cairn::cluster::Node, host) &&
              offsetof(cairn_node, pool) == offsetof(cairn::cluster::Node, path));

struct cairn_shared {
  std::unique_ptr<cairn::cluster::SharedFile> file;
};

using cairn::fail;
using cairn::Status;
using cairn::capi::code;
using cairn::capi::count;
using cairn::capi::fs_of;
using cairn::capi::pieces_of;
using cairn::cluster::SharedFile;

namespace {

int ask_user(void* job, cairn::cluster::Question* questions, size_t count) {
  auto& asked = *static_cast<cairn_job*>(job);
  return asked.ask(asked.context, reinterpret_cast<cairn_question*>(questions), count);
}

void still_waiting(void* job, uint64_t waited_ms, const char* path, const char* whom) {
  const auto& waiting = *static_cast<cairn_job*>(job);
  if (waiting.waiting != nullptr) waiting.waiting(waiting.context, waited_ms, path, whom);
}

void copy_text(char* to, size_t capacity, const std::string& from) {
  std::strncpy(to, from.c_str(), capacity - 1);
  to[capacity - 1] = '\0';
}

}  // namespace

cairn_job::cairn_job(cairn::file::FileSystem& fs, cairn::cluster::Job::Place place,
                     cairn_ask messenger, cairn_still_waiting when_waiting, void* its_context)
    : ask(messenger),
      waiting(when_waiting),
      context(its_context),
      job(fs, std::move(place), messenger == nullptr ? nullptr : ask_user, still_waiting, this) {}

extern "C" {

int cairn_node_describe(cairn_pool* pool, cairn_node* node) {
  const WriteWindow window;
  const cairn::pool::Pool& own = fs_of(pool).pool;
  *node = {};
  for (size_t i = 0; i < 2; ++i) {
    const uint64_t word = own.superblock().uuid[i].load();
    std::memcpy(node->uuid + 8 * i, &word, sizeof word);
  }
  ::gethostname(node->host, sizeof node->host - 1);
  copy_text(node->pool, sizeof node->pool, own.path.c_str());
  return 0;
}

int cairn_job_open(cairn_pool* pool, const char* directory, const cairn_node* nodes, uint32_t count,
                   uint32_t node, cairn_ask ask, cairn_still_waiting waiting, void* context,
                   cairn_job** job) {
  const WriteWindow window;
  if (node >= count)
    return code(fail(EINVAL, "invalid node %u: the job has %u nodes", node, count));
  cairn::cluster::Job::Place place;
  place.directory = directory;
  place.cover = cairn::tier::cover_name(directory);
  place.nodes = reinterpret_cast<const cairn::cluster::Node*>(nodes);
  place.count = count;
  place.self = node;
  *job = new cairn_job(fs_of(pool), std::move(place), ask, waiting, context);
  return 0;
}

void cairn_job_close(cairn_job* job) {
  const WriteWindow window;
  if (job != nullptr) job->job.end_contents();
  delete job;
}

int cairn_job_clean(cairn_job* job) {
  const WriteWindow window;
  return code(job->job.clean());
}

int64_t cairn_job_gather_names(cairn_job* job) {
  const WriteWindow window;
  auto names = cairn::cluster::preexisting_names(job->job);
  if (!names.ok()) return code(names.status());
  const auto number = static_cast<int64_t>(cairn::cluster::number_of_names(*names));
  job->job.set_number_of_names(number);
  return number;
}

int cairn_job_tell_names(cairn_job* job) {
  const WriteWindow window;
  return code(cairn::cluster::tell_names(job->job));
}

void cairn_job_on_special_removed(cairn_job* job, cairn_special_removed removed) {
  const WriteWindow window;
  job->job.on_special_removed(removed);
}

size_t cairn_job_serve(cairn_job* job, const void* request, size_t size, void* reply) {
  const WriteWindow window;
  return cairn::cluster::serve(job->job, request, size, reply);
}

size_t cairn_job_reply_capacity(void) {
  const WriteWindow window;
  return cairn::cluster::reply_capacity;
}

size_t cairn_job_request_capacity(void) {
  const WriteWindow window;
  return cairn::cluster::request_capacity;
}

int cairn_shared_open(cairn_job* job, const cairn_group* group, const char* path, int flags,
                      uint32_t mode, cairn_file* local, cairn_shared** shared) {
  const WriteWindow window;
  SharedFile::Wanted wanted;
  if (group->rank == 0) {
    wanted.path = path;
    wanted.flags = flags;
    wanted.mode = mode;
    wanted.local = local == nullptr ? nullptr : &cairn::capi::file_of(local);
  }
  auto file = SharedFile::open(
      job->job, {group->context, group->rank, group->ranks, group->gather, group->broadcast},
      wanted);
  if (!file.ok()) return code(file.status());
  *shared = new cairn_shared{std::move(*file)};
  return 0;
}

int cairn_shared_close(cairn_shared* shared) {
  const WriteWindow window;
  const Status status = shared->file->close();
  delete shared;
  return code(status);
}

int cairn_shared_commit(cairn_shared* shared) {
  const WriteWindow window;
  return code(shared->file->commit());
}

ssize_t cairn_shared_pwrite(cairn_shared* shared, const void* buffer, size_t size,
                            uint64_t offset) {
  const WriteWindow window;
  void* bytes = const_cast<void*>(buffer);  // not pool memory: the caller's own bytes
  const cairn::cluster::Target piece = {bytes, size, offset};
  return count(shared->file->write(&piece, 1));
}

int64_t cairn_shared_write(cairn_shared* shared, const cairn_piece* pieces, size_t number) {
  const WriteWindow window;
  return count(shared->file->write(pieces_of(pieces), number));
}

int64_t cairn_shared_read(cairn_shared* shared, const cairn_piece* pieces, size_t number) {
  const WriteWindow window;
  return count(shared->file->read(pieces_of(pieces), number));
}

int cairn_shared_size(cairn_shared* shared, uint64_t* size) {
  const WriteWindow window;
  auto result = shared->file->size();
  if (result.ok()) *size = *result;
  return code(result.status());
}

int cairn_shared_truncate(cairn_shared* shared, uint64_t size) {
  const WriteWindow window;
  return code(shared->file->truncate(size));
}

int cairn_shared_set_immediate(cairn_shared* shared, int on) {
  const WriteWindow window;
  return code(shared->file->set_immediate(on != 0));
}

int cairn_shared_lock(cairn_shared* shared) {
  const WriteWindow window;
  return code(shared->file->lock());
}

int cairn_shared_unlock(cairn_shared* shared) {
  const WriteWindow window;
  return code(shared->file->unlock());
}

int cairn_shared_fetch_add(cairn_shared* shared, uint32_t which, int64_t value, int64_t* before) {
  const WriteWindow window;
  auto result = shared->file->fetch_add(which, value);
  if (result.ok()) *before = *result;
  return code(result.status());
}

int cairn_shared_store(cairn_shared* shared, uint32_t which, int64_t value) {
  const WriteWindow window;
  return code(shared->file->store(which, value));
}

}  // extern "C"
