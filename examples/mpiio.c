// MPI-IO in one page: all ranks write one file, and each reads what its neighbour has written.
//
//   mpicc mpiio.c -o mpiio
//   mpirun -n 4 ./mpiio results.dat                                         on the file system
//   cairn run --at . -- mpirun -n 4 ./mpiio results.dat                     in memory
//
// The program is the same in both cases. After the second form, results.dat is an ordinary file,
// too.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { line_bytes = 32 };

// By default MPI-IO returns errors instead of ending the program.
static void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  fprintf(stderr, "mpiio: %s: %s\n", call, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 2) {
    if (rank == 0) fprintf(stderr, "usage: mpiio FILE\n");
    MPI_Finalize();
    return 2;
  }

  MPI_File file;
  check(
      MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
      "MPI_File_open");

  // A line of fixed length for each rank, filled up with spaces.
  char text[64], line[line_bytes];
  int length = snprintf(text, sizeof text, "rank %d of %d", rank, ranks);
  memset(line, ' ', sizeof line);
  memcpy(line, text, (size_t)length);
  line[line_bytes - 1] = '\n';
  MPI_Offset mine = (MPI_Offset)rank * line_bytes;
  check(MPI_File_write_at_all(file, mine, line, line_bytes, MPI_CHAR, MPI_STATUS_IGNORE),
        "MPI_File_write_at_all");

  // The standard makes the others' bytes visible after sync, barrier, sync (MPI 4.1,
  // section 14.6.1).
  check(MPI_File_sync(file), "MPI_File_sync");
  MPI_Barrier(MPI_COMM_WORLD);
  check(MPI_File_sync(file), "MPI_File_sync");

  int neighbour = (rank + 1) % ranks;
  check(MPI_File_read_at_all(file, (MPI_Offset)neighbour * line_bytes, line, line_bytes, MPI_CHAR,
                             MPI_STATUS_IGNORE),
        "MPI_File_read_at_all");
  check(MPI_File_close(&file), "MPI_File_close");

  int found = -1;
  line[line_bytes - 1] = '\0';
  sscanf(line, "rank %d", &found);
  int wrong = found != neighbour, any = 0;
  MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d ranks: %s\n", ranks,
           any ? "a neighbour's line is wrong" : "all read their neighbours' lines");
  MPI_Finalize();
  return any;
}
