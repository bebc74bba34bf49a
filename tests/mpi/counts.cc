// Calls with MPI_Count. A program may look for them at run time and then finds ours, also with an
// MPI that has none.
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <cstring>

#include "check.h"

#if MPI_VERSION < 4
using Convert = int(void*, MPI_Datatype, MPI_Count, void*, MPI_Offset, void*);
extern "C" {
__attribute__((weak)) int MPI_File_write_at_c(MPI_File, MPI_Offset, const void*, MPI_Count,
                                              MPI_Datatype, MPI_Status*);
__attribute__((weak)) int MPI_File_read_at_c(MPI_File, MPI_Offset, void*, MPI_Count, MPI_Datatype,
                                             MPI_Status*);
__attribute__((weak)) int PMPI_File_read_c(MPI_File, void*, MPI_Count, MPI_Datatype, MPI_Status*);
__attribute__((weak)) int MPI_File_get_type_extent_c(MPI_File, MPI_Datatype, MPI_Count*);
__attribute__((weak)) int MPI_Register_datarep_c(const char*, Convert*, Convert*,
                                                 MPI_Datarep_extent_function*, void*);
}
#endif

namespace {

void move(MPI_File file) {
  std::vector<int> mine(1000, rank), got(1000, -1);
  MPI_Status status;
  OK(MPI_File_write_at_c(file, 8, mine.data(), MPI_Count{1000}, MPI_INT, &status));
  CHECK(count_of(status, MPI_INT) == 1000);
  OK(MPI_File_read_at_c(file, 8, got.data(), MPI_Count{1000}, MPI_INT, &status));
  CHECK(count_of(status, MPI_INT) == 1000 && got == mine);
  OK(PMPI_File_read_c(file, got.data(), MPI_Count{2}, MPI_INT, &status));
  CHECK(count_of(status, MPI_INT) == 2 && got[0] == 0 && got[1] == 0);
  MPI_Count extent = 0;
  OK(MPI_File_get_type_extent_c(file, MPI_INT, &extent));
  CHECK(extent == 4);
}

// Every byte is another one in the file.
int extent_of(MPI_Datatype type, MPI_Aint* extent, void*) {
  int size = 0;
  MPI_Type_size(type, &size);
  *extent = size;
  return MPI_SUCCESS;
}
int invert(const void* from, void* to, MPI_Count count) {
  for (MPI_Count i = 0; i < 4 * count; ++i)
    static_cast<unsigned char*>(to)[i] =
        static_cast<unsigned char>(~static_cast<const unsigned char*>(from)[i]);
  return MPI_SUCCESS;
}
int inverted(void* user, MPI_Datatype, MPI_Count count, void* file, MPI_Offset position, void*) {
  return invert(static_cast<int*>(user) + position, file, count);
}
int upright(void* user, MPI_Datatype, MPI_Count count, void* file, MPI_Offset position, void*) {
  return invert(file, static_cast<int*>(user) + position, count);
}

void represent() {
  OK(MPI_Register_datarep_c("inverted", upright, inverted, extent_of, nullptr));
  MPI_File file = open_file("inverted", MPI_MODE_CREATE | MPI_MODE_RDWR);
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "inverted", MPI_INFO_NULL));
  const std::vector<int> mine = {rank, 77, -1};
  std::vector<int> got(3);
  OK(MPI_File_write_at_all(file, 3 * rank, mine.data(), 3, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_read_at_all(file, 3 * rank, got.data(), 3, MPI_INT, MPI_STATUS_IGNORE));
  CHECK(got == mine);
  MPI_File_close(&file);
  const auto bytes = contents("inverted");
  int second = 0;
  std::memcpy(&second, bytes.data() + 12 * static_cast<size_t>(rank) + 4, sizeof second);
  CHECK(second == ~77);
}

// On a file that is not covered the MPI does it.
void outside() {
  char name[] = "/tmp/cairn-counts-XXXXXX";
  ::close(mkstemp(name));
  MPI_File file = open_file(name, MPI_MODE_RDWR, MPI_COMM_SELF);
  move(file);
#if MPI_VERSION < 4
  // By its call with an int, which cannot do this.
  char byte = 0;
  MPI_Status status;
  const int code = MPI_File_read_at_c(file, 0, &byte, MPI_Count{INT_MAX} + 1, MPI_BYTE, &status);
  CHECK(code == MPI_ERR_COUNT);
#endif
  MPI_File_close(&file);
  ::unlink(name);
}

}  // namespace

void test_counts() {
  MPI_File file = open_file(("counts" + std::to_string(rank)).c_str(),
                            MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_COMM_SELF);
  move(file);
  MPI_File_close(&file);
  represent();
  outside();
}
