// bench_mpiio starts this program for the checkpoint loop. Its ranks write one checkpoint after the
// other: through MPI-IO in a covered directory and in a plain one, by POSIX calls on a plain file
// for each rank, and as copies into a warm mapping. The order is drawn for each round.
//   checkpoints COVERED PLAIN delete|cut MIB_PER_RANK PIECE WARM ROUNDS COVERED_ROUNDS SEED
// delete: rank 0 deletes the file and all create it again; cut: its size is set to 0. WARM rounds
// are not printed. More checkpoints follow in the covered directory until there are COVERED_ROUNDS.
// Rank 0 prints a line for each: NAME, nanoseconds of the slowest rank, nanoseconds of processor
// time of all ranks.
#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "stop.h"
#include "stream.h"

namespace {

using bench::must;
using bench::must_posix;
using bench::stop;

int rank = 0;
int64_t size = 0;  // bytes of a rank's checkpoint
int piece = 0;
bool is_deleted = false;
const char* source = nullptr;

void write_through_mpi(const std::string& path) {
  if (is_deleted) {
    if (rank == 0) {
      const int code = MPI_File_delete(path.c_str(), MPI_INFO_NULL);
      int error_class = MPI_SUCCESS;
      MPI_Error_class(code, &error_class);
      if (error_class != MPI_ERR_NO_SUCH_FILE) must(code, "deleting " + path);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_File file = MPI_FILE_NULL;
  must(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                     &file),
       "opening " + path);
  if (!is_deleted) must(MPI_File_set_size(file, 0), "setting the size of " + path);
  for (int64_t at = 0; at < size; at += piece)
    must(MPI_File_write_at(file, rank * size + at, source, piece, MPI_BYTE, MPI_STATUS_IGNORE),
         "writing " + path);
  must(MPI_File_sync(file), "syncing " + path);
  must(MPI_File_close(&file), "closing " + path);
}

void write_by_posix(const std::string& path) {
  if (is_deleted) must_posix(unlink(path.c_str()) == 0 || errno == ENOENT, path);
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  must_posix(fd >= 0, path);
  if (!is_deleted) must_posix(ftruncate(fd, 0) == 0, path);
  for (int64_t at = 0; at < size; at += piece)
    must_posix(write(fd, source, static_cast<size_t>(piece)) == piece, path);
  must_posix(fsync(fd) == 0 && close(fd) == 0, path);
}

char* make_mapping(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  must_posix(fd >= 0 && unlink(path.c_str()) == 0 && ftruncate(fd, size) == 0, path);
  void* memory = mmap(nullptr, static_cast<size_t>(size), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_POPULATE, fd, 0);
  must_posix(memory != MAP_FAILED, path);
  close(fd);
  return static_cast<char*>(memory);
}

double processor_time() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto ns = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_usec) * 1e3;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

struct Contender {
  const char* name;
  std::function<void()> write;
};

void measure(const Contender& contender) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double processor_before = processor_time();
  const double begin = MPI_Wtime();
  contender.write();
  double wall = (MPI_Wtime() - begin) * 1e9;
  double processor = processor_time() - processor_before;
  MPI_Allreduce(MPI_IN_PLACE, &wall, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &processor, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%s\t%.0f\t%.0f\n", contender.name, wall, processor);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 10)
    stop(
        "usage: checkpoints COVERED PLAIN delete|cut MIB_PER_RANK PIECE WARM ROUNDS COVERED_ROUNDS "
        "SEED");
  const std::string covered = argv[1] + std::string("/checkpoint");
  const std::string plain = argv[2] + std::string("/checkpoint");
  is_deleted = std::strcmp(argv[3], "delete") == 0;
  size = std::atoll(argv[4]) << 20;
  piece = std::atoi(argv[5]);
  const int warm = std::atoi(argv[6]);
  const int rounds = std::atoi(argv[7]);
  const int covered_rounds = std::atoi(argv[8]);
  const std::string own_file = plain + "-" + std::to_string(rank);
  const std::vector<char> bytes(static_cast<size_t>(piece), static_cast<char>(rank + 1));
  source = bytes.data();
  char* mapping = make_mapping(own_file + "-mapping");
  const auto copy = [&](auto put) {
    for (int64_t at = 0; at < size; at += piece) put(mapping + at);
  };
  std::vector<Contender> contenders = {
      {"Cairn", [&] { write_through_mpi(covered); }},
      {"the MPI's own", [&] { write_through_mpi(plain); }},
      {"POSIX, a file each", [&] { write_by_posix(own_file); }},
  };
  if (warm == 0)  // the first round is measured: a second one on other files shows the spread
    contenders.push_back({"POSIX, again", [&] { write_by_posix(own_file + "-again"); }});
  contenders.push_back({"memcpy, warm mapping", [&] {
                          copy([&](char* to) { std::memcpy(to, source, bytes.size()); });
                        }});
  contenders.push_back(
      {"non-temporal copy, warm mapping",
       [&] { copy([&](char* to) { stream(to, source, static_cast<int64_t>(bytes.size())); }); }});
  contenders[contenders.size() - 2].write();
  // The MPI loads its I/O components when the first file is opened.
  MPI_File file = MPI_FILE_NULL;
  must(MPI_File_open(MPI_COMM_WORLD, (plain + "-first").c_str(),
                     MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &file),
       "opening a first file");
  must(MPI_File_close(&file), "closing a first file");
  for (int round = 0; round < warm; ++round)
    for (const Contender& contender : contenders) contender.write();
  const std::function<void()> write_covered = contenders.front().write;
  // All ranks draw the same order.
  std::minstd_rand random(static_cast<unsigned>(std::atoi(argv[9])));
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(contenders.begin(), contenders.end(), random);
    for (const Contender& contender : contenders) measure(contender);
  }
  for (int written = warm + rounds; written < covered_rounds; ++written) write_covered();
  MPI_Finalize();
  return 0;
}
