// Calls by name in a loop, of ranks of which one is killed: the others go on.
//   killed_in_names_program STOP SEED
// Each says its process and, over and over, how many calls it has made. When the file STOP is there (outside the covered directory), they
// say that they end, and do so when it is gone: who answers for a host must not end before those who ask it.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <random>
#include <string>

#include "mpi_parts.h"

namespace {

bool is_usual(int result) {
  return result >= 0 || errno == ENOENT || errno == EEXIST || errno == ENOTEMPTY ||
         errno == ENOTDIR || errno == EISDIR || errno == EBUSY;
}

int call(std::mt19937& drawn) {
  const std::string directory = "d" + std::to_string(drawn() % 3);
  const std::string file = "d" + std::to_string(drawn() % 3) + "/f" + std::to_string(drawn() % 3);
  switch (drawn() % 7) {
    case 0:
      return mkdir(directory.c_str(), 0700);
    case 1:
      return rmdir(directory.c_str());
    case 2:
      return rename(directory.c_str(), ("d" + std::to_string(drawn() % 3)).c_str());
    case 3:
      return symlink("x", ("l" + std::to_string(drawn() % 3)).c_str());
    case 4:
      return unlink(("l" + std::to_string(drawn() % 3)).c_str());
    case 5: {
      const int fd = open(file.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600);
      return fd < 0 ? fd : close(fd);
    }
    default:
      return unlink(file.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* stop = argv[1];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  barrier();
  std::printf("rank %d is %d\n", rank, static_cast<int>(getpid()));
  std::fflush(stdout);
  std::mt19937 drawn(static_cast<unsigned>(std::atoi(argv[2]) * ranks + rank));
  double told = MPI_Wtime();
  for (int calls = 1; access(stop, F_OK) != 0; ++calls) {
    if (!is_usual(call(drawn))) {
      std::printf("rank %d was told: %s\n", rank, std::strerror(errno));
      ++wrong;
    }
    if (MPI_Wtime() < told + 0.05) continue;
    told = MPI_Wtime();
    std::printf("rank %d made %d\n", rank, calls);
    std::fflush(stdout);
  }
  std::printf("rank %d ends\n", rank);
  std::fflush(stdout);
  while (access(stop, F_OK) == 0) usleep(10'000);
  // Who was killed would be waited for in MPI_Finalize.
  _exit(wrong == 0 ? 0 : 1);
}
