// LowerSource: a version in lower, whose files are opened only when needed.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "checkpoint/sources/lower_copy.h"

namespace cairn::checkpoint {

class LowerSource {
 public:
  // The object `lower` stays where it is.
  LowerSource(const LowerSet* lower, uint64_t sequence) : lower_(*lower), sequence_(sequence) {}

  // Does what open_copy() does, once.
  Result<const LowerCopy*> copy();
  // Reads the version's contents anew. EUCLEAN: it has another layout.
  Result<Contents> read_contents(const Sha256Hash& layout) const;
  // Opens a part of `version`. EUCLEAN: lower has another version of this sequence. Other errors as
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
