// A call on a file in which one rank waits for others that are stopped, cut off, dead, or compute
// for a while.
//   silent_program CALL WAITER [SECONDS]    CALL: open, sync, close, set_size, set_view, ordered,
//   delete, finalize, finalize_meeting, read
// Rank WAITER says that it is ready and waits for /dev/shm/go on its host before it makes the call.
// The others come SECONDS later, or never.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "mpi_parts.h"

namespace {

// As libraries end: HDF5 closes the files that are still open.
int meet(MPI_Comm, int, void*, void*) {
  barrier();
  return MPI_SUCCESS;
}

void meet_in_finalize() {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, meet, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
}

void make(const std::string& call, MPI_File* file) {
  if (call == "open") *file = open_file("silent", MPI_MODE_RDWR);
  if (call == "sync") OK(MPI_File_sync(*file));
  if (call == "close" || call == "delete") OK(MPI_File_close(file));
  if (call == "set_size") OK(MPI_File_set_size(*file, 100));
  if (call == "set_view")
    OK(MPI_File_set_view(*file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  if (call == "ordered") OK(MPI_File_write_ordered(*file, "x", 1, MPI_BYTE, MPI_STATUS_IGNORE));
  if (call == "finalize_meeting") meet_in_finalize();
  if (call == "finalize" || call == "finalize_meeting") MPI_Finalize();
  const int other = (rank + 1) % ranks;
  if (call == "read") CHECK(read_at(*file, other * 10, 10) == patterns(other * 10, 10, other));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string call = argv[1];
  const int waiter = std::atoi(argv[2]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int amode =
      MPI_MODE_CREATE | MPI_MODE_RDWR | (call == "delete" ? MPI_MODE_DELETE_ON_CLOSE : 0);
  MPI_File file = open_file("silent", amode);
  write_at(file, rank * 10, patterns(rank * 10, 10, rank));
  if (call == "read") OK(MPI_File_sync(file));
  const bool finalizes = call == "finalize" || call == "finalize_meeting";
  if (call == "open" || finalizes) OK(MPI_File_close(&file));
  barrier();
  if (rank == waiter) {
    std::printf("ready\n");
    std::fflush(stdout);
    while (access("/dev/shm/go", F_OK) != 0) usleep(10'000);
  } else if (argc > 3) {
    while (access("/dev/shm/go", F_OK) != 0) usleep(10'000);
    usleep(static_cast<useconds_t>(std::atof(argv[3]) * 1e6));
  } else {
    while (true) sleep(1);
  }
  make(call, &file);
  if (finalizes) return 0;
  if (call != "close" && call != "delete") OK(MPI_File_close(&file));
  barrier();
  if (rank == 0 && wrong == 0) std::printf("all came\n");
  std::fflush(stdout);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
