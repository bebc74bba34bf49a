// An MPI whose broadcasts fail on the last rank, for Cairn's calls only. MPI_File_set_size must not
// succeed there.
//   failing_program
#include "mpi_parts.h"

namespace {

bool failing = false;

void set_size() {
  MPI_File file = open_file("failing", MPI_MODE_CREATE | MPI_MODE_RDWR);
  failing = rank == last();
  const int code = MPI_File_set_size(file, 1000);
  failing = false;
  if (rank == last()) std::printf("it went on with %d\n", code);
  OK(MPI_File_close(&file));
}

constexpr Part parts[] = {{"set_size", set_size}};

}  // namespace

extern "C" int PMPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  const int code = MPI_Bcast(buffer, count, datatype, root, comm);
  return failing ? MPI_ERR_OTHER : code;
}

int main(int argc, char** argv) { return run_parts(parts, argc, argv); }
