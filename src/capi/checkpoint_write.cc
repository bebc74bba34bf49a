// C API: writing versions (include/cairn/checkpoint.h).
#include "cairn/checkpoint.h"
#include "capi/checkpoint_context.h"

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
  checkpoint->answers->note_version();
  return checkpoint->writer->write(checkpoint->agreed, checkpoint->definitions, facts);
}

Status check_level(uint32_t level) {
  if (level == CAIRN_LEVEL_STAGED || level == CAIRN_LEVEL_LOCAL) return Status();
  return fail(EOPNOTSUPP, "level %u: this release has STAGED (1) and LOCAL (2)", level);
}

cairn_checkpoint_progress progress_of(const cairn_checkpoint& checkpoint,
                                      const ckpt::Outcome& outcome, bool is_decided) {
  cairn_checkpoint_progress progress{};
  progress.level = CAIRN_LEVEL_STAGED;
  progress.bytes = outcome.bytes;
  progress.level_ns[CAIRN_LEVEL_STAGED] = outcome.staged_ns - outcome.begun_ns;
  if (is_decided && outcome.is_committed) {
    progress.level = CAIRN_LEVEL_LOCAL;
    progress.survives = checkpoint.survives();
    progress.level_ns[CAIRN_LEVEL_LOCAL] = outcome.local_ns - outcome.begun_ns;
  } else if (is_decided) {
    progress.error = -outcome.error;
  }
  return progress;
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
  const Status own = checkpoint->writer->status();
  return own.ok() ? 0 : code(fail(own.code(), "%s", checkpoint->writer->text().c_str()));
}

int cairn_checkpoint_write(cairn_checkpoint* checkpoint, int64_t version) {
  const WriteWindow window;
  if (const Status runs = cairn_checkpoint::check_runs(checkpoint); !runs.ok()) return code(runs);
  const auto sequence = stage(checkpoint, version);
  if (!sequence.ok()) return code(sequence.status());
  if (const Status waited = checkpoint->writer->wait(*sequence, 0); !waited.ok())
    return code(waited);
  return code(checkpoint->told(*sequence));
}

int cairn_checkpoint_test(cairn_checkpoint* checkpoint, cairn_checkpoint_handle handle,
                          uint32_t level, cairn_checkpoint_progress* progress) {
  const WriteWindow window;
  if (const Status runs = cairn_checkpoint::check_runs(checkpoint); !runs.ok()) return code(runs);
  if (const Status known = check_level(level); !known.ok()) return code(known);
  const auto is_decided = checkpoint->writer->test(handle);
  if (!is_decided.ok()) return code(is_decided.status());
  const ckpt::Outcome* const outcome = checkpoint->writer->outcome(handle);
  if (outcome == nullptr) return code(fail(ENOENT, "this version is too old to be known"));
  cairn::capi::copy_out(progress_of(*checkpoint, *outcome, *is_decided), progress);
  if (level == CAIRN_LEVEL_STAGED) return 1;
  if (!*is_decided) return 0;
  const Status told = checkpoint->told(handle);
  return told.ok() ? 1 : code(told);
}

int cairn_checkpoint_wait(cairn_checkpoint* checkpoint, cairn_checkpoint_handle handle,
                          uint32_t level, uint32_t timeout_ms) {
  const WriteWindow window;
  if (const Status runs = cairn_checkpoint::check_runs(checkpoint); !runs.ok()) return code(runs);
  if (const Status known = check_level(level); !known.ok()) return code(known);
  if (level == CAIRN_LEVEL_STAGED) {
    const auto tested = checkpoint->writer->test(handle);
    return tested.ok() ? 0 : code(tested.status());
  }
  const Status waited = checkpoint->writer->wait(handle, timeout_ms * ns_of_ms);
  return waited.ok() ? code(checkpoint->told(handle)) : code(waited);
}

}  // extern "C"
