#include "parts/equal_pieces.h"

#include <cstdio>

#include "common/job.h"

namespace kernels {

void EqualPieces::take_sizes(Arguments* arguments) {
  arguments->size("-b", "bytes of each rank's region", &block);
  arguments->size("-t", "bytes of one copy or call", &piece);
}

void EqualPieces::take_passes(Arguments* arguments) {
  arguments->count("-p", "N", "times over the region in each access", &passes, 1);
}

void EqualPieces::settle(Mistakes* mistakes, int64_t multiple, int64_t most) {
  const std::string invalid = "-t: invalid size " + std::to_string(piece) + ": expected ";
  if (piece == 0 || piece % multiple != 0)
    mistakes->add(invalid + "a multiple of " + std::to_string(multiple));
  else if (piece > most)
    mistakes->add(invalid + "at most " + std::to_string(most));
  if (block < piece)
    mistakes->add("-b: invalid size " + std::to_string(block) + ": expected at least -t");
  check_file_size("-b", {block, job().ranks}, mistakes);
  if (piece > 0) block -= block % piece;
}

Access EqualPieces::access(const char* name, int repetition, const Times& times) const {
  Access access;
  access.name = name;
  access.repetition = repetition;
  access.calls = count() * passes * job().ranks;
  access.bytes = access.calls * piece;
  access.block_bytes = block;
  access.transfer_bytes = piece;
  access.times = times;
  access.seconds = times.last;
  return access;
}

void print_limits(const Report& report, const char* piece) {
  for (const Access& access : report.accesses)
    std::printf("%-12s %9.0f MiB/s  %d ranks, %d nodes, %lld bytes %s\n", access.name.c_str(),
                access.rate(), job().ranks, job().nodes,
                static_cast<long long>(access.transfer_bytes), piece);
  print_checks(report);
}

}  // namespace kernels
