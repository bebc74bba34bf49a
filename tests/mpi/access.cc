// Every call that reads or writes, at explicit offsets and at pointers.
#include <algorithm>
#include <functional>

#include "check.h"

namespace {

constexpr int length = 1000;

std::vector<int> pattern(int owner, int round) {
  std::vector<int> values(length);
  for (int i = 0; i < length; ++i)
    values[static_cast<size_t>(i)] = owner * 1000003 + round * 7919 + i;
  return values;
}

MPI_Status wait(MPI_Request request) {
  MPI_Status status;
  OK(MPI_Wait(&request, &status));
  return status;
}

struct Way {
  const char* name;
  // Reads or writes `length` ints: at an offset of that many ints, or at the pointer, which is
  // there.
  std::function<MPI_Status(MPI_File, MPI_Offset, int*)> read;
  std::function<MPI_Status(MPI_File, MPI_Offset, int*)> write;
};

#define AT(suffix)                                                                   \
  Way {                                                                              \
#suffix,                                                                           \
        [](MPI_File f, MPI_Offset at, int* b) {                                        \
          MPI_Status status;                                                           \
          OK(MPI_File_read_##suffix(f, at, b, length, MPI_INT, &status));              \
          return status;                                                               \
        },                                                                             \
        [](MPI_File f, MPI_Offset at, int* b) {                                        \
          MPI_Status status;                                                           \
          OK(MPI_File_write_##suffix(f, at, b, length, MPI_INT, &status));             \
          return status;                                                               \
        } \
  }
#define IAT(suffix)                                                          \
  Way {                                                                      \
    "i" #suffix,                                                             \
        [](MPI_File f, MPI_Offset at, int* b) {                              \
          MPI_Request request;                                               \
          OK(MPI_File_iread_##suffix(f, at, b, length, MPI_INT, &request));  \
          return wait(request);                                              \
        },                                                                   \
        [](MPI_File f, MPI_Offset at, int* b) {                              \
          MPI_Request request;                                               \
          OK(MPI_File_iwrite_##suffix(f, at, b, length, MPI_INT, &request)); \
          return wait(request);                                              \
        }                                                                    \
  }
#define POINTER(read_call, write_call)                                               \
  Way {                                                                              \
#read_call,                                                                        \
        [](MPI_File f, MPI_Offset at, int* b) {                                        \
          MPI_Status status;                                                           \
          OK(MPI_File_seek(f, at, MPI_SEEK_SET));                                      \
          OK(MPI_File_##read_call(f, b, length, MPI_INT, &status));                    \
          return status;                                                               \
        },                                                                             \
        [](MPI_File f, MPI_Offset at, int* b) {                                        \
          MPI_Status status;                                                           \
          OK(MPI_File_seek(f, at, MPI_SEEK_SET));                                      \
          OK(MPI_File_##write_call(f, b, length, MPI_INT, &status));                   \
          return status;                                                               \
        } \
  }
#define IPOINTER(read_call, write_call)                                              \
  Way {                                                                              \
#read_call,                                                                        \
        [](MPI_File f, MPI_Offset at, int* b) {                                        \
          MPI_Request request;                                                         \
          OK(MPI_File_seek(f, at, MPI_SEEK_SET));                                      \
          OK(MPI_File_##read_call(f, b, length, MPI_INT, &request));                   \
          return wait(request);                                                        \
        },                                                                             \
        [](MPI_File f, MPI_Offset at, int* b) {                                        \
          MPI_Request request;                                                         \
          OK(MPI_File_seek(f, at, MPI_SEEK_SET));                                      \
          OK(MPI_File_##write_call(f, b, length, MPI_INT, &request));                  \
          return wait(request);                                                        \
        } \
  }

std::vector<Way> ways() {
  return {
      AT(at),
      AT(at_all),
      IAT(at),
      IAT(at_all),
      POINTER(read, write),
      POINTER(read_all, write_all),
      IPOINTER(iread, iwrite),
      IPOINTER(iread_all, iwrite_all),
      {"split at",
       [](MPI_File f, MPI_Offset at, int* b) {
         MPI_Status status;
         OK(MPI_File_read_at_all_begin(f, at, b, length, MPI_INT));
         OK(MPI_File_read_at_all_end(f, b, &status));
         return status;
       },
       [](MPI_File f, MPI_Offset at, int* b) {
         MPI_Status status;
         OK(MPI_File_write_at_all_begin(f, at, b, length, MPI_INT));
         OK(MPI_File_write_at_all_end(f, b, &status));
         return status;
       }},
      {"split",
       [](MPI_File f, MPI_Offset at, int* b) {
         MPI_Status status;
         OK(MPI_File_seek(f, at, MPI_SEEK_SET));
         OK(MPI_File_read_all_begin(f, b, length, MPI_INT));
         OK(MPI_File_read_all_end(f, b, &status));
         return status;
       },
       [](MPI_File f, MPI_Offset at, int* b) {
         MPI_Status status;
         OK(MPI_File_seek(f, at, MPI_SEEK_SET));
         OK(MPI_File_write_all_begin(f, b, length, MPI_INT));
         OK(MPI_File_write_all_end(f, b, &status));
         return status;
       }},
  };
}

void every_way() {
  MPI_File file = open_file("access", MPI_MODE_CREATE | MPI_MODE_RDWR);
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  int round = 0;
  for (const Way& way : ways()) {
    std::vector<int> mine = pattern(rank, ++round);
    const MPI_Status wrote = way.write(file, static_cast<MPI_Offset>(rank) * length, mine.data());
    CHECK(count_of(wrote, MPI_INT) == length);
    OK(MPI_File_sync(file));
    barrier();
    OK(MPI_File_sync(file));
    const int other = (rank + 1) % ranks;
    std::vector<int> theirs(length, -1);
    const MPI_Status read = way.read(file, static_cast<MPI_Offset>(other) * length, theirs.data());
    CHECK(count_of(read, MPI_INT) == length);
    CHECK(theirs == pattern(other, round));
    // Beyond the end: what is there, and how much that was.
    const MPI_Status last =
        way.read(file, static_cast<MPI_Offset>(ranks) * length - 10, theirs.data());
    CHECK(count_of(last, MPI_INT) == 10);
    const MPI_Status beyond =
        way.read(file, static_cast<MPI_Offset>(ranks) * length + 10, theirs.data());
    CHECK(count_of(beyond, MPI_INT) == 0);
    barrier();
  }
  MPI_File_close(&file);
}

// Requests of several calls, done in any order; tested and waited for in every way.
void requests() {
  MPI_File file = open_file("requests", MPI_MODE_CREATE | MPI_MODE_RDWR);
  std::vector<std::vector<int>> values;
  std::vector<MPI_Request> all(8);
  for (int i = 0; i < 8; ++i) values.push_back(pattern(rank, i));
  const auto place = [&](int i) { return static_cast<MPI_Offset>((rank * 8 + i) * length * 4); };
  for (int i = 0; i < 8; ++i)
    OK(MPI_File_iwrite_at(file, place(i), values[static_cast<size_t>(i)].data(), length, MPI_INT,
                          &all[static_cast<size_t>(i)]));
  std::vector<MPI_Status> statuses(8);
  OK(MPI_Waitall(8, all.data(), statuses.data()));
  for (const MPI_Status& status : statuses) CHECK(count_of(status, MPI_INT) == length);
  for (const MPI_Request& request : all) CHECK(request == MPI_REQUEST_NULL);
  MPI_Request request;
  std::vector<int> got(length);
  OK(MPI_File_iread_at(file, place(3), got.data(), length, MPI_INT, &request));
  int done = 0;
  MPI_Status status;
  while (done == 0) OK(MPI_Test(&request, &done, &status));
  CHECK(count_of(status, MPI_INT) == length);
  CHECK(got == values[3]);
  MPI_File_close(&file);
}

// Memory of any shape, file without gaps.
void memory_types() {
  MPI_File file = open_file("memory", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Datatype every_other;
  MPI_Type_vector(length / 2, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  std::vector<int> mine = pattern(rank, 77);
  const MPI_Offset at = static_cast<MPI_Offset>(rank) * length * 2;
  MPI_Status status;
  OK(MPI_File_write_at(file, at, mine.data(), 1, every_other, &status));
  CHECK(count_of(status, every_other) == 1);
  CHECK(count_of(status, MPI_INT) == length / 2);
  std::vector<int> got(length, -1);
  OK(MPI_File_read_at(file, at, got.data(), length / 2, MPI_INT, &status));
  for (size_t i = 0; i < length / 2; ++i) CHECK(got[i] == mine[2 * i]);
  std::fill(got.begin(), got.end(), -1);
  OK(MPI_File_read_at(file, at, got.data(), 1, every_other, &status));
  for (size_t i = 0; i < length; ++i) CHECK(got[i] == (i % 2 == 0 ? mine[i] : -1));
  MPI_Type_free(&every_other);
  // An absolute address.
  MPI_Aint address = 0;
  MPI_Get_address(mine.data() + 5, &address);
  const int one = 1;
  MPI_Datatype here;
  MPI_Type_create_hindexed(1, &one, &address, MPI_INT, &here);
  MPI_Type_commit(&here);
  OK(MPI_File_write_at(file, at, MPI_BOTTOM, 1, here, &status));
  MPI_Type_free(&here);
  OK(MPI_File_read_at(file, at, got.data(), 1, MPI_INT, &status));
  CHECK(got[0] == mine[5]);
  OK(MPI_File_write_at(file, at, nullptr, 0, MPI_INT, &status));
  CHECK(count_of(status, MPI_INT) == 0);
  MPI_File_close(&file);
}

}  // namespace

void test_access() {
  every_way();
  requests();
  memory_types();
}
