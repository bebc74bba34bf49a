// A parallel program with checkpoints: heat spreads through a cube of N x N x N cells.
//
//   mpicc -O2 field.c -o field -lm
//   mpirun -n 4 ./field --size 128 --steps 100 --every 10 --directory DIR
//
// The cells are divided into blocks, one a rank; each step exchanges the blocks' faces. Every few
// steps all ranks write one checkpoint with MPI-IO, and it replaces the last one. A run that finds
// a checkpoint in DIR goes on from it, on any number of ranks. The result does not depend on the
// number of ranks, bit by bit, nor on how often the program was killed in between.
//
// DIR/field.checkpoint holds 4096 bytes of header (the text "FIELD 1\n", then N and the step as
// 64-bit integers) and N*N*N doubles in the machine's byte order, x fastest. read_field.py reads
// it.
//
// Nothing in here knows of Cairn.
#include <errno.h>
#include <math.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { header_bytes = 4096 };

struct header {
  char magic[8];
  int64_t size;
  int64_t step;
};

static const char magic[8] = {'F', 'I', 'E', 'L', 'D', ' ', '1', '\n'};

// What the user asked for.
struct options {
  int size;
  int steps;
  int every;
  int sync;  // make each checkpoint durable before the next step
  const char* directory;
};

// This rank's block, with one layer of cells around it that belongs to the neighbours. Dimensions
// are z, y, x.
struct block {
  MPI_Comm ranks;
  int rank;
  int size;                // cells along an edge of the whole cube
  int start[3], cells[3];  // where the block begins, and how many cells it has
  int with_halo[3];
  int neighbour[3][2];  // before and behind, or MPI_PROC_NULL at the cube's faces
  double *now, *next;
  MPI_Datatype inside;   // the block's own cells in memory
  MPI_Datatype in_file;  // the same cells in the file
  MPI_Datatype face[3];  // a layer of cells across one dimension
};

static void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("field: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  MPI_Abort(MPI_COMM_WORLD, 1);
  _exit(1);
}

static void check(int code, const char* what, const char* path) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  fail("%s: %s: %s", path, what, text);
}

static size_t at(const struct block* b, int z, int y, int x) {
  size_t rows = (size_t)b->with_halo[1], row = (size_t)b->with_halo[2];
  return ((size_t)z * rows + (size_t)y) * row + (size_t)x;
}

static int64_t bytes_of(const struct block* b) {
  return (int64_t)b->size * b->size * b->size * (int64_t)sizeof(double);
}

// Divides the cube among the ranks and allocates this rank's part.
static void make_block(struct block* b, int size) {
  int ranks, dims[3] = {0, 0, 0}, periods[3] = {0, 0, 0}, coordinates[3];
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 3, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &b->ranks);
  MPI_Comm_rank(b->ranks, &b->rank);
  MPI_Cart_coords(b->ranks, b->rank, 3, coordinates);
  b->size = size;
  int whole[3], halo[3];
  for (int d = 0; d < 3; d++) {
    if (dims[d] > size) fail("--size %d: too small for %d ranks", size, ranks);
    int end = (int)((int64_t)size * (coordinates[d] + 1) / dims[d]);
    b->start[d] = (int)((int64_t)size * coordinates[d] / dims[d]);
    b->cells[d] = end - b->start[d];
    b->with_halo[d] = b->cells[d] + 2;
    whole[d] = size;
    halo[d] = 1;
    MPI_Cart_shift(b->ranks, d, 1, &b->neighbour[d][0], &b->neighbour[d][1]);
  }
  size_t all = at(b, b->with_halo[0], 0, 0);
  b->now = calloc(all, sizeof(double));
  b->next = calloc(all, sizeof(double));
  if (!b->now || !b->next) fail("out of memory for %zu cells", all);
  MPI_Type_create_subarray(3, b->with_halo, b->cells, halo, MPI_ORDER_C, MPI_DOUBLE, &b->inside);
  MPI_Type_commit(&b->inside);
  MPI_Type_create_subarray(3, whole, b->cells, b->start, MPI_ORDER_C, MPI_DOUBLE, &b->in_file);
  MPI_Type_commit(&b->in_file);
  for (int d = 0; d < 3; d++) {
    int layer[3] = {b->cells[0], b->cells[1], b->cells[2]}, origin[3] = {0, 0, 0};
    layer[d] = 1;
    MPI_Type_create_subarray(3, b->with_halo, layer, origin, MPI_ORDER_C, MPI_DOUBLE, &b->face[d]);
    MPI_Type_commit(&b->face[d]);
  }
}

static void free_block(struct block* b) {
  for (int d = 0; d < 3; d++) MPI_Type_free(&b->face[d]);
  MPI_Type_free(&b->in_file);
  MPI_Type_free(&b->inside);
  free(b->now);
  free(b->next);
  MPI_Comm_free(&b->ranks);
}

// The field at the beginning: one value a cell, from its place alone.
static void fill_block(struct block* b) {
  for (int z = 1; z <= b->cells[0]; z++)
    for (int y = 1; y <= b->cells[1]; y++)
      for (int x = 1; x <= b->cells[2]; x++) {
        double u = b->start[0] + z, v = b->start[1] + y, w = b->start[2] + x;
        b->now[at(b, z, y, x)] = sin(0.1 * u) * cos(0.07 * v) + 0.001 * w;
      }
}

// Fills the layer of cells around the block from the six neighbours.
static void exchange_faces(struct block* b) {
  for (int d = 0; d < 3; d++) {
    int first[3] = {1, 1, 1}, last[3] = {1, 1, 1}, before[3] = {1, 1, 1}, behind[3] = {1, 1, 1};
    last[d] = b->cells[d];
    before[d] = 0;
    behind[d] = b->cells[d] + 1;
    MPI_Sendrecv(b->now + at(b, last[0], last[1], last[2]), 1, b->face[d], b->neighbour[d][1], 0,
                 b->now + at(b, before[0], before[1], before[2]), 1, b->face[d], b->neighbour[d][0],
                 0, b->ranks, MPI_STATUS_IGNORE);
    MPI_Sendrecv(b->now + at(b, first[0], first[1], first[2]), 1, b->face[d], b->neighbour[d][0], 1,
                 b->now + at(b, behind[0], behind[1], behind[2]), 1, b->face[d], b->neighbour[d][1],
                 1, b->ranks, MPI_STATUS_IGNORE);
  }
}

static void advance(struct block* b) {
  exchange_faces(b);
  long plane = (long)at(b, 1, 0, 0), row = (long)at(b, 0, 1, 0);
  for (int z = 1; z <= b->cells[0]; z++)
    for (int y = 1; y <= b->cells[1]; y++) {
      const double* u = b->now + at(b, z, y, 0);
      double* v = b->next + at(b, z, y, 0);
      for (int x = 1; x <= b->cells[2]; x++)
        v[x] = u[x] + 0.1 * (((u[x - 1] + u[x + 1]) + (u[x - row] + u[x + row])) +
                             (u[x - plane] + u[x + plane]) - 6 * u[x]);
    }
  double* other = b->now;
  b->now = b->next;
  b->next = other;
}

// Writes the checkpoint of `step` beside the last one and then puts it in its place, so that
// a whole checkpoint exists at any moment. Returns the seconds until all ranks could go on.
static double write_checkpoint(struct block* b, const struct options* o, int step) {
  char path[4096], aside[4096];
  if (snprintf(path, sizeof path, "%s/field.checkpoint", o->directory) >= (int)sizeof path)
    fail("--directory: too long a name");
  if (snprintf(aside, sizeof aside, "%s.new", path) >= (int)sizeof aside)
    fail("--directory: too long a name");
  MPI_Barrier(b->ranks);
  double start = MPI_Wtime();
  MPI_File file;
  check(MPI_File_open(b->ranks, aside, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file),
        "open", aside);
  check(MPI_File_set_size(file, header_bytes + bytes_of(b)), "set size", aside);
  if (b->rank == 0) {
    char first[header_bytes] = {0};
    struct header h = {.size = b->size, .step = step};
    memcpy(h.magic, magic, sizeof magic);
    memcpy(first, &h, sizeof h);
    check(MPI_File_write_at(file, 0, first, header_bytes, MPI_BYTE, MPI_STATUS_IGNORE),
          "write the header", aside);
  }
  check(MPI_File_set_view(file, header_bytes, MPI_DOUBLE, b->in_file, "native", MPI_INFO_NULL),
        "set the view", aside);
  check(MPI_File_write_all(file, b->now, 1, b->inside, MPI_STATUS_IGNORE), "write", aside);
  if (o->sync) check(MPI_File_sync(file), "sync", aside);
  check(MPI_File_close(&file), "close", aside);
  MPI_Barrier(b->ranks);
  if (b->rank == 0 && rename(aside, path) != 0) fail("%s: rename: %s", path, strerror(errno));
  MPI_Barrier(b->ranks);
  return MPI_Wtime() - start;
}

// Reads the checkpoint, if there is one. Returns its step, or 0 without one.
static int read_checkpoint(struct block* b, const struct options* o, double* seconds) {
  char path[4096];
  if (snprintf(path, sizeof path, "%s/field.checkpoint", o->directory) >= (int)sizeof path)
    fail("--directory: too long a name");
  int found = b->rank == 0 && access(path, F_OK) == 0;
  MPI_Bcast(&found, 1, MPI_INT, 0, b->ranks);
  if (!found) return 0;
  MPI_Barrier(b->ranks);
  double start = MPI_Wtime();
  MPI_File file;
  check(MPI_File_open(b->ranks, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file), "open", path);
  struct header h;
  MPI_Status status;
  int count = 0;
  check(MPI_File_read_at_all(file, 0, &h, (int)sizeof h, MPI_BYTE, &status), "read the header",
        path);
  MPI_Get_count(&status, MPI_BYTE, &count);
  if (count != (int)sizeof h || memcmp(h.magic, magic, sizeof magic) != 0)
    fail("%s: not a checkpoint", path);
  if (h.size != b->size)
    fail("%s: holds a cube of %lld cells, not of %d", path, (long long)h.size, b->size);
  check(MPI_File_set_view(file, header_bytes, MPI_DOUBLE, b->in_file, "native", MPI_INFO_NULL),
        "set the view", path);
  check(MPI_File_read_all(file, b->now, 1, b->inside, &status), "read", path);
  MPI_Get_count(&status, b->inside, &count);
  if (count != 1) fail("%s: ends too early", path);
  check(MPI_File_close(&file), "close", path);
  MPI_Barrier(b->ranks);
  *seconds = MPI_Wtime() - start;
  return (int)h.step;
}

// How long it takes all ranks to copy a checkpoint's bytes in memory: no storage can be faster.
static double copy_seconds(struct block* b) {
  double best = 0;
  for (int round = 0; round < 6; round++) {  // the first one warms the memory
    MPI_Barrier(b->ranks);
    double start = MPI_Wtime();
    for (int z = 1; z <= b->cells[0]; z++)
      for (int y = 1; y <= b->cells[1]; y++)
        memcpy(b->next + at(b, z, y, 1), b->now + at(b, z, y, 1),
               (size_t)b->cells[2] * sizeof(double));
    MPI_Barrier(b->ranks);
    double seconds = MPI_Wtime() - start;
    if (round == 1 || (round > 1 && seconds < best)) best = seconds;
  }
  return best;
}

static int number(const char* option, const char* text, int least) {
  char* end;
  errno = 0;
  long value = strtol(text, &end, 10);
  if (errno != 0 || end == text || *end || value < least || value > 1 << 20)
    fail("%s: invalid number: %s", option, text);
  return (int)value;
}

static struct options read_options(int argc, char** argv) {
  struct options o = {.size = 128, .steps = 100, .every = 10, .sync = 0, .directory = "."};
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--sync") == 0) {
      o.sync = 1;
      continue;
    }
    if (i + 1 == argc)
      fail("usage: field [--size N] [--steps N] [--every N] [--directory DIR] [--sync]");
    const char *option = argv[i], *value = argv[++i];
    if (strcmp(option, "--size") == 0)
      o.size = number(option, value, 1);
    else if (strcmp(option, "--steps") == 0)
      o.steps = number(option, value, 0);
    else if (strcmp(option, "--every") == 0)
      o.every = number(option, value, 1);
    else if (strcmp(option, "--directory") == 0)
      o.directory = value;
    else
      fail("%s: unknown option", option);
  }
  return o;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  struct options o = read_options(argc, argv);
  struct block b;
  make_block(&b, o.size);
  double begin = MPI_Wtime(), reading = 0, waited = 0, mib = (double)bytes_of(&b) / 1048576;
  int step = read_checkpoint(&b, &o, &reading), written = 0;
  if (step == 0)
    fill_block(&b);
  else if (b.rank == 0)
    printf("restarted at step %d: read %.1f MiB in %.4f s\n", step, mib, reading);
  while (step < o.steps) {
    advance(&b);
    step++;
    if (step % o.every != 0 && step != o.steps) continue;
    double seconds = write_checkpoint(&b, &o, step);
    waited += seconds;
    written++;
    if (b.rank == 0) printf("step %d: wrote %.1f MiB in %.4f s\n", step, mib, seconds);
    fflush(stdout);
  }
  double total = MPI_Wtime() - begin, copying = copy_seconds(&b);
  if (b.rank == 0)
    printf(
        "done: %d checkpoints, waited %.4f s of %.4f s for storage; copying one in memory takes "
        "%.4f s\n",
        written, waited, total, copying);
  free_block(&b);
  MPI_Finalize();
  return 0;
}
