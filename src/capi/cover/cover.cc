// C API: covers (include/cairn/cover.h).
#include "cairn/cover.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "base/saved_failure.h"
#include "capi/core/handles.h"
#include "capi/cover/cover_handle.h"
#include "cluster/collect/collect.h"
#include "cluster/collect/collect_ahead.h"
#include "cluster/names/rename_intent.h"
#include "file/space/make_room.h"
#include "file/space/room_request.h"
#include "tier/claim/claim.h"
#include "tier/cover/cover.h"
#include "tier/cover/cover_lower.h"
#include "tier/cover/cover_state.h"
#include "tier/cover/covered_directory.h"
#include "tier/cover/drain.h"
#include "tier/cover/drain_to.h"
#include "tier/drain/undrained.h"
#include "tier/lower/lower.h"
#include "tier/lower/pool_rights.h"
#include "tier/record/record.h"
#include "tier/system/system.h"

using cairn::fail;
using cairn::Status;
using cairn::capi::code;
using cairn::capi::finish_renamings_before_drain;
using cairn::capi::fs_of;
using cairn::capi::note_end;
using cairn::capi::refuse_pool_of_other;

namespace {

int give(cairn::Result<std::unique_ptr<cairn::tier::Cover>> entered, cairn_cover** cover) {
  if (!entered.ok()) return code(entered.status());
  *cover = new cairn_cover{std::move(*entered)};
  return 0;
}

// Completes the renamings that an ended job has left half done. A run calls it before it changes
// names.
Status finish_renamings(const cairn::tier::Cover& cover) {
  return cairn::cluster::finish_renamings(*cover.fs, cover.path);
}

// Removes what is kept outside the pool for a cover that is discarded.
Status forget(const cairn::tier::Cover& cover) {
  // A cover whose directory is missing has no parts and no renamings.
  cairn::tier::sys::FileStat st;
  if (cairn::tier::sys::lstatat(AT_FDCWD, cover.path.c_str(), &st) != 0 || !S_ISDIR(st.st_mode))
    return Status();
  CAIRN_TRY(cairn::cluster::forget_renamings(*cover.fs, cover.path));
  return cairn::cluster::forget_parts(cover);
}

cairn_cover_info info_of(const cairn::tier::CoverState& state, const char* directory,
                         const char* job) {
  cairn_cover_info info = {};
  info.struct_size = sizeof info;
  info.all_drained = state.all_drained ? 1 : 0;
  info.undrained_bytes = state.undrained_bytes;
  info.undrained_files = state.undrained_files;
  info.drain_begun_ns = state.drain_begun;
  info.in_use = state.in_use ? 1 : 0;
  info.modes = state.modes;
  info.oldest = state.oldest.c_str();
  info.oldest_changed_ns = state.oldest_time;
  info.left_out = state.left_out;
  info.renamed_files = state.renamed;
  info.kept_back = state.kept_back.names;
  info.kept_back_by = state.kept_back.by.c_str();
  info.directory = directory;
  info.job = job;
  info.parts = state.parts;
  return info;
}

// Takes the options that programs compiled with an older header do not have.
void take_rest(const cairn_cover_options& options, const char* directory,
               cairn::tier::OpenOptions* open) {
  if (options.notice != nullptr)
    open->notice = [&options](const char* text) { options.notice(options.notice_context, text); };
  if (options.launch != nullptr) open->launch = cairn::tier::stored_name(options.launch);
  if (options.fresh == 0) return;
  open->left = [&options, directory](const cairn::tier::CoverState& state) {
    if (options.left == nullptr) return;
    const cairn_cover_info info = info_of(state, directory, "");
    options.left(options.context, &info);
  };
  open->before_discard = forget;
}

// Ignores failures, for callers that may drain or discard the cover: the drain tries again and
// reports them.
Status try_to_finish_renamings(const cairn::tier::Cover& cover) {
  finish_renamings(cover).ignore();
  return Status();
}

}  // namespace

namespace cairn::capi {

Status refuse_pool_of_other(const tier::Cover& cover) {
  const pool::Pool& pool = cover.fs->pool;
  tier::sys::FileStat st;
  if (geteuid() != 0 || tier::sys::fstat(pool.segment[0]->fd, &st) < 0 || st.st_uid == 0)
    return Status();
  return fail(EPERM,
              "%s: the pool %s belongs to user %u: root does not write that user's data to the "
              "directory; do it as that user",
              cover.path.c_str(), pool.path.c_str(), st.st_uid);
}

static void tell_of_rights(const tier::Cover& cover, const tier::DrainCalls& calls) {
  if (geteuid() != 0 || !calls.problem || tier::pool_gives_rights(*cover.fs)) return;
  const std::string text =
      cover.path + ": the pool " + cover.fs->pool.path +
      " is on a file system that is mounted nosuid or nodev, or over FUSE: the files that the "
      "drain writes are root's, without set-ID bits, access lists and devices";
  calls.problem(text.c_str());
}

Status finish_renamings_before_drain(const tier::Cover& cover) {
  auto lock = tier::lock_drain(*cover.fs, cover.name);
  CAIRN_TRY(lock.status());
  CAIRN_TRY_ASSIGN(others, tier::has_other_members(cover));
  return others ? Status() : cluster::finish_renamings(*cover.fs, cover.path);
}

Status note_end(tier::Cover& cover, const Status& drained) {
  if (drained.code() == ECANCELED) return drained;
  const SavedFailure saved(drained);
  const Status ended = tier::end_drain(cover);
  return saved.or_of(ended);
}

}  // namespace cairn::capi

extern "C" {

int cairn_cover_open(cairn_pool* pool, const char* directory, const cairn_cover_options* options,
                     cairn_cover** cover) {
  const WriteWindow window;
  cairn::tier::OpenOptions open;
  if (options != nullptr) {
    // Programs that were compiled before there was more.
    if (options->struct_size < offsetof(cairn_cover_options, fresh))
      return code(fail(EINVAL, "cairn_cover_open: invalid struct_size %u", options->struct_size));
    open.keep = options->keep != 0;
    if (options->job != nullptr) open.job = cairn::tier::stored_name(options->job);
    if (options->struct_size >= sizeof(cairn_cover_options)) take_rest(*options, directory, &open);
  }
  open.when_alone = finish_renamings;
  // The lock on covers is released between two tries: a keeper that makes room needs it.
  return give(
      cairn::file::with_room(fs_of(pool),
                             [&] { return cairn::tier::open_cover(fs_of(pool), directory, open); }),
      cover);
}

int cairn_cover_join(cairn_pool* pool, const char* directory, cairn_cover** cover) {
  const WriteWindow window;
  return give(cairn::tier::join_cover(fs_of(pool), directory, try_to_finish_renamings), cover);
}

int cairn_cover_join_kept(cairn_pool* pool, const char* directory, cairn_cover** cover) {
  const WriteWindow window;
  return give(cairn::tier::join_kept(fs_of(pool), directory), cover);
}

void cairn_cover_close(cairn_cover* cover) {
  const WriteWindow window;
  delete cover;
}

int cairn_cover_hold(const cairn_cover* cover) {
  const WriteWindow window;
  auto held = cairn::tier::hold_run(*cover->cover);
  return held.ok() ? *held : code(held.status());
}

cairn_ino cairn_cover_top(const cairn_cover* cover) { return cover->cover->top; }
const char* cairn_cover_path(const cairn_cover* cover) { return cover->cover->path.c_str(); }

// Drains the cover's own files, and then those that several nodes write. Of two errors the first
// one counts.
using Collect = Status (*)(cairn::tier::Cover& cover, const cairn::tier::DrainCalls& calls,
                           cairn::tier::DrainReport* report);
static Status drain_then(Collect collect, cairn::tier::Cover& cover,
                         const cairn::tier::DrainCalls& calls, cairn::tier::DrainReport* report) {
  const Status drained = cairn::tier::drain(cover, calls, report);
  if (drained.code() == ECANCELED) return drained;
  const cairn::SavedFailure saved(drained);
  const Status collected = collect(cover, calls, report);
  if (drained.ok() || collected.code() == ECANCELED) return collected;
  if (collected.ok()) return saved.restored();
  const std::string also = cairn::last_detail();
  return fail(drained.code(), "%s; %s", saved.text().c_str(), also.c_str());
}

// `named`: the caller has said that the directory is the one to drain to.
static Status drain_and_collect(cairn::tier::Cover& cover, bool named,
                                const cairn::tier::DrainCalls& calls,
                                cairn::tier::DrainReport* report) {
  CAIRN_TRY(named ? cairn::tier::accept_covered(cover, calls.problem)
                  : cairn::tier::confirm_covered(cover, calls.problem));
  CAIRN_TRY(finish_renamings_before_drain(cover));
  return drain_then(cairn::cluster::collect, cover, calls, report);
}

static cairn::tier::DrainCalls calls_of(cairn_progress progress, cairn_drain_problem problem,
                                        void* context) {
  cairn::tier::DrainCalls calls;
  if (progress != nullptr)
    calls.progress = [=](uint64_t done, uint64_t total) {
      return progress(context, done, total) == 0;
    };
  if (problem != nullptr) calls.problem = [=](const char* text) { problem(context, text); };
  return calls;
}

static cairn_drain_report report_of(const cairn::tier::DrainReport& result) {
  return {result.files,     result.bytes,  result.removed, result.directories,
          result.conflicts, result.failed, result.waiting};
}

int cairn_cover_drain(cairn_cover* cover, cairn_progress progress, cairn_drain_problem problem,
                      void* context, cairn_drain_report* report) {
  const WriteWindow window;
  const cairn::tier::DrainCalls calls = calls_of(progress, problem, context);
  cairn::tier::DrainReport result;
  Status status = refuse_pool_of_other(*cover->cover);
  if (status.ok()) {
    cairn::capi::tell_of_rights(*cover->cover, calls);
    status = note_end(*cover->cover, drain_and_collect(*cover->cover, false, calls, &result));
  }
  // The report is set after a failure, too: it has what was done before.
  if (report != nullptr) *report = report_of(result);
  return code(status);
}

static Status drain_while_running(cairn::tier::Cover& cover, const cairn::tier::DrainCalls& calls,
                                  cairn::tier::DrainReport* report) {
  CAIRN_TRY(cairn::tier::confirm_covered(cover, calls.problem));
  CAIRN_TRY(finish_renamings_before_drain(cover));
  const cairn::tier::DrainMode mode = calls.while_running->otherwise;
  const bool ahead = mode == cairn::tier::DrainMode::close || mode == cairn::tier::DrainMode::async;
  // A process that waits for room does not wait for what makes none.
  if (!ahead || cairn::file::is_room_wanted(cover.fs->pool))
    return cairn::tier::drain(cover, calls, report);
  return drain_then(cairn::cluster::collect_ahead, cover, calls, report);
}

int cairn_cover_drain_while_running(cairn_cover* cover, cairn_while_running* what,
                                    cairn_progress progress, cairn_drain_problem problem,
                                    void* context, cairn_drain_report* report) {
  const WriteWindow window;
  if (what == nullptr || what->struct_size < sizeof(cairn_while_running))
    return code(fail(EINVAL, "cairn_cover_drain_while_running: invalid struct_size %u",
                     what == nullptr ? 0 : what->struct_size));
  if (what->mode > CAIRN_DRAIN_NEVER)
    return code(fail(EINVAL, "cairn_cover_drain_while_running: invalid mode %u", what->mode));
  cairn::tier::DrainCalls calls = calls_of(progress, problem, context);
  auto mode = static_cast<cairn::tier::DrainMode>(what->mode);
  if (mode == cairn::tier::DrainMode::inherit)
    mode = what->open_too != 0 ? cairn::tier::DrainMode::async : cairn::tier::DrainMode::close;
  calls.while_running = {what->quiet_ns, what->open_too == 0, mode, what->at_end != 0};
  cairn::tier::DrainReport result;
  Status status = refuse_pool_of_other(*cover->cover);
  if (status.ok())
    status = note_end(*cover->cover, drain_while_running(*cover->cover, calls, &result));
  what->postponed_files = result.postponed;
  what->postponed_bytes = result.postponed_bytes;
  if (report != nullptr) *report = report_of(result);
  return code(status);
}

uint64_t cairn_room_promise(cairn_pool* pool) {
  const WriteWindow window;
  return cairn::file::promise_room(*pool->fs);
}

void cairn_room_answer(cairn_pool* pool, uint64_t request) {
  const WriteWindow window;
  cairn::file::answer_room(pool->fs->pool, request);
}

void cairn_room_end(cairn_pool* pool) {
  const WriteWindow window;
  cairn::file::end_promise(pool->fs->pool);
}

int cairn_cover_drain_to(cairn_cover* cover, const char* elsewhere, cairn_progress progress,
                         cairn_drain_problem problem, void* context,
                         cairn_drain_to_report* report) {
  const WriteWindow window;
  if (report != nullptr && report->struct_size < sizeof(cairn_drain_to_report))
    return code(fail(EINVAL, "cairn_cover_drain_to: invalid struct_size %u", report->struct_size));
  const cairn::tier::DrainCalls calls = calls_of(progress, problem, context);
  cairn::tier::DrainToReport result;
  Status status = refuse_pool_of_other(*cover->cover);
  if (status.ok()) status = cairn::tier::find_elsewhere(*cover->cover, elsewhere, &result);
  if (status.ok()) cairn::capi::tell_of_rights(*cover->cover, calls);
  if (status.ok())
    status = result.is_covered ? drain_and_collect(*cover->cover, true, calls, &result.drained)
                               : cairn::tier::drain_to(*cover->cover, calls, &result);
  if (report != nullptr) {
    report->is_covered = result.is_covered ? 1 : 0;
    report->is_lost = result.is_lost ? 1 : 0;
    report->drained = report_of(result.drained);
    report->missing = result.missing;
    report->missing_parts = result.missing_parts;
  }
  return code(status);
}

int cairn_cover_discard(cairn_cover* cover) {
  const WriteWindow window;
  if (const Status refused = refuse_pool_of_other(*cover->cover); !refused.ok())
    return code(refused);
  const Status status =
      cairn::tier::discard_cover(*cover->cover, false, [cover] { return forget(*cover->cover); });
  if (status.ok()) delete cover;
  return code(status);
}

int cairn_cover_end(cairn_cover* cover) {
  const WriteWindow window;
  if (const Status refused = refuse_pool_of_other(*cover->cover); !refused.ok())
    return code(refused);
  const Status status = cairn::tier::discard_cover(*cover->cover, true);
  if (status.ok()) delete cover;
  return code(status);
}

int cairn_cover_free_claim(const char* directory, int forced) {
  const WriteWindow window;
  return code(cairn::tier::free_claim(directory, forced != 0, cairn::tier::holds_data));
}

int cairn_cover_others(cairn_pool* pool, const char* directory, cairn_cover_visit_other visit,
                       void* context) {
  const WriteWindow window;
  auto claims = cairn::tier::other_claims(fs_of(pool), directory);
  if (!claims.ok()) return code(claims.status());
  for (const cairn::tier::Claim& claim : *claims) {
    cairn_cover_other other = {};
    other.struct_size = sizeof other;
    constexpr size_t digits = 16;
    for (size_t i = 0; i < 2 && claim.uuid.size() == 2 * digits; ++i) {
      const uint64_t word =
          std::strtoull(claim.uuid.substr(i * digits, digits).c_str(), nullptr, 16);
      std::memcpy(other.uuid + i * sizeof word, &word, sizeof word);
    }
    other.host = claim.host.c_str();
    other.pool = claim.pool.c_str();
    other.job = claim.job.c_str();
    visit(context, &other);
  }
  return 0;
}

// A cover without a record is being removed, with its inodes.
static bool still_there(cairn::file::FileSystem& fs, const std::string& name) {
  auto covers = cairn::tier::find_covers(fs, false);
  return covers.ok() && *covers != 0 && cairn::tier::read_record(fs, *covers, name).ok();
}

int cairn_cover_list(cairn_pool* pool, cairn_cover_visit visit, void* context) {
  const WriteWindow window;
  auto& fs = fs_of(pool);
  return code(cairn::tier::for_each_record(
      fs, [&](const std::string& name, const cairn::tier::CoverRecord& record) -> Status {
        auto state = cairn::tier::state_of_cover(fs, name);
        // It may have ended meanwhile, and another run may have begun it anew.
        for (int tries = 0; state.code() == ESTALE && still_there(fs, name) && tries < 5; ++tries)
          state = cairn::tier::state_of_cover(fs, name);
        if (!state.ok()) return still_there(fs, name) ? state.status() : cairn::Status();
        if (state->all_drained && cairn::cluster::is_held_up(fs, record.path, name))
          state->all_drained = false;
        const cairn_cover_info info = info_of(*state, record.path.c_str(), record.job.c_str());
        visit(context, &info);
        return Status();
      }));
}

int cairn_cover_undrained(cairn_pool* pool, const char* directory, cairn_cover_visit_file visit,
                          void* context) {
  const WriteWindow window;
  auto& fs = fs_of(pool);
  auto covers = cairn::tier::find_covers(fs, false);
  if (!covers.ok()) return code(covers.status());
  auto top = *covers == 0
                 ? covers
                 : cairn::tier::find_child(fs, *covers, cairn::tier::cover_name(directory));
  if (!top.ok()) return code(top.status());
  if (*top == 0)
    return code(fail(ENOENT, "%s is not covered by pool %s", directory, fs.pool.path.c_str()));
  return code(cairn::tier::for_each_undrained(
      fs, *top, [&](const std::string& path, uint64_t bytes, bool is_older) {
        return visit(context, path.c_str(), bytes, is_older ? 1 : 0) == 0;
      }));
}

}  // extern "C"
