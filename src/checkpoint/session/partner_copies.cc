#include "checkpoint/session/partner_copies.h"

#include <unistd.h>

#include <cstring>
#include <vector>

#include "base/crc32c_bulk.h"
#include "base/saved_failure.h"
#include "base/settings.h"
#include "checkpoint/redundancy/partner_copy.h"

namespace cairn::checkpoint {
namespace {

constexpr const char* domain_key = "checkpoint.domain";

// The message of a node's leader to the others.
struct NodeDomain {
  uint32_t wants;
  uint32_t lower_crc;  // of CopyWishes::lower
  char domain[most_domain_bytes + 1];
};

// Returns the failure domain of this node. By default two pools of one host are in one domain.
Result<std::string> own_domain() {
  CAIRN_TRY_ASSIGN(settings, Settings::load());
  std::string domain = settings.value(domain_key);
  if (domain.empty()) {
    char host[most_domain_bytes + 1] = "";
    gethostname(host, sizeof host - 1);
    return std::string(host);
  }
  if (domain.size() <= most_domain_bytes) return domain;
  return fail(EINVAL, "%s (%s): '%s': at most %zu bytes", domain_key,
              settings.origin(domain_key).c_str(), domain.c_str(), most_domain_bytes);
}

Status check_same(const NodeDomain& own, const std::vector<NodeDomain>& all) {
  for (const NodeDomain& one : all) {
    if (one.wants != own.wants)
      return fail(EINVAL, "options: ranks differ in CAIRN_CHECKPOINT_PARTNER");
    if (one.lower_crc != own.lower_crc)
      return fail(EINVAL,
                  "options: ranks differ in lower, lower_multiple or CAIRN_CHECKPOINT_BACKGROUND");
  }
  return Status();
}

}  // namespace

Result<Partners> agree_on_partners(Membership* members, const CopyWishes& wishes) {
  Exchange* const exchange = members->nodes();
  NodeDomain says{wishes.wants_partners ? 1U : 0U,
                  crc32c_bulk(0, wishes.lower.data(), wishes.lower.size()), ""};
  Status own;
  if (wishes.wants_partners) {
    const auto domain = own_domain();
    own = domain.status();
    if (domain.ok()) domain->copy(says.domain, sizeof says.domain - 1);
  }
  CAIRN_TRY(members->agree(own));
  std::vector<NodeDomain> all(exchange->nodes());
  CAIRN_TRY(exchange->gather_to_all(&says, sizeof says, all.data()));
  // A rank that returned here would leave the others waiting.
  CAIRN_TRY(members->agree(check_same(says, all)));
  Partners partners;
  if (!wishes.wants_partners) return partners;
  for (const NodeDomain& one : all)
    partners.domains.emplace_back(one.domain, strnlen(one.domain, sizeof one.domain));
  partners.holders = find_partners(partners.domains);
  return partners;
}

Status PartnerCopies::check() const {
  if (!is_wanted_)
    return fail(EINVAL, "level PARTNER: CAIRN_CHECKPOINT_PARTNER is not set in options.flags");
  if (has_holders()) return Status();
  if (run_.exchange() == nullptr)
    return fail(EOPNOTSUPP, "level PARTNER: the run has one node, and no other one holds a copy");
  return fail(EOPNOTSUPP,
              "level PARTNER: all %u nodes are in the failure domain '%s'; name others by the key "
              "%s (CAIRN_CHECKPOINT_DOMAIN)",
              run_.nodes(), writer_.partners().domains.front().c_str(), domain_key);
}

int PartnerCopies::error_of(const Outcome& outcome) const {
  if (!is_wanted_) return 0;
  return has_holders() ? outcome.partner_error : EOPNOTSUPP;
}

Status PartnerCopies::copy(uint64_t sequence) {
  // No rank opens a version meanwhile, and leaders exchange one thing at a time.
  CAIRN_TRY(writer_.wait_for_last());
  const KnownVersion* const found = view_.catalogue()->find(sequence);
  if (found == nullptr) return fail(ENOENT, "level PARTNER: the version was retired");
  if (found->has_partners()) return Status();
  const Status copied = copy_to_partners(&run_, view_.slot_cache(), &writer_, *found);
  const SavedFailure saved(copied);
  observer_.tell_of_partners(sequence);
  return annotate(saved.restored(), "level PARTNER");
}

Status PartnerCopies::copy_last() {
  const auto& versions = view_.catalogue()->versions();
  if (versions.empty()) return Status();
  const uint64_t newest = versions.back().version.sequence;
  return newest <= run_.last_sequence() ? Status() : copy(newest);
}

}  // namespace cairn::checkpoint
