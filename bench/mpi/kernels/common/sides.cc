#include "common/sides.h"

#include "common/job.h"
#include "common/partners.h"

namespace kernels {

void side_arguments(Arguments* arguments, Sides* sides) {
  arguments->flag("--write-only", "no reads; with --keep the files stay for a later command",
                  &sides->write_only);
  arguments->flag("--read-only", "no writes: read and verify what such a command has left",
                  &sides->read_only);
  arguments->choice("--readers", "READERS",
                    "whose data a rank reads: same-rank, next-rank or next-node",
                    {"same-rank", "next-rank", "next-node"}, &sides->readers);
  arguments->check([sides](Mistakes* mistakes) { sides->check(mistakes); });
}

void Sides::check(Mistakes* mistakes) const {
  if (readers == "same-rank") return;
  if (job().ranks == 1)
    mistakes->add("--readers " + readers + ": this job has one rank only");
  else if (readers == "next-node" && job().nodes == 1)
    mistakes->add("--readers next-node: this job has one node only");
}

int Sides::owner() const {
  if (readers == "same-rank") return job().rank;
  if (readers == "next-rank") return (job().rank + 1) % job().ranks;
  return partners_of_next_node().source;
}

Parameter Sides::parameter() const { return {"readers", readers}; }

}  // namespace kernels
