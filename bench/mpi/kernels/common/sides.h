// Sides says for a kernel what one command does: the writes, the reads of what an earlier command
// has written, or both; and whose data a rank reads.
#pragma once

#include "common/arguments.h"
#include "common/report.h"

namespace kernels {

enum class Readers { same_rank, next_rank, next_node };

struct Sides {
  bool write_only = false;
  bool read_only = false;
  Readers readers = Readers::same_rank;

  // Both, if neither or both were asked for.
  [[nodiscard]] bool write() const { return write_only || !read_only; }
  [[nodiscard]] bool read() const { return read_only || !write_only; }
  // Whose data this rank reads. Ends the job where no other rank, or no other node, is there.
  // Collective.
  [[nodiscard]] int owner() const;
  // The parameter `readers` of a report.
  [[nodiscard]] Parameter parameter() const;
};

// --write-only, --read-only and --readers, and their lines of --help.
extern const char* const sides_help;
void side_arguments(Arguments* arguments, Sides* sides);

}  // namespace kernels
