// LowerSource: a version as it lies in lower, of which nothing is opened before it is needed.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "checkpoint/sources/lower_copy.h"

namespace cairn::checkpoint {

class LowerSource {
 public:
  // `lower` stays.
  LowerSource(const LowerSet* lower, uint64_t sequence) : lower_(*lower), sequence_(sequence) {}

  // As open_copy().
  Result<const LowerCopy*> copy();
  // The version's contents, read anew. EUCLEAN: it has another layout.
  Result<Contents> read_contents(const Sha256Hash& layout) const;
  // A part of `version`. EUCLEAN: lower has another version of this sequence. Others as
  // open_part().
  Result<const LowerPart*> part(const VersionRecord& version, uint32_t part);
  [[nodiscard]] std::string name_of(const VersionRecord& version, uint32_t part) const;

 private:
  const LowerSet& lower_;
  uint64_t sequence_;
  std::optional<LowerCopy> copy_;
  std::map<uint32_t, LowerPart> parts_;
};

}  // namespace cairn::checkpoint
