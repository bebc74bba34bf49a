// Agreement: the definitions of all ranks become the contents of the versions to come, or one
// error.
#pragma once

#include "checkpoint/define/definitions_record.h"
#include "checkpoint/layout/contents.h"
#include "checkpoint/layout/packing.h"
#include "checkpoint/run/run.h"

namespace cairn::checkpoint {

// Where ranks find texts of failures in the file `agree`, and their definitions.
inline constexpr uint64_t texts_begin = 1024;
inline constexpr uint64_t agree_ranges_begin = 4096;

// Waits for all ranks. The layout is durable afterwards. All ranks get the same result. EINVAL,
// EOVERFLOW, as join_nodes(). `arrived`: as for Run::meet().
Result<Contents> agree(Run* run, const Definitions& definitions, const LayoutChoice& choice,
                       uint64_t arrived);

// Contents that all ranks agreed on, and what follows from them for one rank.
struct Agreed {
  Contents contents;
  Packed packed;    // of this rank
  Regions regions;  // of this node's ranks
};
Result<Agreed> make_agreed(Contents contents, const Run& run);

}  // namespace cairn::checkpoint
