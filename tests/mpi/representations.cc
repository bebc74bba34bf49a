// external32, internal, and representations of the program's own.
#include <cstddef>
#include <cstring>

#include "check.h"

namespace {

// Every value is there twice in the file, as a program's own representation may have it.
int twice_extent(MPI_Datatype type, MPI_Aint* extent, void*) {
  int size = 0;
  MPI_Type_size(type, &size);
  *extent = 2 * size;
  return MPI_SUCCESS;
}
int twice_write(void* user, MPI_Datatype, int count, void* file, MPI_Offset position, void*) {
  const int* from = static_cast<int*>(user) + position;
  int* to = static_cast<int*>(file);
  for (int i = 0; i < count; ++i) to[2 * i] = to[2 * i + 1] = from[i];
  return MPI_SUCCESS;
}
int twice_read(void* user, MPI_Datatype, int count, void* file, MPI_Offset position, void*) {
  int* to = static_cast<int*>(user) + position;
  const int* from = static_cast<int*>(file);
  for (int i = 0; i < count; ++i) to[i] = from[2 * i];
  return MPI_SUCCESS;
}

// One that gives up.
int failing(void*, MPI_Datatype, int, void*, MPI_Offset, void*) { return MPI_ERR_ARG; }

template <typename Value>
Value big_endian(const unsigned char* bytes) {
  Value value;
  unsigned char turned[sizeof value];
  for (size_t i = 0; i < sizeof value; ++i) turned[i] = bytes[sizeof value - 1 - i];
  std::memcpy(&value, turned, sizeof value);
  return value;
}

void external32() {
  struct Record {
    char letter;
    double number;
    long integer;
    int small;
  };
  MPI_Datatype packed, record;
  const int lengths[] = {1, 1, 1, 1};
  const MPI_Aint places[] = {offsetof(Record, letter), offsetof(Record, number),
                             offsetof(Record, integer), offsetof(Record, small)};
  const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_LONG, MPI_INT};
  MPI_Type_create_struct(4, lengths, places, types, &packed);
  MPI_Type_create_resized(packed, 0, sizeof(Record), &record);
  MPI_Type_commit(&record);
  const size_t in_file = 1 + 8 + 4 + 4;
  MPI_File file = open_file("external", MPI_MODE_CREATE | MPI_MODE_RDWR);
  const auto each = static_cast<MPI_Offset>(100 * in_file);
  OK(MPI_File_set_view(file, rank * each, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL));
  std::vector<Record> mine(100);
  for (size_t i = 0; i < 100; ++i) {
    mine[i].letter = static_cast<char>('a' + i % 26);
    mine[i].number = 0.1 * static_cast<double>(i) - rank;
    mine[i].integer = -static_cast<long>(i) - rank;
    mine[i].small = static_cast<int>(i) * 1000;
  }
  MPI_Status status;
  MPI_Aint extent = 0;
  OK(MPI_File_get_type_extent(file, MPI_LONG, &extent));
  CHECK(extent == 4);
#if MPI_VERSION >= 4
  MPI_Count large_extent = 0;
  OK(MPI_File_get_type_extent_c(file, MPI_LONG, &large_extent));
  CHECK(large_extent == 4);
#endif
  OK(MPI_File_get_type_extent(file, MPI_DOUBLE, &extent));
  CHECK(extent == 8);
  OK(MPI_File_write_at(file, 0, mine.data(), 100, record, &status));
  CHECK(count_of(status, record) == 100);
  std::vector<Record> got(120);
  OK(MPI_File_read_at(file, 0, got.data(), 100, record, &status));
  CHECK(count_of(status, record) == 100);
  for (size_t i = 0; i < 100; ++i)
    CHECK(got[i].letter == mine[i].letter && got[i].number == mine[i].number &&
          got[i].integer == mine[i].integer && got[i].small == mine[i].small);
  MPI_File_close(&file);
  const auto bytes = contents("external");
  CHECK(bytes.size() == static_cast<size_t>(each) * static_cast<size_t>(ranks));
  const unsigned char* here = bytes.data() + rank * each + 5 * in_file;
  CHECK(here[0] == 'f');
  CHECK(big_endian<double>(here + 1) == mine[5].number);
  CHECK(big_endian<int>(here + 9) == -5 - rank);
  CHECK(big_endian<int>(here + 13) == 5000);
  MPI_Type_free(&packed);
  MPI_Type_free(&record);
}

// A view whose filetype has gaps, in sizes of the file.
void strided_external32() {
  MPI_Datatype every_other;
  MPI_Type_vector(10, 1, 2, MPI_LONG, &every_other);
  MPI_Type_commit(&every_other);
  MPI_File file = open_file("strided", MPI_MODE_CREATE | MPI_MODE_RDWR);
  OK(MPI_File_set_view(file, rank * 100, MPI_LONG, every_other, "external32", MPI_INFO_NULL));
  std::vector<long> mine(10), got(10);
  for (size_t i = 0; i < 10; ++i) mine[i] = static_cast<long>(i) * 3 - rank;
  OK(MPI_File_write_all(file, mine.data(), 10, MPI_LONG, MPI_STATUS_IGNORE));
  OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
  MPI_Status status;
  OK(MPI_File_read_all(file, got.data(), 10, MPI_LONG, &status));
  CHECK(count_of(status, MPI_LONG) == 10);
  CHECK(got == mine);
  MPI_Offset at = 0;
  OK(MPI_File_get_byte_offset(file, 3, &at));
  CHECK(at == rank * 100 + 3 * 8);
  MPI_File_close(&file);
  const auto bytes = contents("strided");
  CHECK(big_endian<int>(bytes.data() + rank * 100 + 3 * 8) == 9 - rank);
  MPI_Type_free(&every_other);
}

void own() {
  char name[] = "twice";
  OK(MPI_Register_datarep(name, twice_read, twice_write, twice_extent, nullptr));
  CHECK_CLASS(MPI_Register_datarep(name, twice_read, twice_write, twice_extent, nullptr),
              MPI_ERR_DUP_DATAREP);
  MPI_File file = open_file("twice", MPI_MODE_CREATE | MPI_MODE_RDWR);
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, name, MPI_INFO_NULL));
  const std::vector<int> mine = {rank, rank + 1, rank + 2};
  MPI_Status status;
  OK(MPI_File_write_at_all(file, 3 * rank, mine.data(), 3, MPI_INT, &status));
  CHECK(count_of(status, MPI_INT) == 3);
  std::vector<int> got(3);
  OK(MPI_File_read_at_all(file, 3 * rank, got.data(), 3, MPI_INT, &status));
  CHECK(got == mine);
  MPI_File_close(&file);
  const auto bytes = contents("twice");
  CHECK(bytes.size() == static_cast<size_t>(ranks) * 24);
  const auto* values = reinterpret_cast<const int*>(bytes.data());
  CHECK(values[6 * rank + 2] == rank + 1 && values[6 * rank + 3] == rank + 1);
}

// What a program's function returns is none of the file's errors: the class says that it was the
// conversion, and the text where.
void not_converted() {
  char name[] = "failing";
  OK(MPI_Register_datarep(name, failing, failing, twice_extent, nullptr));
  MPI_File file = open_file("failing", MPI_MODE_CREATE | MPI_MODE_RDWR);
  OK(MPI_File_set_size(file, 800));
  OK(MPI_File_set_view(file, 16, MPI_INT, MPI_INT, name, MPI_INFO_NULL));
  // Another text of the class that the function returns, which is not this error's.
  CHECK_CLASS(MPI_File_seek(file, -7, MPI_SEEK_SET), MPI_ERR_ARG);
  int values[3] = {1, 2, 3};
  MPI_Status status;
  for (const bool reading : {true, false}) {
    const int code = reading ? MPI_File_read_at(file, 5, values, 3, MPI_INT, &status)
                             : MPI_File_write_at(file, 5, values, 3, MPI_INT, &status);
    CHECK_CLASS(code, MPI_ERR_CONVERSION);
    CHECK(count_of(status, MPI_INT) == 0);
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    const char* where = reading ? "failing: read at offset 56: " : "failing: write at offset 56: ";
    CHECK(std::strstr(text, where) != nullptr && std::strstr(text, "\"failing\"") != nullptr);
  }
  MPI_File_close(&file);
}

}  // namespace

void test_representations() {
  external32();
  strided_external32();
  own();
  not_converted();
}
