// bench_mpiio starts this program under every MPI: the access patterns, on a covered file, on a
// plain one by the MPI's own I/O, and as copies between the ranks' buffers and one mapping, in
// turn.
//   patterns COVERED PLAIN MAPPED MIB_PER_RANK ROUNDS
// One line for each pass, from rank 0: WAY, PATTERN, "write" or "read", nanoseconds of the slowest
// rank.
#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "stop.h"
#include "stream.h"

namespace {

using bench::must;
using bench::must_posix;
using bench::stop;

int rank = 0;
int ranks = 1;
int64_t per_rank = 0;

enum class Call : uint8_t { independent, collective };
enum class Where : uint8_t { segment, interleaved, next_segment };

struct Pattern {
  const char* name;
  Call call;
  Where where;
  int piece;   // bytes of a call
  int strip;   // bytes in one place; less than a piece where a view spreads it
  bool write;  // measured for writing, too
};

constexpr Pattern patterns[] = {
    {"independent 4 KiB", Call::independent, Where::segment, 4096, 4096, true},
    {"independent 32 KiB", Call::independent, Where::segment, 32768, 32768, true},
    {"independent 1 MiB", Call::independent, Where::segment, 1 << 20, 1 << 20, true},
    {"collective 4 KiB", Call::collective, Where::segment, 4096, 4096, true},
    {"collective 1 MiB", Call::collective, Where::segment, 1 << 20, 1 << 20, true},
    {"interleaved 47008 B", Call::independent, Where::interleaved, 47008, 47008, true},
    {"strided view 1 KiB", Call::collective, Where::interleaved, 1 << 20, 1024, true},
    {"another decomposition", Call::independent, Where::next_segment, 1 << 20, 1 << 20, false},
};

int64_t calls_of(const Pattern& pattern) { return per_rank / pattern.piece; }

// Returns the offset of call `i`.
int64_t place_of(const Pattern& pattern, int64_t i) {
  if (pattern.where == Where::interleaved) return (i * ranks + rank) * pattern.piece;
  const int owner = pattern.where == Where::segment ? rank : (rank + 1) % ranks;
  return owner * per_rank + i * pattern.piece;
}

// ---- by MPI-IO ----------------------------------------------------------------------------------

void pass_file(MPI_File file, const Pattern& pattern, bool write, char* buffer) {
  MPI_Status status;
  const bool view = pattern.strip < pattern.piece;
  for (int64_t i = 0; i < calls_of(pattern); ++i) {
    const MPI_Offset at = view ? i * pattern.piece : place_of(pattern, i);
    char* bytes = buffer + i % 4 * (1 << 20);
    if (write) {
      must(pattern.call == Call::collective
               ? MPI_File_write_at_all(file, at, bytes, pattern.piece, MPI_BYTE, &status)
               : MPI_File_write_at(file, at, bytes, pattern.piece, MPI_BYTE, &status),
           "write");
    } else {
      must(pattern.call == Call::collective
               ? MPI_File_read_at_all(file, at, bytes, pattern.piece, MPI_BYTE, &status)
               : MPI_File_read_at(file, at, bytes, pattern.piece, MPI_BYTE, &status),
           "read");
    }
  }
}

MPI_File open_file(const std::string& path, const Pattern& pattern) {
  MPI_File file;
  must(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                     &file),
       "open");
  if (pattern.strip < pattern.piece) {
    MPI_Datatype strips;
    MPI_Type_create_resized(MPI_BYTE, 0, 1, &strips);
    MPI_Datatype one;
    MPI_Type_contiguous(pattern.strip, MPI_BYTE, &one);
    MPI_Type_create_resized(one, 0, int64_t{pattern.strip} * ranks, &strips);
    MPI_Type_commit(&strips);
    must(MPI_File_set_view(file, int64_t{rank} * pattern.strip, MPI_BYTE, strips, "native",
                           MPI_INFO_NULL),
         "view");
    MPI_Type_free(&one);
    MPI_Type_free(&strips);
  }
  return file;
}

// ---- by copying
// -----------------------------------------------------------------------------------

enum class Copy : uint8_t { cached, streamed };

void pass_mapping(char* mapping, const Pattern& pattern, bool write, char* buffer, Copy copy) {
  for (int64_t i = 0; i < calls_of(pattern); ++i) {
    char* bytes = buffer + i % 4 * (1 << 20);
    for (int64_t done = 0; done < pattern.piece; done += pattern.strip) {
      const int64_t at = pattern.strip < pattern.piece
                             ? (i * pattern.piece + done) * ranks + rank * pattern.strip
                             : place_of(pattern, i);
      const auto size = static_cast<size_t>(pattern.strip);
      if (!write)
        std::memcpy(bytes + done, mapping + at, size);
      else if (copy == Copy::cached)
        std::memcpy(mapping + at, bytes + done, size);
      else
        stream(mapping + at, bytes + done, pattern.strip);
    }
  }
}

template <typename Pass>
void timed(const char* way, const Pattern& pattern, const char* direction, const Pass& pass) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  pass();
  double seconds = MPI_Wtime() - begin;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%s\t%s\t%s\t%.0f\n", way, pattern.name, direction, seconds * 1e9);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 6) stop("usage: patterns COVERED PLAIN MAPPED MIB_PER_RANK ROUNDS");
  per_rank = std::atoll(argv[4]) << 20;
  const int rounds = std::atoi(argv[5]);
  const int64_t whole = per_rank * ranks;
  const int fd = open(argv[3], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  must_posix(fd >= 0 && ftruncate(fd, whole) == 0, argv[3]);
  void* mapped = mmap(nullptr, static_cast<size_t>(whole), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_POPULATE, fd, 0);
  must_posix(mapped != MAP_FAILED, argv[3]);
  auto* mapping = static_cast<char*>(mapped);
  std::vector<char> buffer(size_t{4} << 20, static_cast<char>(rank + 1));
  for (const Pattern& pattern : patterns) {
    const std::string names[] = {argv[1], argv[2]};
    MPI_File files[] = {open_file(names[0], pattern), open_file(names[1], pattern)};
    const char* ways[] = {"cairn", "own"};
    // The first pass makes what is overwritten in the others.
    for (int round = -1; round < rounds; ++round) {
      for (const bool write : {true, false}) {
        if (write && !pattern.write && round >= 0) continue;
        const char* direction = round < 0 ? (write ? "first write" : "first read")
                                : write   ? "write"
                                          : "read";
        for (int turn = 0; turn < 4; ++turn) {
          const int which = (turn + round + 4) % 4;
          if (which < 2) {
            timed(ways[which], pattern, direction,
                  [&] { pass_file(files[which], pattern, write, buffer.data()); });
          } else if (which == 2 || write) {
            timed(which == 2 ? "copy" : "stream", pattern, direction, [&] {
              pass_mapping(mapping, pattern, write, buffer.data(),
                           which == 2 ? Copy::cached : Copy::streamed);
            });
          }
        }
      }
    }
    for (MPI_File& file : files) MPI_File_close(&file);
  }
  MPI_Finalize();
  return 0;
}
