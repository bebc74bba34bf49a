#include "checkpoint/run/membership.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/saved_failure.h"
#include "base/sha256.h"
#include "checkpoint/run/ended_program.h"

namespace cairn::checkpoint {
namespace {

constexpr uint32_t default_timeout_ms = 60'000;

}  // namespace

Membership::~Membership() {
  if (transport_ != nullptr) transport_->leave();
}

std::unique_ptr<RunTransport> Membership::take_nodes() {
  return nodes() == nullptr ? nullptr : std::move(transport_);
}

Result<std::unique_ptr<Membership>> Membership::join(const std::string& set,
                                                     std::unique_ptr<RunTransport> transport,
                                                     const MemberOptions& options, Status own) {
  std::unique_ptr<Membership> membership(new Membership);
  const char* const cairn_run = std::getenv("CAIRN_RUN");
  membership->member_.launcher = launcher_of(cairn_run == nullptr ? "" : cairn_run);
  membership->member_.timeout_ms =
      options.timeout_ms == 0 ? default_timeout_ms : options.timeout_ms;
  if (transport != nullptr) {
    membership->transport_ = std::move(transport);
    CAIRN_TRY(membership->join_transport(set, own));
  } else {
    CAIRN_TRY(own);
    CAIRN_TRY(membership->read_options(options));
  }
  return membership;
}

Status Membership::read_options(const MemberOptions& options) {
  member_.rank = options.rank;
  member_.ranks = std::max(options.ranks, 1U);
  if (member_.rank >= member_.ranks)
    return fail(EINVAL, "options: rank %u of %u", member_.rank, member_.ranks);
  if (member_.ranks == 1) {
    CAIRN_TRY_ASSIGN(key, draw_uuid());
    member_.key = key;
    return Status();
  }
  if (options.job.empty())
    return fail(EINVAL, "options: %u ranks without MPI need a job", member_.ranks);
  const Sha256Hash hash = sha256(options.job.data(), options.job.size());
  std::copy_n(hash.begin(), member_.key.size(), member_.key.begin());
  return Status();
}

Status Membership::join_transport(const std::string& set, Status own) {
  const SavedFailure saved(own);
  const Status joined = transport_->join(own.ok());
  if (!own.ok()) return saved.restored();
  CAIRN_TRY(joined);
  member_.rank = transport_->rank();
  member_.ranks = transport_->ranks();
  if (transport_->nodes() > 1) CAIRN_TRY(join_nodes());
  auto key = draw_uuid();
  CAIRN_TRY(agree(key.status()));
  struct {
    Uuid key;
    char set[65];
  } first{*key, {}};
  set.copy(first.set, sizeof first.set - 1);
  CAIRN_TRY(transport_->broadcast(&first, sizeof first));
  member_.key = first.key;
  return agree(set == first.set
                   ? Status()
                   : fail(EINVAL, "rank 0 opens '%s'; all ranks name the same set", first.set));
}

// Numbers the ranks of this node from 0.
Status Membership::join_nodes() {
  member_.exchange = transport_.get();
  member_.numbers = transport_->own_ranks();
  member_.all_ranks = member_.ranks;
  const auto found = std::lower_bound(member_.numbers.begin(), member_.numbers.end(), member_.rank);
  if (found == member_.numbers.end() || *found != member_.rank)
    return fail(EPROTO, "checkpoint: rank %u is on no node", member_.rank);
  member_.rank = static_cast<uint32_t>(found - member_.numbers.begin());
  member_.ranks = static_cast<uint32_t>(member_.numbers.size());
  return Status();
}

Status Membership::agree(Status own) {
  if (transport_ == nullptr) return own;
  const SavedFailure saved(own);
  CAIRN_TRY_ASSIGN(worst, transport_->maximum(own.code()));
  if (!own.ok()) return fail(static_cast<int>(worst), "%s", saved.text().c_str());
  if (worst != 0)
    return fail(static_cast<int>(worst), "another rank: %s", strerror(static_cast<int>(worst)));
  return Status();
}

}  // namespace cairn::checkpoint
