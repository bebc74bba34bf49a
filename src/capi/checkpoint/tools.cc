// C API: what tools do with the sets of a pool: verify, drop, drain and restore versions, and list
// sets (include/cairn/checkpoint.h).
#include "capi/checkpoint/handle.h"
#include "checkpoint/redundancy/restore_set.h"
#include "checkpoint/run/ended_program.h"
#include "checkpoint/run/set_user.h"
#include "checkpoint/store/set_names.h"

using cairn::annotate;
using cairn::fail;
using cairn::Result;
using cairn::Status;
using cairn::capi::check_flags;
using cairn::capi::check_given;
using cairn::capi::code;
using cairn::capi::fs_of;
using cairn::capi::number_of;
namespace ckpt = cairn::checkpoint;

namespace {

Status verify(ckpt::CheckpointSession* session, int64_t version, cairn_checkpoint_verified* to) {
  CAIRN_TRY_ASSIGN(found, session->verify(number_of(version)));
  cairn_checkpoint_verified verified{};
  verified.bytes = found.bytes;
  verified.blocks = found.blocks;
  verified.bad_blocks = found.bad_blocks;
  cairn::capi::copy_text(found.why, verified.why);
  cairn::capi::copy_out(verified, to);
  return found.bad_blocks == 0 ? Status() : fail(EUCLEAN, "%s", found.why.c_str());
}

Status drop(cairn_checkpoint* checkpoint, int64_t version, uint32_t flags) {
  CAIRN_TRY(check_given(checkpoint, "checkpoint"));
  CAIRN_TRY(check_flags(flags, CAIRN_DROP_LAST | CAIRN_DROP_SET | CAIRN_DROP_DAMAGED,
                        "cairn_checkpoint_drop"));
  ckpt::CheckpointSession& session = checkpoint->session;
  if (session.run() != nullptr) return session.run()->drop(number_of(version), flags == 0);
  const bool is_forced = (flags & CAIRN_DROP_LAST) != 0;
  if ((flags & CAIRN_DROP_SET) != 0) return session.drop_set(is_forced);
  if ((flags & CAIRN_DROP_DAMAGED) != 0) return session.drop_damaged();
  return session.drop(number_of(version), is_forced);
}

int restore(cairn_pool* pool, const char* name, const char* directory, bool is_earlier,
            cairn_checkpoint_info* info) {
  if (const Status given = check_given(pool, "pool"); !given.ok()) return code(given);
  if (const Status given = check_given(name, "the set's name"); !given.ok()) return code(given);
  if (const Status given = check_given(directory, "directory"); !given.ok()) return code(given);
  const auto restored = ckpt::restore_set(fs_of(pool), name, directory, is_earlier);
  if (!restored.ok()) return code(annotate(restored.status(), "checkpoint %s", name));
  cairn_checkpoint_info shown{};
  shown.number = restored->number;
  shown.sequence = restored->sequence;
  shown.bytes = restored->bytes;
  shown.level = CAIRN_LEVEL_GLOBAL;
  shown.skipped = restored->skipped;
  cairn::capi::copy_text(restored->why, shown.why);
  cairn::capi::copy_out(shown, info);
  return 0;
}

int visit_set(cairn::file::FileSystem& fs, const std::string& name,
              cairn_checkpoint_set_visit visit, void* context) {
  const auto state = ckpt::describe_set(fs, name);
  if (!state.ok()) return 0;
  cairn_checkpoint_set shown{};
  shown.struct_size = sizeof shown;
  shown.is_damaged = state->why.empty() ? 0 : 1;
  shown.name = name.c_str();
  shown.created_ns = state->created_ns;
  shown.user = state->user.pid;
  shown.command = state->user.command.c_str();
  shown.why = state->why.c_str();
  return visit(context, &shown);
}

}  // namespace

extern "C" {

int cairn_checkpoint_verify(cairn_checkpoint* checkpoint, int64_t version,
                            cairn_checkpoint_verified* verified) {
  const WriteWindow window;
  if (const Status given = check_given(checkpoint, "checkpoint"); !given.ok()) return code(given);
  ckpt::CheckpointSession& session = checkpoint->session;
  return code(session.with_way_back(verify(&session, version, verified)));
}

int cairn_checkpoint_drop(cairn_checkpoint* checkpoint, int64_t version, uint32_t flags) {
  const WriteWindow window;
  return code(drop(checkpoint, version, flags));
}

int cairn_checkpoint_drain(cairn_checkpoint* checkpoint, int64_t version, const char* directory,
                           uint32_t keep) {
  const WriteWindow window;
  if (const Status given = check_given(checkpoint, "checkpoint"); !given.ok()) return code(given);
  if (const Status given = check_given(directory, "directory"); !given.ok()) return code(given);
  ckpt::CheckpointSession& session = checkpoint->session;
  const auto missing = session.drain(number_of(version), directory, keep);
  return missing.ok() ? static_cast<int>(*missing) : code(session.with_way_back(missing.status()));
}

int cairn_checkpoint_restore(cairn_pool* pool, const char* name, const char* directory,
                             cairn_checkpoint_info* info) {
  const WriteWindow window;
  return restore(pool, name, directory, false, info);
}

int cairn_checkpoint_restore_earlier(cairn_pool* pool, const char* name, const char* directory,
                                     cairn_checkpoint_info* info) {
  const WriteWindow window;
  return restore(pool, name, directory, true, info);
}

int cairn_checkpoint_sets(cairn_pool* pool, cairn_checkpoint_set_visit visit, void* context) {
  const WriteWindow window;
  if (const Status given = check_given(pool, "pool"); !given.ok()) return code(given);
  if (visit == nullptr) return code(fail(EFAULT, "visit is NULL"));
  const auto names = ckpt::list_sets(fs_of(pool));
  if (!names.ok()) return code(names.status());
  for (const std::string& name : *names)
    if (const int result = visit_set(fs_of(pool), name, visit, context); result != 0) return result;
  return 0;
}

int cairn_checkpoint_program_ended(cairn_pool* pool, const char* run, uint32_t end) {
  const WriteWindow window;
  if (const Status given = check_given(pool, "pool"); !given.ok()) return code(given);
  if (const Status given = check_given(run, "run"); !given.ok()) return code(given);
  if (end != CAIRN_ENDED_BY_ITSELF && end != CAIRN_ENDED_FROM_OUTSIDE)
    return code(fail(EINVAL, "end %u: expected CAIRN_ENDED_...", end));
  return code(ckpt::note_ended_program(
      fs_of(pool), ckpt::launcher_of(run),
      end == CAIRN_ENDED_FROM_OUTSIDE ? ckpt::RunEnd::from_outside : ckpt::RunEnd::by_itself));
}

}  // extern "C"
