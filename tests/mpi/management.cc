// Hints, errors, communicators, atomic mode, large transfers.
#include <sys/stat.h>

#include <array>
#include <cstring>
#include <string>

#include "check.h"

namespace {

// What a file says of itself; "-": nothing.
std::string hint_of(MPI_File file, const char* key) {
  MPI_Info used;
  OK(MPI_File_get_info(file, &used));
  char value[MPI_MAX_INFO_VAL + 1] = "";
  int found = 0;
  MPI_Info_get(used, key, MPI_MAX_INFO_VAL, value, &found);
  MPI_Info_free(&used);
  return found != 0 ? value : "-";
}

MPI_Info hint(const char* key, const char* value) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, key, value);
  return info;
}

mode_t umask_now() {
  const mode_t mask = umask(0);
  umask(mask);
  return mask;
}

mode_t mode_of(const char* name) {
  struct stat st = {};
  CHECK(stat(name, &st) == 0);
  return st.st_mode & 0777;
}

// What says nothing to us is as if it were not there.
void values_without_meaning() {
  MPI_File file = open_file("hints_plain", MPI_MODE_CREATE | MPI_MODE_RDWR);
  CHECK(hint_of(file, "file_perm") == "-");
  const std::string standard = hint_of(file, "cairn_visibility");
  CHECK(standard == (several_hosts ? "sync" : "immediate"));
  MPI_Info bogus = hint("cairn_visibility", "bogus");
  OK(MPI_File_set_info(file, bogus));
  CHECK(hint_of(file, "cairn_visibility") == standard);
  MPI_Info_free(&bogus);
  OK(MPI_File_close(&file));
  const mode_t plain = rank == 0 ? mode_of("hints_plain") : 0;
  const char* name = "hints_of_no_mode";
  for (const char* value : {"zz", "0648", "-1", "9", "17777"}) {
    MPI_Info info = hint("file_perm", value);
    OK(MPI_File_open(MPI_COMM_WORLD, name,
                     MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &file));
    MPI_Info_free(&info);
    CHECK(hint_of(file, "file_perm") == "-");
    if (rank == 0) CHECK(mode_of(name) == plain);
    barrier();
    OK(MPI_File_close(&file));
  }
  MPI_Info info = hint("file_perm", "640");
  OK(MPI_File_open(MPI_COMM_WORLD, "hints_0640", MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
  MPI_Info_free(&info);
  CHECK(hint_of(file, "file_perm") == "640");
  OK(MPI_File_close(&file));
  if (rank == 0) CHECK(mode_of("hints_0640") == (0640 & ~umask_now()));
  barrier();
}

}  // namespace

void test_hints() {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "file_perm", "0640");
  MPI_Info_set(info, "access_style", "write_once,sequential");
  MPI_Info_set(info, "no_such_hint", "x");
  MPI_File file;
  OK(MPI_File_open(MPI_COMM_WORLD, "hints", MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
  MPI_Info used;
  OK(MPI_File_get_info(file, &used));
  char value[MPI_MAX_INFO_VAL + 1];
  int found = 0;
  MPI_Info_get(used, "access_style", MPI_MAX_INFO_VAL, value, &found);
  CHECK(found != 0 && std::string(value) == "write_once,sequential");
  MPI_Info_get(used, "no_such_hint", MPI_MAX_INFO_VAL, value, &found);
  CHECK(found == 0);
  MPI_Info_free(&used);
  MPI_Info_set(info, "access_style", "random");
  OK(MPI_File_set_info(file, info));
  OK(MPI_File_get_info(file, &used));
  MPI_Info_get(used, "access_style", MPI_MAX_INFO_VAL, value, &found);
  CHECK(found != 0 && std::string(value) == "random");
  MPI_Info_free(&used);
  MPI_Info_free(&info);
  MPI_File_close(&file);
  values_without_meaning();
}

namespace {
int handled = 0;
int handled_code = 0;
void handler(MPI_File*, int* code, ...) {
  ++handled;
  handled_code = *code;
}
void forgiving(MPI_File*, int* code, ...) {
  ++handled;
  *code = MPI_SUCCESS;
}

// A handler may put another code in place of the one that a call is to return: whether it returns
// that then is as on the MPI's own files (MPICH: yes, Open MPI: no).
void forgiving_handlers() {
  MPI_Errhandler forgive;
  MPI_File_create_errhandler(forgiving, &forgive);
  OK(MPI_File_set_errhandler(MPI_FILE_NULL, forgive));
  MPI_File file = MPI_FILE_NULL;
  handled = 0;
  const int theirs =
      MPI_File_open(MPI_COMM_SELF, "/no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  const int ours =
      MPI_File_open(MPI_COMM_SELF, "cairn:no_such_file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  CHECK(handled == 2 && (theirs == MPI_SUCCESS) == (ours == MPI_SUCCESS));
  OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
  int results[2];
  for (int own = 0; own < 2; ++own) {
    OK(MPI_File_open(MPI_COMM_SELF, own == 0 ? "/dev/null" : "errors", MPI_MODE_RDWR, MPI_INFO_NULL,
                     &file));
    OK(MPI_File_set_errhandler(file, forgive));
    results[own] = MPI_File_seek(file, -7, MPI_SEEK_SET);
    OK(MPI_File_close(&file));
  }
  CHECK(handled == 4 && (results[0] == MPI_SUCCESS) == (results[1] == MPI_SUCCESS));
  MPI_Errhandler_free(&forgive);
}

// MPI::ERRORS_THROW_EXCEPTIONS: the code comes back to the C++ function, which throws.
void throwing_handler() {
#ifdef MPIR_ERRORS_THROW_EXCEPTIONS
  OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPIR_ERRORS_THROW_EXCEPTIONS));
  MPI_File file = MPI_FILE_NULL;
  CHECK_CLASS(
      MPI_File_open(MPI_COMM_SELF, "cairn:no_such_file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
      MPI_ERR_NO_SUCH_FILE);
  OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
  file = open_file("errors", MPI_MODE_RDWR, MPI_COMM_SELF);
  OK(MPI_File_set_errhandler(file, MPIR_ERRORS_THROW_EXCEPTIONS));
  CHECK_CLASS(MPI_File_seek(file, -7, MPI_SEEK_SET), MPI_ERR_ARG);
  MPI_File_close(&file);
#endif
}
}  // namespace

// A file's own handler, and the one that new files get.
void test_errors() {
  MPI_File file = open_file("errors", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Errhandler count, kept;
  MPI_File_create_errhandler(handler, &count);
  OK(MPI_File_set_errhandler(file, count));
  const int code = MPI_File_seek(file, -7, MPI_SEEK_SET);
  CHECK(handled == 1 && handled_code == code && code != MPI_SUCCESS);
  OK(MPI_File_get_errhandler(file, &kept));
  CHECK(kept == count);
  MPI_Errhandler_free(&kept);
  MPI_Errhandler_free(&count);
  OK(MPI_File_call_errhandler(file, MPI_ERR_IO));
  CHECK(handled == 2);
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  OK(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
  const int again = MPI_File_seek(file, -7, MPI_SEEK_SET);
  OK(MPI_Error_string(again, text, &length));
  CHECK(std::strstr(text, "errors") != nullptr);
  // What a handle is for Fortran leads back to it.
#ifdef MPI_ABI_VERSION
  CHECK(MPI_File_fromint(MPI_File_toint(file)) == file);
#else
  CHECK(MPI_File_f2c(MPI_File_c2f(file)) == file);
#endif
  MPI_File_close(&file);
  forgiving_handlers();
  throwing_handler();
}

// Files of parts of the world at once, of one's own, and the same file twice.
void test_communicators() {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, ranks - rank, &half);
  int half_rank = 0;
  MPI_Comm_rank(half, &half_rank);
  const std::string name = rank % 2 == 0 ? "even" : "odd";
  MPI_File both[2];
  both[0] = open_file(name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, half);
  both[1] = open_file("all", MPI_MODE_CREATE | MPI_MODE_RDWR);
  const std::string own = "own" + std::to_string(rank);
  MPI_File alone = open_file(own.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_COMM_SELF);
  OK(MPI_File_write_at_all(both[0], 4 * half_rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_write_at_all(both[1], 4 * rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_write_shared(alone, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_sync(both[1]));
  barrier();
  // Through another handle of the same file.
  MPI_File second = open_file("all", MPI_MODE_RDONLY);
  int value = -1;
  const int other = (rank + 1) % ranks;
  OK(MPI_File_read_at(second, 4 * other, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK(value == other);
  MPI_Group group;
  OK(MPI_File_get_group(both[0], &group));
  int size = 0, half_size = 0;
  MPI_Group_size(group, &size);
  MPI_Comm_size(half, &half_size);
  CHECK(size == half_size);
  MPI_Group_free(&group);
  MPI_File_close(&second);
  MPI_File_close(&alone);
  MPI_File_close(&both[1]);
  MPI_File_close(&both[0]);
  MPI_Comm_free(&half);
  CHECK(contents(own.c_str()).size() == 4);
}

// In atomic mode what several ranks write to the same place is one of them, whole.
void test_atomic() {
  constexpr int length = 20000;
  MPI_File file = open_file("atomic", MPI_MODE_CREATE | MPI_MODE_RDWR);
  int flag = -1;
  OK(MPI_File_get_atomicity(file, &flag));
  CHECK(flag == 0);
  OK(MPI_File_set_atomicity(file, 1));
  OK(MPI_File_get_atomicity(file, &flag));
  CHECK(flag == 1);
  MPI_Datatype every_other;
  MPI_Type_vector(length, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  OK(MPI_File_set_view(file, 0, MPI_INT, every_other, "native", MPI_INFO_NULL));
  const std::vector<int> mine(length, rank + 1);
  std::vector<int> got(length);
  OK(MPI_File_write_at(file, 0, mine.data(), length, MPI_INT, MPI_STATUS_IGNORE));
  const int rounds = several_hosts ? 5 : 20;
  for (int round = 0; round < rounds; ++round) {
    OK(MPI_File_write_at(file, 0, mine.data(), length, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at(file, 0, got.data(), length, MPI_INT, MPI_STATUS_IGNORE));
    bool one = got[0] >= 1 && got[0] <= ranks;
    for (int value : got) one = one && value == got[0];
    CHECK(one);
  }
  MPI_Type_free(&every_other);
  MPI_File_close(&file);
}

// More than 2 GiB in one call, as a few items of a large type; places beyond 4 GiB.
void test_large() {
  if (rank == 0) {
    constexpr int64_t far = int64_t{5} << 30;
    MPI_File file = open_file("large", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_COMM_SELF);
    const int value = 4711;
    MPI_Status status;
    OK(MPI_File_write_at(file, far, &value, 1, MPI_INT, &status));
    MPI_Offset size = 0;
    OK(MPI_File_get_size(file, &size));
    CHECK(size == far + 4);
    // A view whose second piece lies beyond 4 GiB.
    const int lengths[] = {1, 1};
    const MPI_Aint places[] = {0, far};
    MPI_Datatype type;
    MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    OK(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL));
    std::array<int, 2> got = {-1, -1};
    OK(MPI_File_read_at(file, 0, got.data(), 2, MPI_INT, &status));
    CHECK(count_of(status, MPI_INT) == 2 && got[0] == 0 && got[1] == value);
    MPI_Type_free(&type);
    // Reads of holes: nothing is stored, so that 3 GiB cost no memory of the pool. Memory that
    // repeats itself.
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    MPI_Datatype same;
    MPI_Type_create_hvector(3, 1 << 20, 0, MPI_BYTE, &type);
    MPI_Type_create_hvector(1 << 10, 1, 0, type, &same);
    MPI_Type_commit(&same);
    std::vector<char> bytes(1 << 20, 1);
    OK(MPI_File_read_at(file, 0, bytes.data(), 1, same, &status));
    MPI_Count count = 0;
    MPI_Get_elements_x(&status, MPI_BYTE, &count);
    CHECK(count == int64_t{3} << 30);
    CHECK(bytes[12345] == 0);
    MPI_Type_free(&type);
    MPI_Type_free(&same);
#if MPI_VERSION >= 4
    OK(MPI_File_write_at_c(file, 0, &value, MPI_Count{4}, MPI_BYTE, &status));
    MPI_Datatype vector;
    MPI_Type_vector_c(2, 1, int64_t{1} << 30, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    OK(MPI_File_set_view(file, 4, MPI_INT, vector, "native", MPI_INFO_NULL));
    const std::array<int, 2> two = {1, 2};
    OK(MPI_File_write_at_c(file, 0, two.data(), MPI_Count{2}, MPI_INT, &status));
    MPI_Offset at = 0;
    OK(MPI_File_get_byte_offset(file, 1, &at));
    CHECK(at == (int64_t{4} << 30) + 4);
    MPI_Type_free(&vector);
#endif
    OK(MPI_File_set_size(file, 0));
    MPI_File_close(&file);
  }
  barrier();
}
