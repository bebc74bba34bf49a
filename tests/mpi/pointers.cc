// Individual and shared pointers, ordered calls, sequential files.
#include <algorithm>

#include "check.h"

void test_pointers() {
  MPI_File file = open_file("pointers", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Datatype every_third;  // one int, then two of others
  MPI_Type_create_resized(MPI_INT, 0, 12, &every_third);
  MPI_Type_commit(&every_third);
  OK(MPI_File_set_view(file, 8, MPI_INT, every_third, "native", MPI_INFO_NULL));
  MPI_Offset at = -1;
  OK(MPI_File_get_position(file, &at));
  CHECK(at == 0);
  OK(MPI_File_get_byte_offset(file, 0, &at));
  CHECK(at == 8);
  OK(MPI_File_get_byte_offset(file, 5, &at));
  CHECK(at == 8 + 5 * 12);
  OK(MPI_File_seek(file, 3, MPI_SEEK_SET));
  OK(MPI_File_seek(file, 2, MPI_SEEK_CUR));
  OK(MPI_File_get_position(file, &at));
  CHECK(at == 5);
  OK(MPI_File_seek(file, -5, MPI_SEEK_CUR));
  CHECK_CLASS(MPI_File_seek(file, -1, MPI_SEEK_CUR), MPI_ERR_ARG);
  CHECK_CLASS(MPI_File_seek(file, 0, 12345), MPI_ERR_ARG);
  const std::vector<int> values = {1, 2, 3, 4, 5, 6, 7};
  if (rank == 0) OK(MPI_File_write(file, values.data(), 7, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_sync(file));
  barrier();
  OK(MPI_File_sync(file));
  OK(MPI_File_get_position(file, &at));
  CHECK(at == (rank == 0 ? 7 : 0));
  OK(MPI_File_seek(file, 0, MPI_SEEK_END));
  OK(MPI_File_get_position(file, &at));
  CHECK(at == 7);
  OK(MPI_File_seek(file, -2, MPI_SEEK_END));
  std::vector<int> got(5, 0);
  MPI_Status status;
  OK(MPI_File_read(file, got.data(), 5, MPI_INT, &status));
  CHECK(count_of(status, MPI_INT) == 2 && got[0] == 6 && got[1] == 7);
  MPI_Offset displacement = 0;
  MPI_Datatype etype, filetype;
  char name[MPI_MAX_DATAREP_STRING];
  OK(MPI_File_get_view(file, &displacement, &etype, &filetype, name));
  CHECK(displacement == 8 && std::string(name) == "native");
  MPI_Aint lb = 0, extent = 0;
  MPI_Type_get_extent(filetype, &lb, &extent);
  CHECK(extent == 12);
  MPI_Type_free(&filetype);
  MPI_Type_free(&every_third);
  MPI_File_close(&file);
}

namespace {

// Rank r writes r + 1 ints; together they are one after the other.
void ordered() {
  MPI_File file = open_file("ordered", MPI_MODE_CREATE | MPI_MODE_RDWR);
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  const std::vector<int> mine(static_cast<size_t>(rank) + 1, rank);
  const int all = ranks * (ranks + 1) / 2;
  MPI_Status status;
  OK(MPI_File_write_ordered(file, mine.data(), rank + 1, MPI_INT, &status));
  CHECK(count_of(status, MPI_INT) == rank + 1);
  OK(MPI_File_write_ordered_begin(file, mine.data(), rank + 1, MPI_INT));
  OK(MPI_File_write_ordered_end(file, mine.data(), &status));
  MPI_Offset at = 0;
  barrier();
  OK(MPI_File_get_position_shared(file, &at));
  CHECK(at == 2 * all);
  barrier();
  OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  std::vector<int> got(mine.size(), -1);
  OK(MPI_File_read_ordered(file, got.data(), rank + 1, MPI_INT, &status));
  CHECK(got == mine);
  std::fill(got.begin(), got.end(), -1);
  OK(MPI_File_read_ordered_begin(file, got.data(), rank + 1, MPI_INT));
  OK(MPI_File_read_ordered_end(file, got.data(), &status));
  CHECK(got == mine);
  OK(MPI_File_sync(file));
  OK(MPI_File_seek_shared(file, -all, MPI_SEEK_END));
  OK(MPI_File_get_position_shared(file, &at));
  CHECK(at == all);
  MPI_File_close(&file);
}

// Everybody takes what comes next: all is there once, whoever wrote it.
void shared() {
  constexpr int each = 50;
  MPI_File file = open_file("shared", MPI_MODE_CREATE | MPI_MODE_RDWR);
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  for (int i = 0; i < each; ++i) {
    const int value = rank * each + i;
    if (i % 2 == 0) {
      OK(MPI_File_write_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    } else {
      MPI_Request request;
      OK(MPI_File_iwrite_shared(file, &value, 1, MPI_INT, &request));
      OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
  }
  OK(MPI_File_sync(file));
  barrier();
  OK(MPI_File_sync(file));
  std::vector<int> seen(static_cast<size_t>(each * ranks), 0);
  OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  for (int i = 0; i < each; ++i) {
    int value = -1;
    if (i % 2 == 0) {
      OK(MPI_File_read_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    } else {
      MPI_Request request;
      OK(MPI_File_iread_shared(file, &value, 1, MPI_INT, &request));
      OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    CHECK(value >= 0 && value < each * ranks);
    if (value >= 0 && value < each * ranks) ++seen[static_cast<size_t>(value)];
  }
  MPI_Allreduce(MPI_IN_PLACE, seen.data(), static_cast<int>(seen.size()), MPI_INT, MPI_SUM,
                MPI_COMM_WORLD);
  for (int count : seen) CHECK(count == 1);
  MPI_File_close(&file);
}

void sequential() {
  MPI_File file = open_file("sequential", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
  const int value = rank;
  MPI_Offset at = 0;
  CHECK_CLASS(MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE),
              MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_CLASS(MPI_File_write(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE),
              MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_CLASS(MPI_File_seek(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_CLASS(MPI_File_get_position(file, &at), MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_CLASS(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_CLASS(MPI_File_get_position_shared(file, &at), MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_CLASS(MPI_File_set_size(file, 100), MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_CLASS(MPI_File_preallocate(file, 100), MPI_ERR_UNSUPPORTED_OPERATION);
  OK(MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  barrier();
  // The view goes on where the shared pointer is.
  OK(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  MPI_Datatype etype, filetype;
  char name[MPI_MAX_DATAREP_STRING];
  OK(MPI_File_get_view(file, &at, &etype, &filetype, name));
  CHECK(at == 4 * ranks);
  OK(MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  MPI_File_close(&file);
  const auto bytes = contents("sequential");
  CHECK(bytes.size() == static_cast<size_t>(8 * ranks));
  const auto* values = reinterpret_cast<const int*>(bytes.data());
  for (int i = 0; i < 2 * ranks; ++i) CHECK(values[i] == i % ranks);
  barrier();
}

}  // namespace

void test_shared() {
  ordered();
  shared();
  sequential();
}
