// Ranks on several hosts write through POSIX calls, and say what is committed: closed, or synced
// where another host has the file. The test kills one of them. The next job looks for what was
// said.
//   committed_program write
//   committed_program look LIST     the lines that the first one has said
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "mpi_parts.h"

namespace {

constexpr int64_t piece = 3001;

// Small enough that what fast machines write until they are stopped fits, four times.
int64_t size_of(int64_t number) { return 1 + number * 7919 % 5'000; }

bool write_all(int fd, const Bytes& bytes, int64_t at) {
  return pwrite(fd, bytes.data(), bytes.size(), at) == static_cast<ssize_t>(bytes.size());
}

std::string closed_name(int of, int64_t number) {
  return "closed." + std::to_string(of) + "." + std::to_string(number);
}

void tell(const char* how, int64_t number) {
  std::printf("committed %s %d %lld\n", how, rank, static_cast<long long>(number));
  std::fflush(stdout);
}

// A file of its own, and a piece of the one that all have open. Until it is killed, or another one
// is. What could not be written is not told.
[[noreturn]] void write_for_ever() {
  const int of_all = open("of_all", O_RDWR | O_CREAT, 0600);
  CHECK(of_all >= 0);
  barrier();
  for (int64_t number = 0;; ++number) {
    const std::string name = closed_name(rank, number);
    const int fd = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
    CHECK(fd >= 0 && write_all(fd, patterns(0, size_of(number), rank), 0) && close(fd) == 0);
    if (wrong != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    tell("closed", number);
    const int64_t at = (number * ranks + rank) * piece;
    CHECK(write_all(of_all, patterns(at, piece, rank), at) && fsync(of_all) == 0);
    if (wrong != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    tell("synced", number);
  }
}

Bytes read_some(const std::string& name, int64_t at, int64_t size) {
  Bytes bytes(static_cast<size_t>(size));
  const int fd = open(name.c_str(), O_RDONLY);
  CHECK(fd >= 0);
  const ssize_t n = pread(fd, bytes.data(), bytes.size(), at);
  bytes.resize(n < 0 ? 0 : static_cast<size_t>(n));
  close(fd);
  return bytes;
}

void look(const char* list) {
  std::ifstream lines(list);
  std::string word;
  std::string how;
  int of = 0;
  int64_t number = 0;
  int64_t found = 0;
  for (; lines >> word >> how >> of >> number; ++found) {
    const int64_t at = (number * ranks + of) * piece;
    if (how == "closed")
      CHECK(read_some(closed_name(of, number), 0, 1 << 20) == patterns(0, size_of(number), of));
    else
      CHECK(read_some("of_all", at, piece) == patterns(at, piece, of));
  }
  if (rank == 0 && wrong == 0) std::printf("found %lld\n", static_cast<long long>(found));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3) write_for_ever();
  look(argv[2]);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
