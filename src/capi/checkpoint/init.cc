// C API: the life of a checkpoint context (include/cairn/checkpoint.h), need() and should_exit().
#include "base/saved_failure.h"
#include "capi/checkpoint/handle.h"
#include "capi/checkpoint/program_transport.h"
#include "checkpoint/record/text.h"
#include "checkpoint/store/set_record.h"

using cairn::fail;
using cairn::Status;
using cairn::capi::check_flags;
using cairn::capi::check_given;
using cairn::capi::check_runs;
using cairn::capi::code;
using cairn::capi::fs_of;
namespace ckpt = cairn::checkpoint;

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

ckpt::SessionOptions options_of(const cairn_checkpoint_options& from) {
  constexpr uint32_t default_keep = 2;
  constexpr uint32_t default_attempts = 5;
  const auto text_of = [](const char* text) { return std::string(text == nullptr ? "" : text); };
  const auto has = [&](uint32_t flag) { return (from.flags & flag) != 0; };
  ckpt::SessionOptions options;
  options.member = {from.rank, from.ranks, text_of(from.job), from.timeout_ms};
  options.exit = {has(CAIRN_CHECKPOINT_SIGNALS), from.end_time_ns, text_of(from.halt_file),
                  from.exit_margin_ns, from.mtbf_ns};
  options.lower = {
      text_of(from.lower),
      {from.lower_keep == 0 ? default_keep : from.lower_keep, has(CAIRN_CHECKPOINT_DROP_COPIES)},
      has(CAIRN_CHECKPOINT_BACKGROUND),
      from.lower_multiple};
  options.retention = {from.keep == 0 ? default_keep : from.keep, from.keep_multiple,
                       from.keep_period_ns};
  options.code_version = text_of(from.code_version);
  options.interval_ns = from.interval_ns;
  options.max_attempts = from.max_attempts == 0 ? default_attempts : from.max_attempts;
  options.block_bytes = from.block_size;
  options.is_fresh = has(CAIRN_CHECKPOINT_FRESH);
  options.wants_partners = has(CAIRN_CHECKPOINT_PARTNER);
  options.is_cyclic = has(CAIRN_CHECKPOINT_CYCLIC);
  return options;
}

Status open(cairn_checkpoint* context, const char* name, int communicator,
            const cairn_checkpoint_options& options) {
  const bool looks = (options.flags & CAIRN_CHECKPOINT_LOOK) != 0;
  const bool has_communicator = communicator != CAIRN_NO_COMMUNICATOR;
  if (looks && (has_communicator || options.ranks > 1))
    return fail(EINVAL, "a context that looks is of one process");
  Status own = ckpt::check_set_name(name);
  if (own.ok()) own = context->pool.find(options.pool, !looks);
  cairn_pool* const pool = context->pool.get();
  if (looks) {
    CAIRN_TRY(own);
    return context->session.open_to_look(fs_of(pool), name);
  }
  if (own.ok()) own = fs_of(pool).pool.check_writable();
  std::unique_ptr<ckpt::RunTransport> transport;
  if (has_communicator)
    transport = std::make_unique<cairn::capi::ProgramTransport>(communicator, pool);
  return context->session.open(pool == nullptr ? nullptr : &fs_of(pool), name, std::move(transport),
                               own);
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
  auto context = std::make_unique<cairn_checkpoint>(options_of(*copied));
  if (const Status opened = open(context.get(), name, communicator, *copied); !opened.ok()) {
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
  const Status closed = checkpoint->session.close();
  const cairn::SavedFailure saved(closed);
  delete checkpoint;
  return code(saved.restored());
}

int cairn_checkpoint_need(cairn_checkpoint* checkpoint, int64_t step) {
  const WriteWindow window;
  if (const Status runs = check_runs(checkpoint); !runs.ok()) return code(runs);
  const auto is_due = checkpoint->session.run()->need(step);
  return is_due.ok() ? *is_due : code(is_due.status());
}

int cairn_checkpoint_should_exit(cairn_checkpoint* checkpoint, cairn_checkpoint_outlook* outlook) {
  const WriteWindow window;
  if (const Status runs = check_runs(checkpoint); !runs.ok()) return code(runs);
  const auto seen = checkpoint->session.run()->look_ahead();
  if (!seen.ok()) return code(seen.status());
  cairn_checkpoint_outlook shown{};
  shown.reason = seen->reason;
  shown.signal = static_cast<uint32_t>(seen->signal);
  shown.left_ns = seen->left_ns;
  shown.cost_ns = seen->cost_ns;
  shown.interval_ns = seen->interval_ns;
  cairn::capi::copy_text(seen->text, shown.text);
  cairn::capi::copy_out(shown, outlook);
  return seen->reason == ckpt::ExitWatch::none ? 0 : 1;
}

}  // extern "C"
