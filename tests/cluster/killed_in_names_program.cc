// Calls by name in a loop, of ranks of which one is killed: the others go on.
//   killed_in_names_program STOP SEED
// Each says its process and, over and over, how many calls it has made. When the file STOP is there
// (outside the covered directory), they say that they end, with STOP.look what there is on their
// host, and end when STOP is gone: who answers for a host must not end before those who ask it.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <random>
#include <string>

#include "by_name.h"

namespace {

bool is_usual(int result) {
  return result >= 0 || errno == ENOENT || errno == EEXIST || errno == ENOTEMPTY ||
         errno == ENOTDIR || errno == EISDIR || errno == EBUSY;
}

int call(std::mt19937& drawn) {
  const std::string directory = "d" + std::to_string(drawn() % 3);
  const std::string file = "d" + std::to_string(drawn() % 3) + "/f" + std::to_string(drawn() % 3);
  switch (drawn() % 9) {
    case 7:
      return rename(("l" + std::to_string(drawn() % 3)).c_str(),
                    ("l" + std::to_string(drawn() % 3)).c_str());
    case 8:
      return chmod(directory.c_str(), 0700 + drawn() % 8);
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

// Kinds, modes and what is in directories, as this rank's host has them.
void say_what_there_is() {
  std::string text;
  for (const std::string& name : list(".")) {
    struct stat st = {};
    CHECK(lstat(name.c_str(), &st) == 0);
    text += " " + name + ":" + std::to_string(st.st_mode);
    if (!S_ISDIR(st.st_mode)) continue;
    for (const std::string& file : list(name.c_str())) text += "," + file;
  }
  std::printf("rank %d sees%s\n", rank, text.c_str());
  std::fflush(stdout);
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
  const std::string look = std::string(stop) + ".look";
  for (bool looked = false; access(stop, F_OK) == 0; usleep(10'000)) {
    if (looked || access(look.c_str(), F_OK) != 0) continue;
    // The first call under the lock finishes what the one that was killed had begun.
    CHECK(mkdir("looks", 0700) == 0 || errno == EEXIST);
    say_what_there_is();
    looked = true;
  }
  // Who was killed would be waited for in MPI_Finalize.
  _exit(wrong == 0 ? 0 : 1);
}
