// ManifestWriter: stores the parts of a manifest that are known before any rank has written: the
// version, its attributes and, if there is only one part, that part.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/layout/layout.h"
#include "checkpoint/run/run.h"
#include "checkpoint/store/slot.h"
#include "checkpoint/versions/lineage.h"
#include "checkpoint/write/partners.h"

namespace cairn::checkpoint {

// The properties of a version that the program defines.
struct VersionFacts {
  int64_t number = 0;
  int64_t step = 0;
  std::string code_version;
  std::vector<uint8_t> attributes;
};

struct NewVersion {
  uint64_t sequence;
  const Layout& layout;
  const VersionFacts& facts;
  const Lineage& lineage;
  const Partners& partners;
};

// Makes the record of the part that the ranks of this node write.
PartRecord make_part(const Run& run, const Partners& partners);

// Stores the manifest except the roots of the ranks and, with several parts, the table of parts.
// Its decision is free then.
Status write_manifest(const Run& run, const NewVersion& added, Slot* slot);

}  // namespace cairn::checkpoint
