// bench_remote starts this program on two hosts: rank 0 reads what rank 1, on the other host, has
// written, through MPI-IO and by MPI_Get from a window, in turn. Rank 1 waits in a barrier, where
// MPI serves gets and Cairn's messages alike.
//   remote_reads FILE MIB ROUNDS
// Rank 0 prints lines: WAY, PATTERN, nanoseconds of a KiB.
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "stop.h"

namespace {

using bench::must;
using bench::stop;

constexpr int reader = 0;
constexpr int owner = 1;
constexpr int64_t large = 1 << 20;
constexpr int64_t small = 1024;
constexpr int64_t small_pieces = 1024;  // of one call, every other one of the file
constexpr int64_t flushed_pieces =
    128;  // a flush for each takes milliseconds where the owner polls the window now and then
int rank = 0;

// The barrier is over for the owner when the reader has come to it.
template <typename Pass>
void timed(const char* way, const char* pattern, int64_t kib, const Pass& pass) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == reader) {
    const double begin = MPI_Wtime();
    pass();
    std::printf("%s\t%s\t%.0f\n", way, pattern,
                (MPI_Wtime() - begin) * 1e9 / static_cast<double>(kib));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 4) stop("usage: remote_reads FILE MIB ROUNDS");
  const int64_t size = std::atoll(argv[2]) << 20;
  const int rounds = std::atoi(argv[3]);
  MPI_Win window = MPI_WIN_NULL;
  char* shared = nullptr;
  must(MPI_Win_allocate(rank == owner ? size : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &shared,
                        &window),
       "no window");
  MPI_File file = MPI_FILE_NULL;
  must(
      MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
      "open");
  MPI_Win_lock_all(0, window);
  if (rank == owner) {
    for (int64_t i = 0; i < size; ++i) shared[i] = static_cast<char>(i * 7 + i / large);
    for (int64_t at = 0; at < size; at += large)
      must(MPI_File_write_at(file, at, shared + at, static_cast<int>(large), MPI_BYTE,
                             MPI_STATUS_IGNORE),
           "write");
    MPI_Win_sync(window);
  }
  must(MPI_File_sync(file), "sync");
  // Every other KiB, as many at once as a call has.
  MPI_Datatype strips = MPI_DATATYPE_NULL;
  MPI_Type_vector(static_cast<int>(small_pieces), static_cast<int>(small),
                  static_cast<int>(2 * small), MPI_BYTE, &strips);
  MPI_Datatype tiles = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(strips, 0, 2 * small * small_pieces, &tiles);
  MPI_Type_commit(&tiles);
  std::vector<char> bytes(static_cast<size_t>(size));
  std::vector<char> expected(static_cast<size_t>(size));

  for (int round = 0; round < rounds; ++round) {
    timed("cairn", "1 MiB", size / small, [&] {
      for (int64_t at = 0; at < size; at += large)
        must(MPI_File_read_at(file, at, bytes.data() + at, static_cast<int>(large), MPI_BYTE,
                              MPI_STATUS_IGNORE),
             "read");
    });
    timed("get", "1 MiB", size / small, [&] {
      for (int64_t at = 0; at < size; at += large) {
        MPI_Get(expected.data() + at, static_cast<int>(large), MPI_BYTE, owner, at,
                static_cast<int>(large), MPI_BYTE, window);
        MPI_Win_flush(owner, window);
      }
    });
    if (rank == reader && bytes != expected) stop("wrong bytes");
    const int64_t tile = 2 * small * small_pieces;
    const int64_t call = small * small_pieces;
    const auto tiles_of_file = static_cast<int>(size / tile);
    MPI_File_set_view(file, 0, MPI_BYTE, tiles, "native", MPI_INFO_NULL);
    std::memset(bytes.data(), 0, bytes.size());
    timed("cairn", "strided 1 KiB", tiles_of_file * small_pieces, [&] {
      for (int i = 0; i < tiles_of_file; ++i)
        must(MPI_File_read_at(file, i * call, bytes.data() + i * call, static_cast<int>(call),
                              MPI_BYTE, MPI_STATUS_IGNORE),
             "read");
    });
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    timed("get", "strided 1 KiB", flushed_pieces, [&] {
      for (int64_t i = 0; i < flushed_pieces; ++i) {
        MPI_Get(expected.data() + i * small, static_cast<int>(small), MPI_BYTE, owner,
                i * 2 * small, static_cast<int>(small), MPI_BYTE, window);
        MPI_Win_flush(owner, window);
      }
    });
    if (rank == reader && std::memcmp(bytes.data(), expected.data(),
                                      static_cast<size_t>(flushed_pieces * small)) != 0)
      stop("wrong bytes of a view");
  }
  MPI_Type_free(&strips);
  MPI_Type_free(&tiles);
  MPI_Win_unlock_all(window);
  MPI_File_close(&file);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
