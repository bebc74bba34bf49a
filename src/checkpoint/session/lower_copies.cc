#include "checkpoint/session/lower_copies.h"

#include <algorithm>
#include <cstring>

#include "base/saved_failure.h"
#include "checkpoint/redundancy/drain_here.h"
#include "checkpoint/redundancy/drain_nodes.h"
#include "checkpoint/write/failure_text.h"

namespace cairn::checkpoint {

LowerCopies::LowerCopies(Run* run, SetView* view, Writer* writer, const LowerOptions& options,
                         uint64_t last_of_pools)
    : run_(*run),
      view_(*view),
      writer_(*writer),
      options_(options),
      last_of_pools_(last_of_pools),
      background_(run, view, writer, options, [this] { return used(); }) {}

UsedSequences LowerCopies::used() const {
  const uint64_t last = std::max(view_.catalogue()->last_sequence(), writer_.sequence());
  return {last, last_of_pools_, run_.last_sequence()};
}

Status LowerCopies::drain(uint64_t sequence) {
  const BackgroundCopies::Pause pause(&background_, sequence);
  if (options_.in_background) {
    CAIRN_TRY_ASSIGN(is_there, background_.has_copied(sequence));
    if (is_there) return Status();
  }
  if (run_.exchange() == nullptr) {
    const auto look = [this](bool) -> Result<PoolSight> {
      return PoolSight{view_.catalogue(), used()};
    };
    return drain_here(view_.set(), view_.slot_cache(), *view_.catalogue(),
                      {sequence, options_.directory, options_.retention, true, look})
        .status();
  }
  const KnownVersion* const known = view_.catalogue()->find(sequence);
  if (known == nullptr) return fail(ENOENT, "the version is gone");
  return drain_on_nodes(run_, view_.slot_cache(), *view_.catalogue(), *known,
                        {options_.directory, options_.retention, used(), longest_drain_wait_ns});
}

Status LowerCopies::copy(uint64_t sequence) {
  // Leaders exchange one thing at a time.
  if (run_.exchange() != nullptr) CAIRN_TRY(writer_.wait_for_last());
  Status own;
  if (run_.is_leader()) own = drain(sequence);  // it verifies a copy that exists
  const SavedFailure saved(own);
  const auto met = run_.barrier_max(Run::Purpose::restart, own.code(), writer_.sequence());
  if (!own.ok()) return saved.restored();
  if (!met.ok()) return met.status();
  if (*met == 0) return Status();
  return fail(static_cast<int>(*met), "%s could not copy the version to lower: %s",
              run_.exchange() != nullptr ? "the leader of a host" : "rank 0",
              strerror(static_cast<int>(*met)));
}

Status LowerCopies::drain_newest() {
  const KnownVersion* const newest = view_.catalogue()->head();
  // A version of which a node is missing cannot be copied.
  if (newest == nullptr || !newest->missing.empty()) return Status();
  const uint64_t sequence = newest->version.sequence;
  if (run_.exchange() != nullptr) return copy(sequence);
  return run_.rank() == 0 ? drain(sequence) : Status();
}

Status LowerCopies::copy_newest(bool is_fine) {
  if (run_.exchange() != nullptr) return drain_newest();
  const Status own = is_fine ? annotate(drain_newest(), "options.lower") : Status();
  if (run_.ranks() == 1) return own;
  const SavedFailure saved(own);
  const auto worst = run_.barrier_max(Run::Purpose::leave, own.code(), writer_.sequence());
  // If the ranks could not meet, each has its own error.
  if (!worst.ok() || *worst == 0) return saved.restored();
  const std::string told =
      share_text(&run_, Run::Purpose::leave, !own.ok(), saved.text(), writer_.sequence());
  return fail(
      static_cast<int>(*worst), "%s",
      told.empty() ? "options.lower: rank 0 could not copy the newest version" : told.c_str());
}

}  // namespace cairn::checkpoint
