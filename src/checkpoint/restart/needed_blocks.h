// NeededBlocks: collects the checksum blocks that a restart needs, by region, and checks them.
// Nodes compare the blocks of their own parts.
#pragma once

#include <map>
#include <vector>

#include "checkpoint/restart/stored_version.h"

namespace cairn::checkpoint {

class NeededBlocks {
 public:
  explicit NeededBlocks(StoredVersion* stored) : stored_(*stored) {}

  // Adds the blocks that `wanted` of a stored variable needs.
  Status add(uint32_t variable, const Section& wanted);
  // Compares all of them with their checksums. EUCLEAN: a block or a list differs; the text names
  // it. EIO and other errors of the medium.
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
