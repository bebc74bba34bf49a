// Restoring by the nodes of a run: parts that none of their pools has come back from lower, dealt
// out to the nodes.
#pragma once

#include <cstdint>
#include <string>

#include "checkpoint/run/run.h"
#include "checkpoint/stock/catalogue.h"
#include "checkpoint/stock/shelf.h"

namespace cairn::checkpoint {

struct RestoredOnNodes {
  bool is_restored = false;
  uint32_t skipped = 0;  // newer ones that are damaged in lower
  std::string why;       // of the newest of them
};

// All ranks of all nodes, after they have joined their stocks and before a version is written;
// waits for them. The newest version that wanted_of() names and that is whole has all of its parts
// in the pools afterwards; the caller takes stock again. An error of one node is one of all:
// ENOSPC, and those of the file system.
Result<RestoredOnNodes> restore_on_nodes(const Run& run, Shelf* shelf, const Catalogue& catalogue,
                                         const std::string& directory);

}  // namespace cairn::checkpoint
