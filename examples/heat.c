/* Heat spreads on a plate, in MPI ranks that hold some rows each. The program writes a checkpoint
 * from time to time, and goes on from the last one when it is started again, on any number of
 * ranks.
 *
 *   mpirun -n 4 ./heat STEPS [STEPS-BETWEEN-CHECKPOINTS [ROWS]]
 *
 * Neither `cairn run` nor a preloaded library is needed. */
#include <cairn/checkpoint.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 512 };

static int rank, ranks;

static void check(int result, const char* call) {
  if (result >= 0) return;
  fprintf(stderr, "rank %d: %s: %s\n", rank, call, cairn_last_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The rows that this rank holds, with one more on each side from its neighbours. */
static void define(cairn_checkpoint* checkpoint, double* rows, int64_t first, int64_t count,
                   int64_t all) {
  cairn_array array = {.struct_size = sizeof array,
                       .type = CAIRN_TYPE_FLOAT64,
                       .dimensions = 2,
                       .base = rows,
                       .extent = {count + 2, COLUMNS}};
  cairn_distribution block = {.struct_size = sizeof block,
                              .kind = CAIRN_BLOCK,
                              .global = {all, COLUMNS},
                              .offset = {first, 0},
                              .halo_low = {1},
                              .halo_high = {1}};
  check(cairn_checkpoint_define(checkpoint, "temperature", &array, &block, NULL), "define");
}

static void exchange(double* rows, int64_t count) {
  const int above = rank == 0 ? MPI_PROC_NULL : rank - 1;
  const int below = rank == ranks - 1 ? MPI_PROC_NULL : rank + 1;
  MPI_Sendrecv(rows + COLUMNS, COLUMNS, MPI_DOUBLE, above, 0, rows + (count + 1) * COLUMNS, COLUMNS,
               MPI_DOUBLE, below, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(rows + count * COLUMNS, COLUMNS, MPI_DOUBLE, below, 1, rows, COLUMNS, MPI_DOUBLE,
               above, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void compute(const double* rows, double* next, int64_t first, int64_t count, int64_t all) {
  for (int64_t i = 1; i <= count; ++i) {
    const int is_edge = first + i - 1 == 0 || first + i == all;
    for (int64_t j = 0; j < COLUMNS; ++j) {
      const double* at = rows + i * COLUMNS + j;
      next[i * COLUMNS + j] = is_edge || j == 0 || j == COLUMNS - 1
                                  ? *at
                                  : 0.25 * (at[-COLUMNS] + at[COLUMNS] + at[-1] + at[1]);
    }
  }
}

/* What a checkpoint or a restart took. */
static void tell(const char* what, double seconds, int64_t rows_of_all) {
  if (rank == 0)
    printf("%s %.1f MiB in %.4f s\n", what, (double)(rows_of_all * COLUMNS) * 8 / (1 << 20),
           seconds);
}

/* All bits of the plate count, whatever rank holds them. */
static uint64_t sum_of_bits(const double* rows, int64_t count) {
  uint64_t sum = 0, all = 0, bits;
  for (int64_t i = COLUMNS; i < (count + 1) * COLUMNS; ++i) {
    memcpy(&bits, rows + i, sizeof bits);
    sum += bits;
  }
  MPI_Reduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int64_t steps = argc > 1 ? atoll(argv[1]) : 100;
  const int64_t between = argc > 2 ? atoll(argv[2]) : 10;
  const int64_t all = argc > 3 ? atoll(argv[3]) : 512;
  const int64_t first = all * rank / ranks, count = all * (rank + 1) / ranks - first;
  const size_t bytes = (size_t)((count + 2) * COLUMNS) * sizeof(double);
  double* rows = calloc(1, bytes);
  double* next = calloc(1, bytes);
  if (rows == NULL || next == NULL) MPI_Abort(MPI_COMM_WORLD, 1);

  cairn_checkpoint* checkpoint;
  cairn_checkpoint_info info = {.struct_size = sizeof info};
  check(cairn_checkpoint_init("heat", MPI_Comm_c2f(MPI_COMM_WORLD), NULL, &checkpoint), "init");
  define(checkpoint, rows, first, count, all);
  const int found = cairn_checkpoint_restart_test(checkpoint, CAIRN_CHECKPOINT_LATEST, &info);
  check(found, "restart_test");
  if (found == 1) {
    const double begin = MPI_Wtime();
    check(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, &info), "read");
    if (rank == 0) printf("goes on after step %" PRId64 "\n", info.number);
    tell("read", MPI_Wtime() - begin, all);
    if (rank == 0 && info.skipped != 0) printf("left out: %s\n", info.why);
  } else if (rank == 0) {
    for (int64_t j = 0; j < COLUMNS; ++j) rows[COLUMNS + j] = 100; /* the upper edge is hot */
  }

  for (int64_t step = info.number + 1; step <= steps; ++step) {
    exchange(rows, count);
    compute(rows, next, first, count, all);
    memcpy(rows + COLUMNS, next + COLUMNS, (size_t)(count * COLUMNS) * sizeof(double));
    if (step % between != 0) continue;
    const double begin = MPI_Wtime();
    check(cairn_checkpoint_write(checkpoint, step), "write");
    tell("wrote", MPI_Wtime() - begin, all);
  }
  const uint64_t sum = sum_of_bits(rows, count);
  if (rank == 0) printf("after %" PRId64 " steps: %016" PRIx64 "\n", steps, sum);
  check(cairn_checkpoint_finalize(checkpoint), "finalize");
  free(rows);
  free(next);
  MPI_Finalize();
  return 0;
}
