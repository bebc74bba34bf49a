// A file that grows by committed rounds until somebody kills a rank, and a look at what is there
// then.
//   killed_program rounds|look
#include <unistd.h>

#include "mpi_parts.h"

namespace {

constexpr int64_t piece = 1000;
constexpr int64_t pieces = 64;
constexpr int64_t round_bytes = piece * pieces;

int64_t rounds_of(MPI_File file) {
  MPI_Offset size = 0;
  OK(MPI_File_get_size(file, &size));
  CHECK(size % round_bytes == 0);
  return size / round_bytes;
}

void check_round(MPI_File file, int64_t round) {
  const int64_t at = round * round_bytes;
  CHECK(read_at(file, at, round_bytes) == patterns(at, round_bytes, 0));
}

// Goes on where the job before was killed. The pieces of a round are dealt to the ranks, and all
// read the whole round.
void rounds() {
  MPI_File file = open_file("rounds", MPI_MODE_CREATE | MPI_MODE_RDWR);
  for (int64_t round = rounds_of(file); wrong == 0; ++round) {
    for (int64_t i = rank; i < pieces; i += ranks) {
      const int64_t at = round * round_bytes + i * piece;
      write_at(file, at, patterns(at, piece, 0));
    }
    OK(MPI_File_sync(file));
    if (rank == 0) {
      std::printf("committed %lld\n", static_cast<long long>(round + 1));
      std::fflush(stdout);
    }
    check_round(file, round);
  }
  // An error that is told is the end, too; the others are not waited for.
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void look() {
  MPI_File file = open_file("rounds", MPI_MODE_RDONLY);
  const int64_t found = rounds_of(file);
  for (int64_t round = 0; round < found; ++round) check_round(file, round);
  if (rank == 0 && wrong == 0) std::printf("rounds %lld\n", static_cast<long long>(found));
  OK(MPI_File_close(&file));
}

constexpr Part parts[] = {{"rounds", rounds}, {"look", look}};

}  // namespace

int main(int argc, char** argv) { return run_parts(parts, argc, argv); }
