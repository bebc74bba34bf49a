// Sides says for a kernel what one command does: the writes, the reads of what an earlier command
// has written, or both; and whose data a rank reads.
#pragma once

#include "common/arguments.h"
#include "common/report.h"

namespace kernels {

struct Sides {
  bool write_only = false;
  bool read_only = false;
  std::string readers = "same-rank";  // next-rank, next-node

  // Both, if neither or both were asked for.
  [[nodiscard]] bool write() const { return write_only || !read_only; }
  [[nodiscard]] bool read() const { return read_only || !write_only; }
  // A mistake if the data must be those of another rank, or of another node, and there is none.
  void check(Mistakes* mistakes) const;
  // Returns the rank whose data this rank reads. Collective.
  [[nodiscard]] int owner() const;
  // The parameter `readers` of a report.
  [[nodiscard]] Parameter parameter() const;
};

// Adds --write-only, --read-only and --readers, with their check.
void side_arguments(Arguments* arguments, Sides* sides);

}  // namespace kernels
