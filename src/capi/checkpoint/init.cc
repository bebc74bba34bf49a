// C API: the life of a checkpoint context (include/cairn/checkpoint.h), and need().
#include "base/saved_failure.h"
#include "cairn/checkpoint.h"
#include "capi/context/context.h"

using cairn::fail;
using cairn::Status;
using cairn::capi::check_flags;
using cairn::capi::check_given;
using cairn::capi::code;

namespace {

Status check_options(const cairn_checkpoint_options& options) {
  CAIRN_TRY(check_flags(options.flags,
                        CAIRN_CHECKPOINT_FRESH | CAIRN_CHECKPOINT_LOOK | CAIRN_CHECKPOINT_SIGNALS |
                            CAIRN_CHECKPOINT_PARTNER | CAIRN_CHECKPOINT_CYCLIC |
                            CAIRN_CHECKPOINT_BACKGROUND | CAIRN_CHECKPOINT_DROP_COPIES,
                        "cairn_checkpoint_init"));
  constexpr uint32_t least = 256U << 10;
  const uint32_t block = options.block_size;
  if (block != 0 && block != least && block != 2 * least && block != 4 * least)
    return fail(EINVAL, "options: block_size %u: expected 256 KiB, 512 KiB or 1 MiB", block);
  const bool has_lower = options.lower != nullptr && options.lower[0] != 0;
  if ((options.flags & CAIRN_CHECKPOINT_BACKGROUND) != 0 && !has_lower)
    return fail(EINVAL, "options: CAIRN_CHECKPOINT_BACKGROUND: lower is not set");
  if (options.code_version != nullptr && std::strlen(options.code_version) > 63)
    return fail(EINVAL, "options: code_version: at most 63 bytes");
  return Status();
}

}  // namespace

extern "C" {

int cairn_checkpoint_init(const char* name, int communicator,
                          const cairn_checkpoint_options* options, cairn_checkpoint** checkpoint) {
  const WriteWindow window;
  if (const Status given = check_given(name, "the set's name"); !given.ok()) return code(given);
  if (const Status given = check_given(checkpoint, "checkpoint"); !given.ok()) return code(given);
  *checkpoint = nullptr;
  const auto copied = cairn::capi::copy_in(options, "options");
  if (!copied.ok()) return code(copied.status());
  if (const Status known = check_options(*copied); !known.ok()) return code(known);
  auto context = std::make_unique<cairn_checkpoint>();
  context->options = *copied;
  if (copied->code_version != nullptr) context->code_version = copied->code_version;
  if (copied->lower != nullptr) context->lower = copied->lower;
  context->exit_watch.emplace(cairn::capi::ExitWatch::Options{
      (copied->flags & CAIRN_CHECKPOINT_SIGNALS) != 0, copied->end_time_ns,
      copied->halt_file == nullptr ? "" : copied->halt_file});
  if (const Status opened = context->open(name, communicator); !opened.ok()) {
    const cairn::SavedFailure saved(opened);
    context.reset();
    return code(annotate(saved.restored(), "checkpoint %s", name));
  }
  *checkpoint = context.release();
  return 0;
}

int cairn_checkpoint_finalize(cairn_checkpoint* checkpoint) {
  const WriteWindow window;
  if (checkpoint == nullptr) return 0;
  const Status closed = checkpoint->close();
  const cairn::SavedFailure saved(closed);
  delete checkpoint;
  return code(saved.restored());
}

int cairn_checkpoint_need(cairn_checkpoint* checkpoint, int64_t step) {
  const WriteWindow window;
  if (const Status runs = cairn_checkpoint::check_runs(checkpoint); !runs.ok()) return code(runs);
  const auto answer = checkpoint->due_vote->need(step);
  if (!answer.ok()) return code(answer.status());
  checkpoint->step = step;
  return *answer ? 1 : 0;
}

}  // extern "C"
