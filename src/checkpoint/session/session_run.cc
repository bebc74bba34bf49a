#include "checkpoint/session/session_run.h"

#include <algorithm>
#include <cstring>

#include "base/saved_failure.h"
#include "checkpoint/record/text.h"
#include "checkpoint/redundancy/restore_set.h"
#include "checkpoint/write/space_check.h"

namespace cairn::checkpoint {

SessionRun::SessionRun(const SessionOptions& options, const ExitWatch& exit_watch, SetView* view,
                       VersionLevels* levels, VersionReader* reader, SharedContents* contents)
    : options_(options),
      exit_watch_(exit_watch),
      view_(*view),
      levels_(*levels),
      reader_(*reader),
      contents_(*contents),
      collected_(&contents->definitions()),
      joined_(view) {}

SessionRun::~SessionRun() {
  continuation_.reset();  // no signal handler may use the pool from now on
  if (lower_copies_) lower_copies_->background().end();
  reader_.forget();
}

Status SessionRun::open(file::FileSystem* fs, const std::string& name,
                        std::unique_ptr<RunTransport> transport, Status own) {
  JoinOrder order{name, fs, options_.member, options_.lower.directory, {}};
  order.copies.wants_partners = options_.wants_partners;
  order.copies.lower = options_.lower.directory;
  if (options_.lower.in_background)
    order.copies.lower += '\n' + std::to_string(options_.lower.multiple);
  CAIRN_TRY(joined_.open(order, std::move(transport), own));
  // A program that cannot read newer versions must not abandon them.
  const std::string& newer = view_.catalogue()->newer();
  if (!newer.empty()) return fail(EPROTONOSUPPORT, "%s", newer.c_str());
  SkippedVersions in_lower;
  if (!options_.lower.directory.empty()) {
    CAIRN_TRY_ASSIGN(skipped, restore_at_begin(&run(), view_.slot_cache(), view_.catalogue(),
                                               options_.lower.directory, options_.is_fresh));
    in_lower = std::move(skipped);
  }
  begin_writing(std::move(in_lower));
  return Status();
}

// Makes what a run has beside its processes.
void SessionRun::begin_writing(SkippedVersions in_lower) {
  writer_.emplace(&run(), view_.slot_cache(), view_.catalogue(), options_.retention);
  writer_->copy_to(joined_.partners());
  due_vote_.emplace(&run(), options_.interval_ns);
  if (has_nodes()) due_vote_->proceed_with([this] { return writer_->advance(); });
  joined_.keep();
  levels_.know_partners();
  Continuation::RestartOptions going_on{options_.is_fresh, options_.is_cyclic,
                                        options_.exit.watches_signals, options_.max_attempts,
                                        options_.lower.directory};
  continuation_.emplace(&run(), &view_, &*writer_, &contents_.definitions(), std::move(going_on),
                        std::move(in_lower));
  reader_.find_with([this](const VersionNumber& number) { return continuation_->find(number); });
  observer_.emplace(
      &*writer_, &view_, &levels_, options_.lower.in_background,
      [this](uint64_t sequence, bool is_decided) { return progress_of(sequence, is_decided); });
  partner_copies_.emplace(&run(), &view_, &*writer_, &*observer_, options_.wants_partners);
  lower_copies_.emplace(
      &run(), &view_, &*writer_, options_.lower,
      options_.is_fresh ? run().last_sequence() : view_.catalogue()->last_sequence());
  lower_copies_->background().begin();
}

Status SessionRun::close() {
  SavedFailure first;
  bool is_rank_dead = false;
  const auto keep = [&](Status status) {
    is_rank_dead = is_rank_dead || status.code() == EOWNERDEAD;
    first.keep(status);
  };
  bool is_decided = true;
  if (const uint64_t last = writer_->sequence(); last != run().last_sequence()) {
    keep(writer_->wait_for_last());
    is_decided = first.ok();
    if (is_decided && told_sequence_ < last) keep(result_of(last));
    observer_->tell();  // of LOCAL, before copies are made
    if (is_decided && partner_copies_->are_made()) keep(partner_copies_->copy_last());
  }
  // On several nodes all ranks come, whatever they were told.
  if (lower_copies_->has_directory() && (!has_nodes() || is_decided))
    keep(copy_newest_to_lower(first.ok()));
  lower_copies_->background().end();
  observer_->tell();
  // If this fails, the next restart counts one attempt more.
  if (run().rank() == 0) writer_->retirement().confirm_restart().ignore();
  // All leaders have begun the same gathers, whatever became of the versions.
  if (has_nodes() && run().is_leader()) keep(due_vote_->finish());
  const Status ended = joined_.end(!is_rank_dead);
  return first.ok() ? ended : first.restored();
}

Status SessionRun::copy_newest_to_lower(bool is_fine) {
  CAIRN_TRY(lower_copies_->copy_newest(is_fine));
  const KnownVersion* const newest = view_.catalogue()->head();
  if (newest != nullptr && levels_.is_global(newest->version.sequence))
    observer_->tell_of_global(newest->version.sequence);
  return Status();
}

Status SessionRun::define(const std::string& name, Definition definition, bool in_collected) {
  const uint64_t of_rank = bytes_of_rank(contents_.definitions(), name, definition, run().number());
  // A program may define more than the pool can hold to read a version.
  if (view_.catalogue()->versions().empty())
    CAIRN_TRY(check_space(
        view_.fs().pool, of_rank,
        "variable '" + shown_text(name) + "': what this rank has defined takes of each version"));
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(of_rank, run().ranks(), &bytes)) bytes = UINT64_MAX;
  warn_of_space(view_.fs().pool, name,
                {bytes, run().ranks(), options_.retention.keep, options_.lower.in_background});
  if (in_collected)
    collected_.put(name, std::move(definition));
  else
    contents_.definitions().put(name, std::move(definition));
  return Status();
}

Status SessionRun::agree_on_contents() {
  if (contents_.are_agreed()) return Status();
  // Leaders exchange one thing at a time.
  if (has_nodes()) CAIRN_TRY(writer_->wait_for_last());
  return contents_.agree(&run(), options_.block_bytes, writer_->sequence());
}

Result<bool> SessionRun::need(int64_t step) {
  CAIRN_TRY_ASSIGN(is_due, due_vote_->need(step));
  step_ = step;
  return is_due;
}

Result<ExitOutlook> SessionRun::look_ahead() {
  const uint64_t cost_ns = writer_->recent_cost_ns();
  const ExitWatch::Reason own = exit_watch_.look(cost_ns);
  CAIRN_TRY(writer_->wait_for_last());
  CAIRN_TRY_ASSIGN(met, run().barrier_max(Run::Purpose::exit, own, writer_->sequence()));
  return exit_watch_.outlook(static_cast<ExitWatch::Reason>(met), cost_ns);
}

// Returns the sequence, although this rank may have failed.
Result<uint64_t> SessionRun::stage_version(int64_t number) {
  CAIRN_TRY(continuation_->check_may_write());
  CAIRN_TRY(agree_on_contents());
  VersionFacts facts;
  facts.number = number;
  facts.step = step_.value_or(number);
  facts.code_version = options_.code_version;
  facts.attributes = attributes_;
  due_vote_->note_version();
  const uint64_t sequence = writer_->write(contents_.agreed(), contents_.definitions(), facts);
  lower_copies_->background().copy_when_committed(number);
  return sequence;
}

Status SessionRun::stage(int64_t number, uint64_t* sequence) {
  CAIRN_TRY_ASSIGN(staged, stage_version(number));
  *sequence = staged;
  observer_->tell();
  const Status own = writer_->status();
  if (own.ok()) return own;
  const std::string room = own.code() == ENOSPC ? "; " + shown_room() : std::string();
  return fail(own.code(), "%s%s", writer_->text().c_str(), room.c_str());
}

Status SessionRun::write(int64_t number) {
  CAIRN_TRY_ASSIGN(sequence, stage_version(number));
  CAIRN_TRY(writer_->wait(sequence, 0));
  Status status = result_of(sequence);
  if (status.ok() && partner_copies_->are_made()) {
    observer_->tell();
    status = partner_copies_->copy(sequence);
  }
  return finish(status);
}

Status SessionRun::check_collecting() const {
  return collected_.number() ? Status() : fail(EINVAL, "no version was begun");
}

Status SessionRun::commit_collected() {
  CAIRN_TRY(check_collecting());
  const Status written = write(*collected_.number());
  const SavedFailure saved(written);
  collected_.end();
  return saved.restored();
}

// Tells the observer what a call has learned.
Status SessionRun::finish(Status status) {
  const SavedFailure saved(status);
  observer_->tell();
  return saved.restored();
}

// Returns the error of a version that is decided.
Status SessionRun::result_of(uint64_t sequence) {
  told_sequence_ = std::max(told_sequence_, sequence);
  const Outcome* const outcome = writer_->outcome(sequence);
  if (outcome == nullptr) return fail(ENOENT, "this version is too old to be known");
  if (outcome->is_committed) return Status();
  const std::string room = outcome->error == ENOSPC && run().is_here(outcome->rank)
                               ? "; " + shown_room()
                               : std::string();
  return fail(outcome->error, "%s%s", Writer::shown(*outcome).c_str(), room.c_str());
}

std::string SessionRun::shown_room() const {
  const Agreed& agreed = contents_.agreed();
  const uint64_t bytes = bytes_of_version(agreed.regions, agreed.contents.layout().block_bytes());
  return shown_space(view_.fs(), bytes, agreed.contents.has_counted(), options_.retention.keep);
}

LevelProgress SessionRun::progress_of(uint64_t sequence, bool is_decided) {
  const Outcome* const outcome = writer_->outcome(sequence);
  VersionLevels::CopyErrors errors;
  if (outcome != nullptr) errors.partner = partner_copies_->error_of(*outcome);
  errors.global = lower_copies_->background().error_of(sequence);
  return levels_.progress_of(sequence, outcome, is_decided, errors);
}

Status SessionRun::check_level(VersionLevel level) const {
  if (level == VersionLevel::partner) return partner_copies_->check();
  if (level == VersionLevel::global && !lower_copies_->has_directory())
    return fail(EINVAL, "level GLOBAL: options.lower is not set");
  return Status();
}

Result<bool> SessionRun::test(uint64_t sequence, VersionLevel level,
                              std::optional<LevelProgress>* progress) {
  CAIRN_TRY(check_level(level));
  CAIRN_TRY_ASSIGN(is_decided, writer_->test(sequence));
  if (writer_->outcome(sequence) == nullptr)
    return fail(ENOENT, "this version is too old to be known");
  observer_->tell();
  *progress = progress_of(sequence, is_decided);
  if (level == VersionLevel::staged) return true;
  if (!is_decided) return false;
  CAIRN_TRY(result_of(sequence));
  if (level == VersionLevel::partner) return levels_.has_partners(sequence);
  if (level == VersionLevel::local || levels_.is_global(sequence)) return true;
  CAIRN_TRY(lower_copies_->background().status_of(sequence));
  return false;
}

Status SessionRun::wait(uint64_t sequence, VersionLevel level, uint64_t timeout_ns) {
  CAIRN_TRY(check_level(level));
  if (level == VersionLevel::staged) return writer_->test(sequence).status();
  // The other levels are collective: a rank that returned here would leave the others waiting.
  CAIRN_TRY(writer_->wait(sequence, level == VersionLevel::local ? timeout_ns : 0));
  Status status = result_of(sequence);
  if (status.ok() && level != VersionLevel::local) observer_->tell();
  if (status.ok() && level == VersionLevel::partner) status = partner_copies_->copy(sequence);
  if (status.ok() && level == VersionLevel::global) {
    status = lower_copies_->copy(sequence);
    if (status.ok()) observer_->tell_of_global(sequence);
  }
  return finish(status);
}

// Before a restart, the last version is decided on all nodes, as a node that does not know yet
// could not answer for its part.
Status SessionRun::decide_on_nodes() {
  CAIRN_TRY(writer_->wait_for_last());
  return end_reading(Status());
}

Status SessionRun::begin_reading() { return has_nodes() ? decide_on_nodes() : Status(); }

Status SessionRun::end_reading(Status own) {
  if (!has_nodes()) return own;
  const SavedFailure saved(own);
  const auto met = run().barrier_max(Run::Purpose::restart, 0, writer_->sequence());
  return saved.or_of(met.status());
}

Result<std::optional<RestartReport>> SessionRun::test_restart(const VersionNumber& number) {
  CAIRN_TRY(decide_on_nodes());
  CAIRN_TRY(agree_on_contents());
  return continuation_->test(number);
}

Result<RestartReport> SessionRun::restart(const VersionNumber& number,
                                          const Continuation::ReadOptions& options) {
  CAIRN_TRY(decide_on_nodes());
  CAIRN_TRY(agree_on_contents());
  return continuation_->read(number, options);
}

// Returns the sequence of the version that this rank names.
Result<uint64_t> SessionRun::find_to_drop(const VersionNumber& number, bool is_single) {
  if (!is_single) return fail(EINVAL, "in a run there are no flags: a run drops single versions");
  CAIRN_TRY(continuation_->check_may_write());
  const KnownVersion* const known = view_.look_for(number);
  if (known == nullptr) return fail(ENOENT, "the set has no such version");
  CAIRN_TRY(writer_->check_drop(known->version.sequence));
  return known->version.sequence;
}

Result<int64_t> SessionRun::meet_on_drop(int64_t value) {
  return run().barrier_max(Run::Purpose::drop, value, writer_->sequence());
}

Status SessionRun::drop(const VersionNumber& number, bool is_single) {
  CAIRN_TRY(writer_->wait_for_last());
  const auto found = find_to_drop(number, is_single);
  const SavedFailure not_found(found.status());
  const int64_t says = found.ok() ? static_cast<int64_t>(*found) : -found.code();
  CAIRN_TRY_ASSIGN(most, meet_on_drop(says));
  CAIRN_TRY_ASSIGN(negative, meet_on_drop(-says));
  if (!found.ok()) return not_found.restored();
  if (most != -negative)
    return fail(EINVAL, "ranks name different versions, or one of them cannot drop its own");
  lower_copies_->background().forget(*found);
  const Status own = writer_->retirement().drop(*found);
  const SavedFailure saved(own);
  CAIRN_TRY_ASSIGN(worst, meet_on_drop(own.code()));
  if (!own.ok()) return saved.restored();
  if (worst == 0) return Status();
  return fail(static_cast<int>(worst), "the leader of a host could not drop its part: %s",
              strerror(static_cast<int>(worst)));
}

}  // namespace cairn::checkpoint
