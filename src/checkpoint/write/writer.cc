#include "checkpoint/write/writer.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/coarse_clock.h"
#include "checkpoint/run/spin_wait.h"
#include "checkpoint/versions/commit_part.h"
#include "checkpoint/write/failure_text.h"
#include "checkpoint/write/rank_writer.h"
#include "checkpoint/write/space_check.h"

namespace cairn::checkpoint {
namespace {

constexpr size_t known_outcomes = 4096;

uint64_t bytes_of(const Agreed& agreed) {
  return std::accumulate(agreed.regions.bytes.begin(), agreed.regions.bytes.end(), uint64_t{0});
}

}  // namespace

uint64_t Writer::write(const Agreed& agreed, const Definitions& definitions,
                       const VersionFacts& facts) {
  // The set has words for the slot of one version, and for the arrivals at two.
  while (sequence_ > decided_) {
    const Status waited = wait(sequence_, 0);
    if (!waited.ok() && run_.exchange() != nullptr) give_up(waited);
  }
  ++sequence_;
  Outcome& outcome = outcomes_[sequence_];
  outcome.number = facts.number;
  outcome.bytes = bytes_of(agreed);
  outcome.begun_ns = fine_monotonic_ns();
  if (outcomes_.size() > known_outcomes) outcomes_.erase(outcomes_.begin());
  if (lost_ != 0) {
    status_ = fail(lost_, "this run can no longer decide on versions");
    text_ = last_detail();
    give_up(status_);
    return sequence_;
  }
  Slot* slot = nullptr;
  status_ = open(agreed, facts, &slot);
  if (status_.ok()) status_ = write_rank(run_, words_, sequence_, agreed, definitions, slot);
  text_ = status_.ok() ? "" : last_detail();
  if (!status_.ok()) words_.note_failure(sequence_, status_);
  outcome.staged_ns = fine_monotonic_ns();
  arrive();
  return sequence_;
}

Status Writer::open(const Agreed& agreed, const VersionFacts& facts, Slot** slot) {
  opened_slot_ = 0;
  if (!words_.is_open(sequence_)) {
    CAIRN_TRY(run_.locked(
        [&] { return words_.is_open(sequence_) ? Status() : open_first(agreed, facts); }));
  }
  const SlotIds ids = words_.slot(sequence_);
  opened_slot_ = ids.number;
  if (ids.number == 0) {
    const RankFailure failed = words_.failure(sequence_);
    return fail(failed.error == 0 ? EIO : failed.error, "rank %u could not open the version",
                failed.rank);
  }
  if (words_.number() != facts.number)
    return fail(EINVAL, "this rank writes version %lld, another rank version %lld",
                static_cast<long long>(facts.number), static_cast<long long>(words_.number()));
  CAIRN_TRY_ASSIGN(found, slot_cache_.get(ids));
  *slot = found;
  return Status();
}

// Called under the lock by the first rank of the node.
Status Writer::open_first(const Agreed& agreed, const VersionFacts& facts) {
  words_.clear(sequence_);
  Opening opening;
  opening.regions_end = agreed.regions.end;
  opening.number = facts.number;
  const Status status = take_slot(agreed, facts, &opening);
  if (!status.ok()) words_.note_failure(sequence_, status);
  words_.open(sequence_, opening);
  return status;
}

Status Writer::take_slot(const Agreed& agreed, const VersionFacts& facts, Opening* opening) {
  const Layout& layout = agreed.contents.layout();
  CAIRN_TRY_ASSIGN(
      shape, shape_of(run_.ranks(), static_cast<uint32_t>(facts.attributes.size()), run_.nodes()));
  CAIRN_TRY(check_space(run_.set().fs().pool,
                        bytes_of_version(agreed.regions, layout.block_bytes()),
                        "a version takes of this host"));
  CAIRN_TRY_ASSIGN(slot, slot_cache_.take_free(shape.length, agreed.regions.end, &opening->is_new));
  CAIRN_TRY(write_manifest(run_, {sequence_, layout, facts, lineage_, partners_}, slot));
  opening->slot = slot->ids();
  return Status();
}

void Writer::arrive() {
  const bool is_last = words_.arrive(sequence_);
  if (run_.exchange() != nullptr) {
    if (run_.is_leader()) advance().ignore();  // wait() returns its error
    return;
  }
  if (!is_last) return;
  const uint64_t sequence = sequence_;
  // If this fails, other ranks find the version undecided and decide on it.
  run_.locked([&] { return decide(sequence); }).ignore();
}

Result<SlotIds> Writer::opened() const {
  if (opened_slot_ == 0) return fail(ENOENT, "the version has no slot");
  CAIRN_TRY_ASSIGN(slot, slot_cache_.get(opened_slot_));
  return slot->ids();
}

// Called under the lock by the last rank that arrives, or by one that finds another rank dead.
Status Writer::decide(uint64_t sequence) {
  if (words_.is_decided(sequence) || !words_.close(sequence)) return Status();
  if (words_.failure(sequence).error == 0) {
    if (const Status status = commit(sequence); !status.ok()) words_.note_failure(sequence, status);
  }
  const int error = words_.failure(sequence).error;
  if (error != 0) abort(sequence, error);
  words_.decide(sequence, error == 0);
  learn(sequence, true);
  return Status();
}

Status Writer::commit(uint64_t sequence) {
  CAIRN_TRY_ASSIGN(slot, slot_cache_.get(words_.slot(sequence)));
  return commit_slot(run_.set().fs(), slot, sequence);
}

// No rank was told that the version is committed, so none of this need be durable.
void Writer::abort(uint64_t sequence, int error) {
  const SlotIds ids = words_.slot(sequence);
  if (ids.number == 0) return;
  const auto slot = slot_cache_.get(ids);
  if (!slot.ok()) return;
  abort_slot(run_.set().fs(), *slot, sequence);
  // The slot was made for this version; without it, its blocks are free for other files.
  if (words_.has_new_slot() && error == ENOSPC)
    // The slot is free in any case.
    remove_slot(run_.set().fs(), run_.set().directory(), ids.number).ignore();
}

Status Writer::prepare_own(uint64_t sequence, NodePrepared* prepared) {
  CAIRN_TRY_ASSIGN(slot, slot_cache_.get(words_.slot(sequence)));
  CAIRN_TRY_ASSIGN(part, prepare_part(slot, sequence));
  prepared->part.bytes = part.bytes;
  prepared->part.roots_crc = part.roots_crc;
  prepared->begun = part.begun;
  prepared->common_crc = part.common_crc;
  return Status();
}

// Makes this node's message to the others: all of its ranks have arrived, or one never will.
NodePrepared Writer::prepare(uint64_t sequence) {
  NodePrepared prepared{};
  prepared.part = make_part(run_, partners_);
  prepared.sequence = sequence;
  RankFailure failed = words_.failure(sequence);
  if (failed.error == 0) {
    const Status status = prepare_own(sequence, &prepared);
    if (!status.ok()) failed = {status.code(), run_.number()};
  }
  prepared.part.error = static_cast<uint32_t>(failed.error);
  prepared.failed_rank = failed.rank;
  prepared.is_copying = copying_.is_busy && copying_.is_busy() ? 1 : 0;
  seal_part(&prepared.part);
  return prepared;
}

Status Writer::advance() {
  if (run_.exchange() == nullptr || !run_.is_leader() || sequence_ <= decided_) return Status();
  const uint64_t sequence = sequence_;
  if (!nodes_.is_under_way()) {
    if (!words_.close(sequence)) {
      run_.exchange()->progress();
      return Status();
    }
    CAIRN_TRY(nodes_.begin(prepare(sequence)));
  }
  const auto decide = [&](const std::vector<PartRecord>& parts) -> Status {
    CAIRN_TRY_ASSIGN(slot, slot_cache_.get(words_.slot(sequence)));
    return commit_part(run_.set().fs(), slot, sequence, parts);
  };
  NodesVerdict verdict;
  CAIRN_TRY_ASSIGN(is_over, nodes_.proceed(decide, &verdict));
  if (!is_over) return Status();
  return run_.locked([&] {
    publish(sequence, verdict);
    nodes_.end_commit();
    return Status();
  });
}

// Tells the ranks of this node what all nodes decided.
void Writer::publish(uint64_t sequence, const NodesVerdict& verdict) {
  if (verdict.error != 0) {
    words_.set_failure(sequence, {verdict.error, verdict.rank});
    abort(sequence, verdict.error);
  }
  words_.set_totals(sequence, verdict.bytes, verdict.begun);
  words_.decide(sequence, verdict.error == 0);
  learn(sequence, true);
  const KnownVersion* const known = catalogue_.find(sequence);
  if (verdict.error == 0 && !verdict.is_copying && copying_.begin && known != nullptr)
    copying_.begin(*known);
}

// If the leader of this node is dead, its ranks cannot learn what the other nodes decide.
void Writer::look_after_leader(uint64_t sequence) {
  if (run_.is_leader() || words_.is_decided(sequence) || !run_.is_gone(0) ||
      words_.is_decided(sequence))
    return;
  give_up(fail(EOWNERDEAD, "rank %u, the leader of this node, was killed", run_.number_of(0)));
}

void Writer::give_up(const Status& why) {
  lost_ = why.code();
  for (uint64_t sequence = decided_ + 1; sequence <= sequence_; ++sequence) {
    Outcome& outcome = outcomes_[sequence];
    outcome.error = why.code();
    outcome.rank = run_.number_of(0);
  }
  decided_ = sequence_;
}

void Writer::learn(uint64_t sequence, bool is_decider) {
  if (sequence <= decided_) return;
  decided_ = sequence;
  Outcome& outcome = outcomes_[sequence];
  outcome.is_committed = words_.is_committed(sequence);
  outcome.local_ns = fine_monotonic_ns();
  const bool has_nodes = run_.exchange() != nullptr;
  const uint64_t told = words_.bytes(sequence);
  outcome.bytes = has_nodes ? told : outcome.bytes + told;  // one node adds its extents
  if (!outcome.is_committed) {
    learn_failure(sequence, &outcome);
    slot_cache_.drop(opened_slot_);
    return;
  }
  lineage_.parent = sequence;
  const auto slot = slot_cache_.get(opened_slot_);
  if (!slot.ok()) return;
  const auto version = (*slot)->read_version();
  if (!version.ok()) return;
  KnownVersion known;
  known.slot = opened_slot_;
  known.version = *version;
  if (has_nodes) {
    known.version.begun = words_.begun(sequence);
    known.holders.resize(run_.nodes());
    std::iota(known.holders.begin(), known.holders.end(), 0U);
  }
  retirement_.add(known, is_decider);
}

void Writer::learn_failure(uint64_t sequence, Outcome* outcome) const {
  const RankFailure failed = words_.failure(sequence);
  outcome->error = failed.error;
  outcome->rank = failed.rank;
  const bool is_own = failed.rank == run_.number() && sequence == sequence_;
  if (is_own && status_.code() == failed.error) outcome->text = text_;
  if (outcome->text.empty() && run_.ranks() > 1)
    outcome->text = told_text(run_, place_of(sequence), tag_of(sequence, failed.rank));
}

void Writer::note_copies(uint64_t sequence, const std::vector<HeldCopy>& copies, int error) {
  for (const HeldCopy& copy : copies) catalogue_.add_copy(sequence, copy);
  const auto outcome = outcomes_.find(sequence);
  if (outcome != outcomes_.end()) outcome->second.partner_error = error;
  if (error != 0) return;
  if (outcome != outcomes_.end()) outcome->second.partner_ns = fine_monotonic_ns();
  retirement_.note_partners(sequence, partners_.holders);
}

Status Writer::check_drop(uint64_t sequence) const {
  const bool is_continued = sequence == lineage_.parent;
  if (!is_continued && !catalogue_.must_stay(sequence)) return Status();
  return fail(EPERM, is_continued ? "the run goes on from this version"
                                  : "it is the newest version, or the newest that has copies");
}

Result<bool> Writer::test(uint64_t sequence) {
  if (sequence <= run_.last_sequence() || sequence > sequence_)
    return fail(ENOENT, "this run has no such version");
  if (sequence <= decided_) return true;
  if (run_.exchange() != nullptr) {
    if (run_.is_leader()) CAIRN_TRY(advance());
    look_after_leader(sequence);
    if (sequence <= decided_) return true;
  } else if (!words_.is_decided(sequence)) {
    if (!words_.arrivals(sequence).are_over) return false;
    CAIRN_TRY(run_.locked([&] { return decide(sequence); }));
  }
  if (!words_.is_decided(sequence)) return false;
  learn(sequence, false);
  return true;
}

Status Writer::wait(uint64_t sequence, uint64_t timeout_ns) {
  const uint64_t begun = fine_monotonic_ns();
  SpinWait spin;
  for (bool looks = true;;) {
    if (sequence <= decided_) return Status();
    if (words_.is_decided(sequence) || looks) {
      CAIRN_TRY_ASSIGN(is_known, test(sequence));
      if (is_known) return Status();
    }
    if (timeout_ns != 0 && fine_monotonic_ns() - begun > timeout_ns)
      return fail(ETIMEDOUT, "the version is not decided yet");
    looks = spin.pause() || (run_.exchange() != nullptr && run_.is_leader());
  }
}

const Outcome* Writer::outcome(uint64_t sequence) const {
  const auto found = outcomes_.find(sequence);
  return found == outcomes_.end() ? nullptr : &found->second;
}

std::string Writer::shown(const Outcome& outcome) {
  if (outcome.is_committed) return "";
  return "version " + std::to_string(outcome.number) + ": rank " + std::to_string(outcome.rank) +
         ": " + strerror(outcome.error) + "; the versions before it stay" +
         (outcome.text.empty() ? "" : ": ") + outcome.text;
}

Status Writer::wait_for_last() {
  return sequence_ == run_.last_sequence() ? Status() : wait(sequence_, 0);
}

uint64_t Writer::recent_cost_ns() const {
  constexpr int looks = 3;
  uint64_t most = 0;
  uint64_t sequence = sequence_;
  for (int i = 0; i < looks && sequence != 0; ++i, --sequence) {
    const Outcome* const its = outcome(sequence);
    if (its == nullptr) break;
    if (its->is_committed && its->local_ns > its->begun_ns)
      most = std::max(most, its->local_ns - its->begun_ns);
  }
  return most;
}

}  // namespace cairn::checkpoint
