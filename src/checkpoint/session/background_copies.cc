#include "checkpoint/session/background_copies.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "checkpoint/sources/lower_copy.h"

namespace cairn::checkpoint {
namespace {

// The leader's word about a version that could not be copied: its sequence above the errno.
constexpr unsigned error_bits = 12;

}  // namespace

void BackgroundCopies::begin() {
  if (!options_.in_background || !run_.is_leader()) return;
  BackgroundOrder order;
  order.directory = options_.directory;
  order.retention = options_.retention;
  order.tell = [this](uint64_t sequence, int error) {
    view_.fs().pool.store(run_.words().member(0, RunWords::uncopied),
                          sequence << error_bits | static_cast<uint64_t>(error));
  };
  drain_ = std::make_unique<BackgroundDrain>(view_.set(), std::move(order));
  if (run_.exchange() == nullptr) return;
  writer_.copy_in_background({[this] { return drain_ != nullptr && drain_->is_busy(); },
                              [this](const KnownVersion& known) { copy_committed(known); }});
}

bool BackgroundCopies::is_wanted(int64_t number) const {
  return options_.multiple == 0 || number % static_cast<int64_t>(options_.multiple) == 0;
}

void BackgroundCopies::copy_committed(const KnownVersion& known) {
  if (drain_ == nullptr || !is_wanted(known.version.number) || known.slot == 0) return;
  const auto slot = view_.slot_cache()->get(known.slot);
  if (!slot.ok()) return;
  drain_->copy({known.version.sequence, (*slot)->ids(), *view_.catalogue(), used_(), nullptr});
}

void BackgroundCopies::copy_when_committed(int64_t number) {
  const bool has_work = drain_ != nullptr && run_.exchange() == nullptr && is_wanted(number);
  if (!has_work || !writer_.status().ok()) return;
  const auto slot = writer_.opened();
  if (!slot.ok()) return;
  const uint64_t sequence = writer_.sequence();
  drain_->copy({sequence, *slot, *view_.catalogue(), used_(),
                [this, sequence] { return writer_.is_over(sequence); }});
}

void BackgroundCopies::forget(uint64_t sequence) {
  if (drain_ != nullptr) drain_->forget(sequence);
}

int BackgroundCopies::error_of(uint64_t sequence) const {
  if (!options_.in_background) return 0;
  const uint64_t word = run_.words().member(0, RunWords::uncopied).load();
  return word >> error_bits == sequence ? static_cast<int>(word & ((1U << error_bits) - 1)) : 0;
}

Status BackgroundCopies::status_of(uint64_t sequence) const {
  const int error = error_of(sequence);
  if (error == 0) return Status();
  const std::string why = drain_ == nullptr ? std::string() : drain_->why(sequence);
  return fail(error, "level GLOBAL: the version is not in lower yet: %s; wait tries again",
              why.empty() ? strerror(error) : why.c_str());
}

Result<bool> BackgroundCopies::all_nodes_say(bool own) {
  if (run_.exchange() == nullptr) return own;
  const uint8_t says = own ? 1 : 0;
  std::vector<uint8_t> all(run_.nodes());
  CAIRN_TRY(gather(run_.exchange(), Exchange::Channel::commit, &says, sizeof says, all.data()));
  return std::all_of(all.begin(), all.end(), [](uint8_t one) { return one == 1; });
}

Result<bool> BackgroundCopies::has_copied(uint64_t sequence) {
  const KnownVersion* const known = view_.catalogue()->find(sequence);
  if (known == nullptr) return fail(ENOENT, "the version is gone");
  // Once all have named their parts, the last one has completed the copy.
  CAIRN_TRY_ASSIGN(are_there, all_nodes_say(drain_ != nullptr && drain_->has_copied(sequence)));
  if (!are_there) return false;
  const auto there = LowerSet::open(options_.directory, view_.set().name(), false);
  CAIRN_TRY_ASSIGN(is_complete, all_nodes_say(there.ok() && is_listed(*there, known->version)));
  if (!is_complete) return false;
  const auto slot = view_.slot_cache()->get(known->any_slot());
  if (slot.ok()) note_global(view_.set(), *slot).ignore();  // a report
  return true;
}

}  // namespace cairn::checkpoint
