// Shortage: says why a pool did not take what a program wrote: the pool was full, or what it lies
// on. The advice differs.
#pragma once

#include <cairn/cairn.h>

#include <string>

namespace cairn::cli {

// Counts of writes that did not fit. A run compares those before its program with those after it.
struct Shortage {
  uint64_t writes = 0;   // that did not fit
  uint64_t bytes = 0;    // of them
  uint64_t refused = 0;  // of the writes, those for which the medium had no room
  uint32_t of = CAIRN_SHORT_OF_NOTHING;
};
Shortage shortage_of(cairn_pool* pool, const cairn_pool_info& info);

// One line without "cairn run: "; "" if everything has fitted. `made_by_run`: the pool has the size
// that the options say.
// What a keeper did during the run: `stopped` is its process, if that is stopped (SIGSTOP).
struct Draining {
  bool is_meanwhile = false;
  int stopped = 0;
};
std::string shortage_text(const Shortage& before, const Shortage& after,
                          const cairn_pool_info& info, bool made_by_run, const Draining& draining);

}  // namespace cairn::cli
