// C API: what is known of a version's levels, and who is told (include/cairn/checkpoint.h).
#include "base/saved_failure.h"
#include "cairn/checkpoint.h"
#include "capi/context/context.h"
#include "checkpoint/sources/lower_copy.h"

using cairn::fail;
using cairn::Result;
using cairn::Status;
using cairn::capi::code;
namespace ckpt = cairn::checkpoint;

uint64_t cairn_checkpoint::global_ns(uint64_t sequence) {
  const ckpt::KnownVersion* const known = catalogue.find(sequence);
  if (known == nullptr || known->any_slot() == 0) return 0;
  const auto slot = slot_cache->get(known->any_slot());
  if (!slot.ok()) return 0;
  const auto word = (*slot)->word(ckpt::global_offset);
  return word.ok() ? (*word)->load() : 0;
}

bool cairn_checkpoint::is_global(uint64_t sequence) {
  const ckpt::KnownVersion* const known = catalogue.find(sequence);
  if (known == nullptr || lower.empty()) return false;
  // That says that it was copied to a directory, not to which one.
  if (known->any_slot() != 0 && global_ns(sequence) == 0) return false;
  const auto there = open_lower();
  return there.ok() && ckpt::is_listed(*there, known->version);
}

cairn_checkpoint_progress cairn_checkpoint::progress_of(uint64_t sequence, bool is_decided) {
  cairn_checkpoint_progress progress{};
  progress.struct_size = sizeof progress;
  progress.level = CAIRN_LEVEL_STAGED;
  const ckpt::Outcome* const outcome = writer->outcome(sequence);
  if (outcome == nullptr) return progress;
  progress.bytes = outcome->bytes;
  progress.level_ns[CAIRN_LEVEL_STAGED] = outcome->staged_ns - outcome->begun_ns;
  if (is_decided && outcome->is_committed) {
    progress.level = CAIRN_LEVEL_LOCAL;
    progress.survives = survives();
    progress.level_ns[CAIRN_LEVEL_LOCAL] = outcome->local_ns - outcome->begun_ns;
    if (has_partners(sequence)) {
      progress.level = CAIRN_LEVEL_PARTNER;
      progress.survives |= CAIRN_SURVIVES_NODE;
      if (outcome->partner_ns != 0)
        progress.level_ns[CAIRN_LEVEL_PARTNER] = outcome->partner_ns - outcome->begun_ns;
    } else if (wants_partners()) {
      progress.error = can_have_partners() ? -outcome->partner_error : -EOPNOTSUPP;
    }
    if (is_global(sequence)) {
      progress.level = CAIRN_LEVEL_GLOBAL;
      progress.survives |= CAIRN_SURVIVES_POWER | CAIRN_SURVIVES_POOLS;
      const ckpt::KnownVersion* const known = catalogue.find(sequence);
      const uint64_t reached = global_ns(sequence);
      if (known != nullptr && reached > known->version.begun)
        progress.level_ns[CAIRN_LEVEL_GLOBAL] = reached - known->version.begun;
    } else if (progress.error == 0) {
      progress.error = -error_of_copy(sequence);
    }
  } else if (is_decided) {
    progress.error = -outcome->error;
  }
  return progress;
}

void cairn_checkpoint::tell_observer() {
  if (observer == nullptr) {
    observed_staged = observed_decided = observed_global = writer->sequence();
    return;
  }
  const auto tell = [&](uint64_t sequence, bool is_decided) {
    const ckpt::Outcome* const outcome = writer->outcome(sequence);
    if (outcome == nullptr) return;
    const cairn_checkpoint_progress progress = progress_of(sequence, is_decided);
    observer(observer_context, sequence, outcome->number, &progress);
  };
  while (observed_staged < writer->sequence()) tell(++observed_staged, false);
  while (observed_decided < writer->sequence()) {
    const auto is_decided = writer->test(observed_decided + 1);
    if (is_decided.ok() && !*is_decided) return;
    tell(++observed_decided, true);
    if (is_global(observed_decided)) observed_global = observed_decided;  // it was told so
  }
  if ((options.flags & CAIRN_CHECKPOINT_BACKGROUND) == 0) return;
  const auto& versions = catalogue.versions();
  for (auto known = versions.rbegin(); known != versions.rend(); ++known) {
    const uint64_t sequence = known->version.sequence;
    if (sequence <= observed_global) return;
    if (!is_global(sequence)) continue;
    observed_global = sequence;
    tell(sequence, true);
  }
}

Status cairn_checkpoint::meet_in_lower(uint64_t sequence) {
  // Leaders exchange one thing at a time.
  if (nodes) CAIRN_TRY(settle_last());
  Status own;
  if (run->is_leader()) own = drain_to_lower(sequence);  // which reads a copy that is there
  const cairn::SavedFailure saved(own);
  const auto met = run->barrier_max(ckpt::Run::Purpose::restart, own.code(), writer->sequence());
  if (!own.ok()) return saved.restored();
  if (!met.ok()) return met.status();
  if (*met == 0) return Status();
  return fail(static_cast<int>(*met), "%s could not copy the version to lower: %s",
              nodes ? "the leader of a host" : "rank 0", strerror(static_cast<int>(*met)));
}

Status cairn_checkpoint::wait_for_global(uint64_t sequence) {
  CAIRN_TRY(meet_in_lower(sequence));
  const ckpt::Outcome* const outcome = writer->outcome(sequence);
  if (observer != nullptr && outcome != nullptr) {
    const cairn_checkpoint_progress progress = progress_of(sequence, true);
    observer(observer_context, sequence, outcome->number, &progress);
    observed_global = std::max(observed_global, sequence);
  }
  return Status();
}

Result<int64_t> cairn_checkpoint::meet_on_exit(int64_t reason) {
  CAIRN_TRY(settle_last());
  return run->barrier_max(ckpt::Run::Purpose::exit, reason, writer->sequence());
}

extern "C" int cairn_checkpoint_observe(cairn_checkpoint* checkpoint,
                                        cairn_checkpoint_observer observer, void* context) {
  const WriteWindow window;
  if (const Status runs = cairn_checkpoint::check_runs(checkpoint); !runs.ok()) return code(runs);
  checkpoint->tell_observer();
  checkpoint->observer = observer;
  checkpoint->observer_context = context;
  return 0;
}
