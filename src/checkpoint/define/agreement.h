// Agreement: turns the definitions of all ranks into the contents of the versions to come, or into
// one error.
#pragma once

#include "checkpoint/define/definitions_record.h"
#include "checkpoint/layout/contents.h"
#include "checkpoint/layout/packing.h"
#include "checkpoint/run/run.h"

namespace cairn::checkpoint {

// The places of failure texts and of the ranks' definitions in the file `agree`.
inline constexpr uint64_t texts_begin = 1024;
inline constexpr uint64_t agree_ranges_begin = 4096;

// Agrees with all ranks; waits for them. The layout is durable afterwards. All ranks get the same
// result. EINVAL, EOVERFLOW, as join_nodes(). `arrived`: as for Run::barrier_reduce().
Result<Contents> agree(Run* run, const Definitions& definitions, const LayoutChoice& choice,
                       uint64_t arrived);

// Contents that all ranks agreed on, and their consequences for one rank.
struct Agreed {
  Contents contents;
  Packed packed;    // of this rank
  Regions regions;  // of this node's ranks
};
Result<Agreed> make_agreed(Contents contents, const Run& run);

}  // namespace cairn::checkpoint
