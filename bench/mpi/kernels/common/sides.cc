#include "common/sides.h"

#include "common/job.h"
#include "common/partners.h"

namespace kernels {
namespace {

const char* name_of(Readers readers) {
  switch (readers) {
    case Readers::next_rank:
      return "next-rank";
    case Readers::next_node:
      return "next-node";
    case Readers::same_rank:
      break;
  }
  return "same-rank";
}

Readers readers_argument(const std::string& text) {
  for (const Readers each : {Readers::same_rank, Readers::next_rank, Readers::next_node})
    if (text == name_of(each)) return each;
  usage_error("--readers: unknown readers '" + text +
              "': expected same-rank, next-rank or next-node");
}

}  // namespace

const char* const sides_help =
    "  --write-only    no reads; with --keep the files stay for a later command\n"
    "  --read-only     no writes: read and verify what such a command has left\n"
    "  --readers R     whose data a rank reads: same-rank (default), next-rank or next-node\n";

void side_arguments(Arguments* arguments, Sides* sides) {
  arguments->flag("--write-only", &sides->write_only);
  arguments->flag("--read-only", &sides->read_only);
  arguments->value("--readers",
                   [=](const std::string& text) { sides->readers = readers_argument(text); });
}

int Sides::owner() const {
  if (readers == Readers::same_rank) return job().rank;
  if (job().ranks == 1)
    usage_error(std::string("--readers ") + name_of(readers) + ": this job has one rank only");
  if (readers == Readers::next_rank) return (job().rank + 1) % job().ranks;
  if (job().nodes == 1) usage_error("--readers next-node: this job has one node only");
  return partners_of_next_node().source;
}

Parameter Sides::parameter() const { return {"readers", name_of(readers)}; }

}  // namespace kernels
