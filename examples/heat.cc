// Heat spreads on a plate, as in heat.c: the same numbers and the same checkpoints, which either
// program can go on from, on any number of ranks.
//
//   mpirun -n 4 ./heat STEPS [STEPS-BETWEEN-CHECKPOINTS [ROWS]]
#include <mpi.h>

#include <algorithm>
#include <cairn/checkpoint.hpp>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr int64_t columns = 512;

// The rows that this rank holds, with one more on each side from its neighbours.
struct Plate {
  Plate(int64_t rows_of_all, int its_rank, int its_ranks)
      : all(rows_of_all),
        rank(its_rank),
        ranks(its_ranks),
        first(all * rank / ranks),
        count(all * (rank + 1) / ranks - first),
        rows(static_cast<size_t>((count + 2) * columns)),
        next(rows.size()) {}

  double* row(int64_t i) { return rows.data() + i * columns; }

  void exchange() {
    const int above = rank == 0 ? MPI_PROC_NULL : rank - 1;
    const int below = rank == ranks - 1 ? MPI_PROC_NULL : rank + 1;
    MPI_Sendrecv(row(1), columns, MPI_DOUBLE, above, 0, row(count + 1), columns, MPI_DOUBLE, below,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(row(count), columns, MPI_DOUBLE, below, 1, row(0), columns, MPI_DOUBLE, above, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  void compute() {
    for (int64_t i = 1; i <= count; ++i) {
      const bool is_edge = first + i - 1 == 0 || first + i == all;
      for (int64_t j = 0; j < columns; ++j) {
        const double* at = row(i) + j;
        next[static_cast<size_t>(i * columns + j)] =
            is_edge || j == 0 || j == columns - 1
                ? *at
                : 0.25 * (at[-columns] + at[columns] + at[-1] + at[1]);
      }
    }
    std::memcpy(row(1), next.data() + columns,
                static_cast<size_t>(count * columns) * sizeof(double));
  }

  // All bits of the plate count, whatever rank holds them.
  uint64_t sum_of_bits() {
    uint64_t sum = 0;
    uint64_t sum_of_all = 0;
    for (const double* at = row(1); at < row(count + 1); ++at) {
      uint64_t bits = 0;
      std::memcpy(&bits, at, sizeof bits);
      sum += bits;
    }
    MPI_Reduce(&sum, &sum_of_all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    return sum_of_all;
  }

  int64_t all;
  int rank;
  int ranks;
  int64_t first;
  int64_t count;
  std::vector<double> rows;
  std::vector<double> next;
};

void run(int64_t steps, int64_t between, Plate plate) {
  cairn::Checkpoint checkpoint("heat", MPI_Comm_c2f(MPI_COMM_WORLD));
  checkpoint.define(
      "temperature", {plate.rows.data(), {plate.count + 2, columns}},
      cairn::Block{.global = {plate.all, columns}, .offset = {plate.first, 0}, .halo = {1, 0}});
  int64_t step = 0;
  if (checkpoint.restart_test()) {
    const cairn::Info info = checkpoint.read();
    step = info.number;
    if (plate.rank == 0) std::printf("goes on after step %" PRId64 "\n", step);
    if (plate.rank == 0 && info.skipped != 0) std::printf("left out: %s\n", info.why);
  } else if (plate.rank == 0) {
    std::fill_n(plate.row(1), columns, 100.0);  // the upper edge is hot
  }
  while (++step <= steps) {
    plate.exchange();
    plate.compute();
    if (step % between == 0) checkpoint.write(step);
  }
  const uint64_t sum = plate.sum_of_bits();
  if (plate.rank == 0) std::printf("after %" PRId64 " steps: %016" PRIx64 "\n", steps, sum);
  checkpoint.close();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int64_t steps = argc > 1 ? std::atoll(argv[1]) : 100;
  const int64_t between = argc > 2 ? std::atoll(argv[2]) : 10;
  const int64_t all = argc > 3 ? std::atoll(argv[3]) : 512;
  try {
    run(steps, between, Plate(all, rank, ranks));
  } catch (const cairn::Error& error) {
    std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
