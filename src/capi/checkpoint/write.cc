// C API: writing versions (include/cairn/checkpoint.h).
#include "base/saved_failure.h"
#include "cairn/checkpoint.h"
#include "capi/context/context.h"

using cairn::fail;
using cairn::Result;
using cairn::Status;
using cairn::capi::check_given;
using cairn::capi::code;
namespace ckpt = cairn::checkpoint;

namespace {

constexpr uint64_t ns_of_ms = 1'000'000;

// Stages this rank's bytes; the sequence, though this rank may have failed.
Result<uint64_t> stage(cairn_checkpoint* checkpoint, int64_t version) {
  if (version == CAIRN_CHECKPOINT_LATEST)
    return fail(EINVAL, "CAIRN_CHECKPOINT_LATEST is not a number of a version");
  CAIRN_TRY(checkpoint->check_may_write());
  CAIRN_TRY(checkpoint->agree_on_contents());
  ckpt::VersionFacts facts;
  facts.number = version;
  facts.step = checkpoint->step.value_or(version);
  facts.code_version = checkpoint->code_version;
  facts.attributes = checkpoint->attributes;
  checkpoint->due_vote->note_version();
  const uint64_t sequence =
      checkpoint->writer->write(checkpoint->agreed, checkpoint->definitions, facts);
  checkpoint->copy_when_committed(version);
  return sequence;
}

Status check_level(const cairn_checkpoint& checkpoint, uint32_t level) {
  if (level == CAIRN_LEVEL_STAGED || level == CAIRN_LEVEL_LOCAL) return Status();
  if (level == CAIRN_LEVEL_PARTNER) return checkpoint.check_partners();
  if (level != CAIRN_LEVEL_GLOBAL)
    return fail(EOPNOTSUPP, "level %u: there are STAGED (1), LOCAL (2), PARTNER (3) and GLOBAL (4)",
                level);
  if (checkpoint.lower.empty()) return fail(EINVAL, "level GLOBAL: options.lower is not set");
  return Status();
}

// What a call returns, once the observer knows what it has learnt.
int done(cairn_checkpoint* checkpoint, Status status) {
  const cairn::SavedFailure saved(status);
  checkpoint->tell_observer();
  return code(saved.restored());
}

}  // namespace

extern "C" {

int cairn_checkpoint_iwrite(cairn_checkpoint* checkpoint, int64_t version,
                            cairn_checkpoint_handle* handle) {
  const WriteWindow window;
  if (const Status runs = cairn_checkpoint::check_runs(checkpoint); !runs.ok()) return code(runs);
  if (const Status given = check_given(handle, "handle"); !given.ok()) return code(given);
  *handle = 0;
  const auto sequence = stage(checkpoint, version);
  if (!sequence.ok()) return code(sequence.status());
  *handle = *sequence;
  checkpoint->tell_observer();
  const Status own = checkpoint->writer->status();
  if (own.ok()) return 0;
  const std::string room = own.code() == ENOSPC ? "; " + checkpoint->shown_room() : std::string();
  return code(fail(own.code(), "%s%s", checkpoint->writer->text().c_str(), room.c_str()));
}

int cairn_checkpoint_write(cairn_checkpoint* checkpoint, int64_t version) {
  const WriteWindow window;
  if (const Status runs = cairn_checkpoint::check_runs(checkpoint); !runs.ok()) return code(runs);
  const auto sequence = stage(checkpoint, version);
  if (!sequence.ok()) return code(sequence.status());
  if (const Status waited = checkpoint->writer->wait(*sequence, 0); !waited.ok())
    return code(waited);
  Status status = checkpoint->told(*sequence);
  if (status.ok() && checkpoint->wants_partners() && checkpoint->can_have_partners()) {
    checkpoint->tell_observer();
    status = checkpoint->wait_for_partners(*sequence);
  }
  return done(checkpoint, status);
}

int cairn_checkpoint_test(cairn_checkpoint* checkpoint, cairn_checkpoint_handle handle,
                          uint32_t level, cairn_checkpoint_progress* progress) {
  const WriteWindow window;
  if (const Status runs = cairn_checkpoint::check_runs(checkpoint); !runs.ok()) return code(runs);
  if (const Status known = check_level(*checkpoint, level); !known.ok()) return code(known);
  const auto is_decided = checkpoint->writer->test(handle);
  if (!is_decided.ok()) return code(is_decided.status());
  if (checkpoint->writer->outcome(handle) == nullptr)
    return code(fail(ENOENT, "this version is too old to be known"));
  checkpoint->tell_observer();
  cairn::capi::copy_out(checkpoint->progress_of(handle, *is_decided), progress);
  if (level == CAIRN_LEVEL_STAGED) return 1;
  if (!*is_decided) return 0;
  const Status told = checkpoint->told(handle);
  if (!told.ok()) return code(told);
  if (level == CAIRN_LEVEL_PARTNER) return checkpoint->has_partners(handle) ? 1 : 0;
  if (level == CAIRN_LEVEL_LOCAL || checkpoint->is_global(handle)) return 1;
  const Status copied = checkpoint->told_of_copy(handle);
  return copied.ok() ? 0 : code(copied);
}

int cairn_checkpoint_wait(cairn_checkpoint* checkpoint, cairn_checkpoint_handle handle,
                          uint32_t level, uint32_t timeout_ms) {
  const WriteWindow window;
  if (const Status runs = cairn_checkpoint::check_runs(checkpoint); !runs.ok()) return code(runs);
  if (const Status known = check_level(*checkpoint, level); !known.ok()) return code(known);
  if (level == CAIRN_LEVEL_STAGED) {
    const auto tested = checkpoint->writer->test(handle);
    return tested.ok() ? 0 : code(tested.status());
  }
  // The others are collective: a rank that left here would leave them waiting.
  const uint64_t timeout_ns = level == CAIRN_LEVEL_LOCAL ? timeout_ms * ns_of_ms : 0;
  const Status waited = checkpoint->writer->wait(handle, timeout_ns);
  if (!waited.ok()) return code(waited);
  Status status = checkpoint->told(handle);
  if (status.ok() && level == CAIRN_LEVEL_PARTNER) {
    checkpoint->tell_observer();
    status = checkpoint->wait_for_partners(handle);
  }
  if (status.ok() && level == CAIRN_LEVEL_GLOBAL) status = checkpoint->wait_for_global(handle);
  return done(checkpoint, status);
}

}  // extern "C"
