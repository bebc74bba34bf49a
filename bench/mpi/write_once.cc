// bench_mpiio starts this program for ranks that write once: each its segment of one new file
// through MPI-IO, or a new file of its own by pwrite.
//   write_once mpi|posix FILE MIB_PER_RANK PIECE
// Prints the nanoseconds of the slowest rank's writes.
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "stop.h"

namespace {

using bench::must;
using bench::must_posix;
using bench::stop;

int rank = 0;

// Slowest rank's seconds for writes write(0 .. count - 1).
template <typename Write>
double timed(int64_t count, const Write& write) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int64_t i = 0; i < count; ++i) write(i);
  double seconds = MPI_Wtime() - begin;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 5) stop("usage: write_once mpi|posix FILE MIB_PER_RANK PIECE");
  const std::string way = argv[1];
  const std::string path = way == "posix" ? argv[2] + std::to_string(rank) : argv[2];
  const int64_t size = std::atoll(argv[3]) << 20;
  const int piece = std::atoi(argv[4]);
  // The buffer is not larger than the caches of one rank: the benchmark measures where the bytes
  // go, and not where they come from.
  const std::vector<char> buffer(size_t{4} << 20, static_cast<char>(rank + 1));
  const auto bytes = [&](int64_t i) { return buffer.data() + i * piece % (int64_t{4} << 20); };
  double seconds = 0;
  if (way == "posix") {
    unlink(path.c_str());
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    must_posix(fd >= 0, path);
    seconds = timed(size / piece, [&](int64_t i) {
      must_posix(pwrite(fd, bytes(i), static_cast<size_t>(piece), i * piece) == piece, path);
    });
    close(fd);
    unlink(path.c_str());
  } else {
    if (rank == 0) MPI_File_delete(path.c_str(), MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File file;
    must(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY,
                       MPI_INFO_NULL, &file),
         "open");
    seconds = timed(size / piece, [&](int64_t i) {
      must(MPI_File_write_at(file, rank * size + i * piece, bytes(i), piece, MPI_BYTE,
                             MPI_STATUS_IGNORE),
           "write");
    });
    MPI_File_close(&file);
    if (rank == 0) MPI_File_delete(path.c_str(), MPI_INFO_NULL);
  }
  if (rank == 0) std::printf("%.0f\n", seconds * 1e9);
  MPI_Finalize();
  return 0;
}
