// NeededBlocks: the checksum blocks that a restart needs, by region, and whether they are right.
// Nodes compare the blocks of their own parts.
#pragma once

#include <map>
#include <vector>

#include "checkpoint/restart/stored_version.h"

namespace cairn::checkpoint {

class NeededBlocks {
 public:
  explicit NeededBlocks(StoredVersion* stored) : stored_(*stored) {}

  // What `wanted` of a stored variable takes.
  Status add(uint32_t variable, const Section& wanted);
  // Compares all of them with their checksums. EUCLEAN: a block or a list differs; the text says
  // which. EIO and others of the medium.
  Status verify();
  [[nodiscard]] uint64_t blocks() const;

 private:
  Status add_part(uint32_t variable, uint32_t rank, const Section& wanted);
  void mark(std::vector<bool>* needed, uint64_t offset, uint64_t size) const;
  Status verify_region(const Area& area, const std::vector<bool>& needed);

  StoredVersion& stored_;
  std::map<uint32_t, std::vector<bool>> needed_;  // of regions, by rank
};

}  // namespace cairn::checkpoint
