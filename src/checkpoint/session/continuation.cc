#include "checkpoint/session/continuation.h"

#include <signal.h>  // NOLINT: SIGTERM

#include "checkpoint/record/way_back.h"
#include "checkpoint/session/exit_watch.h"

namespace cairn::checkpoint {

Continuation::Continuation(Run* run, SetView* view, Writer* writer, const Definitions* definitions,
                           RestartOptions options, SkippedVersions in_lower)
    : run_(*run),
      view_(*view),
      writer_(*writer),
      definitions_(*definitions),
      options_(std::move(options)),
      in_lower_(std::move(in_lower)),
      may_write_(options_.is_fresh || view->catalogue()->versions().empty()),
      passed_to_(options_.is_fresh ? run->last_sequence() : 0) {
  writer_.continue_from(lineage_anew(run->last_sequence()));
  if (options_.is_fresh) writer_.retirement().drop_damaged_with_next();
}

Status Continuation::check_may_write() const {
  if (may_write_) return Status();
  return fail(EEXIST,
              "the set has versions that this run has not read; read one, or begin anew with "
              "CAIRN_CHECKPOINT_FRESH");
}

Restart Continuation::restart() {
  return {&run_, view_.slot_cache(), view_.catalogue(), &definitions_};
}

RestartRequest Continuation::request(const VersionNumber& number) const {
  RestartRequest request;
  request.number = number;
  request.max_attempts = options_.max_attempts;
  request.is_cyclic = options_.is_cyclic;
  request.way_back = get_copy_back(view_.set().name(), options_.lower);
  request.continued = continued_;
  request.passed_to = passed_to_;
  request.lower = options_.lower;
  request.skipped = in_lower_;
  return request;
}

Result<StoredVersion> Continuation::find(const VersionNumber& number) {
  return restart().find(request(number));
}

Result<std::optional<RestartReport>> Continuation::test(const VersionNumber& number) {
  auto report = restart().test(request(number), writer_.sequence());
  if (report.code() == ENOENT) return std::optional<RestartReport>();
  if (!report.ok()) return report.status();
  return std::optional<RestartReport>(std::move(*report));
}

Result<RestartReport> Continuation::read(const VersionNumber& number, const ReadOptions& options) {
  RestartRequest wanted = request(number);
  wanted.fills_halo = options.fills_halo;
  wanted.is_cyclic = wanted.is_cyclic || options.is_cyclic;
  wanted.verifies_all = options.verifies_all;
  CAIRN_TRY_ASSIGN(report, restart().read(wanted, writer_.sequence()));
  const uint32_t slot = report.known.any_slot();
  writer_.continue_from(lineage_after(report.known.version, writer_.sequence()));
  writer_.retirement().confirm_with_next(slot);
  excuse_restart(slot);
  continued_ = report.known.version.sequence;
  passed_to_ = writer_.sequence();
  may_write_ = true;
  return report;
}

// From now on SIGTERM keeps the restart from this slot from counting.
void Continuation::excuse_restart(uint32_t slot) {
  if (!options_.excuses_signals || slot == 0) return;
  const auto found = view_.slot_cache()->get(slot);
  if (!found.ok()) return;
  const auto attempts = (*found)->word(attempts_offset);
  if (!attempts.ok()) return;
  excused_.set(&view_.fs().pool, *attempts, name_of_run(run_.uuid()));
  if (ExitWatch::signal_number() == SIGTERM) ExcusedRestart::note_signal();
}

}  // namespace cairn::checkpoint
