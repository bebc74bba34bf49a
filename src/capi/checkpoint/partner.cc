// C API: copies of versions in the pools of other nodes (include/cairn/checkpoint.h).
#include <unistd.h>

#include <cstring>

#include "base/crc32c_bulk.h"
#include "base/saved_failure.h"
#include "cairn/checkpoint.h"
#include "capi/context/context.h"
#include "base/settings.h"
#include "checkpoint/redundancy/partner_copy.h"

using cairn::fail;
using cairn::Result;
using cairn::Status;
namespace capi = cairn::capi;
namespace ckpt = cairn::checkpoint;

namespace {

constexpr const char* domain_key = "checkpoint.domain";

// What a node's leader tells the others.
struct NodeDomain {
  uint32_t wants;
  uint32_t lower_crc;  // of options.lower
  char domain[ckpt::most_domain_bytes + 1];
};

// By default two pools of one host are in one domain.
Result<std::string> own_domain() {
  CAIRN_TRY_ASSIGN(settings, cairn::Settings::load());
  std::string domain = settings.value(domain_key);
  if (domain.empty()) {
    char host[ckpt::most_domain_bytes + 1] = "";
    gethostname(host, sizeof host - 1);
    return std::string(host);
  }
  if (domain.size() <= ckpt::most_domain_bytes) return domain;
  return fail(EINVAL, "%s (%s): '%s': at most %zu bytes", domain_key,
              settings.origin(domain_key).c_str(), domain.c_str(), ckpt::most_domain_bytes);
}

}  // namespace

Result<ckpt::Partners> cairn_checkpoint::find_partners(capi::Membership* members) const {
  capi::TransportExchange* const exchange = members->nodes();
  const bool is_in_background = (options.flags & CAIRN_CHECKPOINT_BACKGROUND) != 0;
  const std::string of_lower =
      lower + (is_in_background ? '\n' + std::to_string(options.lower_multiple) : std::string());
  NodeDomain says{wants_partners() ? 1U : 0U,
                  cairn::crc32c_bulk(0, of_lower.data(), of_lower.size()), ""};
  Status own;
  if (wants_partners()) {
    const auto domain = own_domain();
    own = domain.status();
    if (domain.ok()) domain->copy(says.domain, sizeof says.domain - 1);
  }
  CAIRN_TRY(members->agree(own));
  std::vector<NodeDomain> all(exchange->nodes());
  CAIRN_TRY(exchange->gather_to_all(&says, sizeof says, all.data()));
  // A rank that went another way would leave the others waiting.
  for (const NodeDomain& one : all) {
    if (!own.ok()) break;
    if (one.wants != says.wants)
      own = fail(EINVAL, "options: ranks differ in CAIRN_CHECKPOINT_PARTNER");
    else if (one.lower_crc != says.lower_crc)
      own = fail(EINVAL,
                 "options: ranks differ in lower, lower_multiple or "
                 "CAIRN_CHECKPOINT_BACKGROUND");
  }
  CAIRN_TRY(members->agree(own));
  ckpt::Partners partners;
  if (!wants_partners()) return partners;
  for (const NodeDomain& one : all)
    partners.domains.emplace_back(one.domain, strnlen(one.domain, sizeof one.domain));
  partners.holders = ckpt::find_partners(partners.domains);
  return partners;
}

Status cairn_checkpoint::check_partners() const {
  if (!wants_partners())
    return fail(EINVAL, "level PARTNER: CAIRN_CHECKPOINT_PARTNER is not set in options.flags");
  if (can_have_partners()) return Status();
  if (!nodes)
    return fail(EOPNOTSUPP, "level PARTNER: the run has one node, and no other one holds a copy");
  return fail(EOPNOTSUPP,
              "level PARTNER: all %u nodes are in the failure domain '%s'; name others by the key "
              "%s (CAIRN_CHECKPOINT_DOMAIN)",
              nodes->nodes(), writer->partners().domains.front().c_str(), domain_key);
}

bool cairn_checkpoint::has_partners(uint64_t sequence) {
  const ckpt::KnownVersion* const known = catalogue.find(sequence);
  if (known == nullptr) return false;
  if (run) return known->has_partners();
  // Of other nodes a context that looks knows what was noted then.
  const auto slot = slot_cache->get(known->slot);
  if (!slot.ok()) return false;
  const auto manifest = (*slot)->read_manifest();
  return manifest.ok() && manifest->word(ckpt::partner_offset) != 0;
}

Status cairn_checkpoint::wait_for_partners(uint64_t sequence) {
  // No rank opens a version meanwhile, and leaders exchange one thing at a time.
  CAIRN_TRY(settle_last());
  const ckpt::KnownVersion* const found = catalogue.find(sequence);
  if (found == nullptr) return fail(ENOENT, "level PARTNER: the version was retired");
  if (found->has_partners()) return Status();
  const Status copied = ckpt::copy_to_partners(&*run, &*slot_cache, &*writer, *found);
  const cairn::SavedFailure saved(copied);
  const ckpt::Outcome* const outcome = writer->outcome(sequence);
  if (observer != nullptr && outcome != nullptr) {
    const cairn_checkpoint_progress progress = progress_of(sequence, true);
    observer(observer_context, sequence, outcome->number, &progress);
  }
  return annotate(saved.restored(), "level PARTNER");
}

Status cairn_checkpoint::copy_last() {
  const auto& versions = catalogue.versions();
  for (auto known = versions.rbegin(); known != versions.rend(); ++known) {
    if (known->version.sequence <= run->last_sequence()) break;
    return wait_for_partners(known->version.sequence);
  }
  return Status();
}
