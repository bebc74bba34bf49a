#include "checkpoint/write/manifest_writer.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/coarse_clock.h"
#include "file/data/bulk_write.h"

namespace cairn::checkpoint {
namespace {

constexpr uint8_t redundancy_copy = 1;

Result<VersionRecord> make_version(const Run& run, const NewVersion& added) {
  const VersionFacts& facts = added.facts;
  VersionRecord version{};
  std::memcpy(version.set, run.set().record().set, sizeof version.set);
  const Uuid uuid = run.uuid();
  std::memcpy(version.run, uuid.data(), uuid.size());
  const Uuid holder = pool_uuid(run.set().fs());
  std::memcpy(version.holder, holder.data(), holder.size());
  version.sequence = added.sequence;
  put_lineage(added.lineage, &version);
  version.number = facts.number;
  version.step = facts.step;
  version.begun = fine_now_ns();
  const Sha256Hash& layout = added.layout.hash();
  std::copy(layout.begin(), layout.end(), version.layout);
  version.ranks = run.all_ranks();
  version.part_ranks = run.ranks();
  version.parts = run.nodes();
  version.part = run.node();
  version.redundancy = added.partners.holders.empty() ? 0 : redundancy_copy;
  version.attributes_length = static_cast<uint32_t>(facts.attributes.size());
  std::memcpy(version.code_version, facts.code_version.data(),
              std::min(facts.code_version.size(), sizeof version.code_version - 1));
  CAIRN_TRY(seal_version(&version));
  return version;
}

}  // namespace

PartRecord make_part(const Run& run, const Partners& partners) {
  const std::vector<uint32_t> ranks = run.numbers();
  PartRecord part{};
  const Uuid pool = pool_uuid(run.set().fs());
  std::memcpy(part.pool, pool.data(), pool.size());
  gethostname(part.host, sizeof part.host - 1);
  std::memcpy(part.failure_domain, part.host, sizeof part.failure_domain - 1);
  part.first = ranks.front();
  part.stride = ranks.size() > 1 ? ranks[1] - ranks[0] : 1;
  part.count = static_cast<uint32_t>(ranks.size());
  for (size_t i = 0; i < ranks.size(); ++i)
    if (ranks[i] != part.first + part.stride * i) part.flags = part_is_irregular;
  const uint32_t node = run.node();
  if (node < partners.domains.size()) {
    std::memset(part.failure_domain, 0, sizeof part.failure_domain);
    partners.domains[node].copy(part.failure_domain, most_domain_bytes);
  }
  if (node < partners.holders.size()) part.partner = partners.holders[node] + 1;
  seal_part(&part);
  return part;
}

Status write_manifest(const Run& run, const NewVersion& added, Slot* slot) {
  CAIRN_TRY_ASSIGN(version, make_version(run, added));
  file::File& manifest = slot->manifest_file();
  CAIRN_TRY(file::write_bulk(manifest, &version, sizeof version, 0));
  static constexpr uint8_t zeros[global_offset + 8 - attempts_offset] = {};
  CAIRN_TRY(file::write_bulk(manifest, zeros, sizeof zeros, attempts_offset));
  // The table of several parts is stored when every node has told its own.
  const uint64_t end = version.parts == 1 ? version.manifest_length : version.parts_offset;
  std::vector<uint8_t> rest(static_cast<size_t>(end - version.attributes_offset));
  std::copy(added.facts.attributes.begin(), added.facts.attributes.end(), rest.begin());
  if (version.parts == 1) {
    const PartRecord part = make_part(run, added.partners);
    std::memcpy(rest.data() + (version.parts_offset - version.attributes_offset), &part,
                sizeof part);
  }
  return file::write_bulk(manifest, rest.data(), rest.size(), version.attributes_offset);
}

}  // namespace cairn::checkpoint
