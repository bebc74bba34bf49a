// Opening, closing, deleting: modes and their errors.
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

namespace {

void modes() {
  MPI_File file = open_file("modes", MPI_MODE_CREATE | MPI_MODE_RDWR);
  int amode = 0;
  OK(MPI_File_get_amode(file, &amode));
  CHECK(amode == (MPI_MODE_CREATE | MPI_MODE_RDWR));
  MPI_Group group;
  OK(MPI_File_get_group(file, &group));
  int size = 0;
  MPI_Group_size(group, &size);
  CHECK(size == ranks);
  MPI_Group_free(&group);
  OK(MPI_File_close(&file));
  CHECK(file == MPI_FILE_NULL);

  MPI_File none = MPI_FILE_NULL;
  const auto open = [&](const char* name, int mode) {
    return MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &none);
  };
  CHECK_CLASS(open("modes", MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR), MPI_ERR_FILE_EXISTS);
  CHECK_CLASS(open("absent", MPI_MODE_RDONLY), MPI_ERR_NO_SUCH_FILE);
  CHECK_CLASS(open("no/directory", MPI_MODE_CREATE | MPI_MODE_RDWR), MPI_ERR_NO_SUCH_FILE);
  CHECK_CLASS(open("modes", 0), MPI_ERR_AMODE);
  CHECK_CLASS(open("modes", MPI_MODE_RDONLY | MPI_MODE_WRONLY), MPI_ERR_AMODE);
  CHECK_CLASS(open("modes", MPI_MODE_RDONLY | MPI_MODE_CREATE), MPI_ERR_AMODE);
  CHECK_CLASS(open("modes", MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL), MPI_ERR_AMODE);
  // No handle comes of it, whatever the variable held.
  for (const int mode : {0, int{MPI_MODE_RDONLY}}) {
    MPI_File held = file = open_file("modes", MPI_MODE_RDWR);
    CHECK(MPI_File_open(MPI_COMM_WORLD, "absent", mode, MPI_INFO_NULL, &held) != MPI_SUCCESS);
    CHECK(held == MPI_FILE_NULL);
    MPI_File_close(&file);
  }
  if (ranks > 1)
    CHECK_CLASS(open("modes", rank == 0 ? MPI_MODE_RDONLY : MPI_MODE_RDWR), MPI_ERR_NOT_SAME);
}

void access_rights() {
  int value = 7;
  MPI_Status status;
  MPI_File file = open_file("modes", MPI_MODE_RDONLY);
  CHECK_CLASS(MPI_File_write(file, &value, 1, MPI_INT, &status), MPI_ERR_READ_ONLY);
  CHECK_CLASS(MPI_File_set_size(file, 10), MPI_ERR_READ_ONLY);
  MPI_File_close(&file);
  // Memory that is none.
  file = open_file("modes", MPI_MODE_RDWR);
  OK(MPI_File_set_size(file, 8));
  CHECK_CLASS(MPI_File_read_at(file, 0, nullptr, 4, MPI_CHAR, &status), MPI_ERR_BUFFER);
  OK(MPI_File_read_at(file, 0, nullptr, 0, MPI_CHAR, &status));
  OK(MPI_File_set_size(file, 0));
  MPI_File_close(&file);
  file = open_file("modes", MPI_MODE_WRONLY);
  CHECK_CLASS(MPI_File_read(file, &value, 1, MPI_INT, &status), MPI_ERR_ACCESS);
  MPI_File_close(&file);
}

void ends() {
  const int value = 5;
  MPI_Offset size = 0;
  MPI_File file = open_file("end", MPI_MODE_CREATE | MPI_MODE_RDWR);
  if (rank == 0) OK(MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  MPI_File_close(&file);

  file = open_file("end", MPI_MODE_RDWR | MPI_MODE_APPEND);
  MPI_Offset position = 0;
  OK(MPI_File_get_position(file, &position));
  CHECK(position == 4);
  OK(MPI_File_get_position_shared(file, &position));
  CHECK(position == 4);
  MPI_File_close(&file);

  file = open_file("end", MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  OK(MPI_File_get_size(file, &size));
  CHECK(size == 4);
  OK(MPI_File_close(&file));
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, "end", MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
              MPI_ERR_NO_SUCH_FILE);

  barrier();
  if (rank == 0) {
    CHECK_CLASS(MPI_File_delete("absent", MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    OK(MPI_File_delete("modes", MPI_INFO_NULL));
    CHECK_CLASS(MPI_File_delete("modes", MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
  }
  barrier();
}

// With a prefix, which other libraries have too, and as the directory is called from outside.
void names() {
  MPI_File file = open_file("cairn:prefixed", MPI_MODE_CREATE | MPI_MODE_RDWR);
  if (rank == 0) OK(MPI_File_write_at(file, 0, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE));
  MPI_File_close(&file);
  CHECK(contents("prefixed").size() == 1);
}

// However long a name is, the text tells what was done and why it failed.
void long_names() {
  const std::string name = "long" + std::string(200, 'x') + "/" + std::string(200, 'y') + "end";
  MPI_File file = MPI_FILE_NULL;
  const int code =
      MPI_File_open(MPI_COMM_SELF, name.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  CHECK_CLASS(code, MPI_ERR_NO_SUCH_FILE);
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  const std::string said = text;
  CHECK(said.find("longxx") == 0 && said.find("yyend: open: ") != std::string::npos);
}

// More files at once than tables usually hold. Each takes communicators, of which MPICH has 2048,
// and on several hosts some calls of the directory that all share.
void many() {
#ifdef OPEN_MPI
  const int files = several_hosts ? 100 : 4200;
#else
  const int files = several_hosts ? 100 : 500;
#endif
  if (rank == 0) {
    std::vector<MPI_File> open;
    for (int i = 0; i < files; ++i) {
      open.push_back(open_file(("many" + std::to_string(i)).c_str(),
                               MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                               MPI_COMM_SELF));
      OK(MPI_File_write_at(open.back(), 0, &i, 1, MPI_INT, MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < files; ++i) {
      int value = -1;
      OK(MPI_File_read_at(open[static_cast<size_t>(i)], 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
      CHECK(value == i);
      OK(MPI_File_close(&open[static_cast<size_t>(i)]));
    }
  }
  barrier();
}

// Where the MPI can make no more communicators, which MPICH says when one is half made, the program
// hears of it.
void no_more_communicators() {
#ifndef OPEN_MPI  // which has 65532
  if (ranks != 2 || several_hosts) return;
  MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  std::vector<MPI_Comm> all;
  for (MPI_Comm one = MPI_COMM_NULL; MPI_Comm_dup(MPI_COMM_WORLD, &one) == MPI_SUCCESS;)
    all.push_back(one);
  MPI_File file = MPI_FILE_NULL;
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, "one_too_many", MPI_MODE_CREATE | MPI_MODE_RDWR,
                            MPI_INFO_NULL, &file),
              MPI_ERR_NO_MEM);
  for (MPI_Comm& one : all) MPI_Comm_free(&one);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
  MPI_Errhandler_free(&before);
  file = open_file("one_too_many", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  OK(MPI_File_close(&file));
#endif
}

// The file is the one that was opened, wherever the program has gone since.
void moved() {
  if (rank == 0) {
    MPI_File file = open_file("moved", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                              MPI_COMM_SELF);
    CHECK(mkdir("below", 0700) == 0 && chdir("below") == 0);
    OK(MPI_File_close(&file));
    CHECK(chdir("..") == 0 && rmdir("below") == 0);
    CHECK_CLASS(MPI_File_open(MPI_COMM_SELF, "moved", MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
                MPI_ERR_NO_SUCH_FILE);
    // A name with our prefix that leads elsewhere makes nothing there.
    CHECK_CLASS(MPI_File_open(MPI_COMM_SELF, "cairn:/tmp/cairn-outside",
                              MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
                MPI_ERR_BAD_FILE);
    CHECK(access("/tmp/cairn-outside", F_OK) != 0);
    CHECK_CLASS(MPI_File_delete("cairn:/tmp/cairn-outside", MPI_INFO_NULL), MPI_ERR_BAD_FILE);
    CHECK_CLASS(MPI_File_open(MPI_COMM_SELF, "cairn:./.", MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
                MPI_ERR_BAD_FILE);
    file = open_file("a_file", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                     MPI_COMM_SELF);
    MPI_File below = MPI_FILE_NULL;
    CHECK_CLASS(MPI_File_open(MPI_COMM_SELF, "a_file/below", MPI_MODE_CREATE | MPI_MODE_RDWR,
                              MPI_INFO_NULL, &below),
                MPI_ERR_BAD_FILE);
    // Larger than any file, which changes nothing.
    OK(MPI_File_set_size(file, 100));
    CHECK_CLASS(MPI_File_set_size(file, MPI_Offset{1} << 62), MPI_ERR_IO);
    MPI_Offset size = 0;
    OK(MPI_File_get_size(file, &size));
    CHECK(size == 100);
    OK(MPI_File_close(&file));
  }
  barrier();
}

}  // namespace

void test_opening() {
  modes();
  access_rights();
  ends();
  names();
  long_names();
  many();
  no_more_communicators();
  moved();
}

void test_sizes() {
  MPI_File file = open_file("sizes", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Offset size = -1;
  OK(MPI_File_get_size(file, &size));
  CHECK(size == 0);
  OK(MPI_File_set_size(file, 1000));
  OK(MPI_File_get_size(file, &size));
  CHECK(size == 1000);
  OK(MPI_File_preallocate(file, 5000));
  OK(MPI_File_get_size(file, &size));
  CHECK(size == 5000);
  OK(MPI_File_preallocate(file, 100));  // never makes it shorter
  OK(MPI_File_get_size(file, &size));
  CHECK(size == 5000);
  OK(MPI_File_set_size(file, 10));
  OK(MPI_File_get_size(file, &size));
  CHECK(size == 10);
  CHECK_CLASS(MPI_File_set_size(file, -1), MPI_ERR_ARG);
  // What all have to give alike, and do not, is nobody's.
  if (ranks > 1) {
    CHECK_CLASS(MPI_File_set_size(file, rank), MPI_ERR_NOT_SAME);
    CHECK_CLASS(MPI_File_preallocate(file, 100 + rank), MPI_ERR_NOT_SAME);
    CHECK_CLASS(MPI_File_set_atomicity(file, rank == 0 ? 1 : 0), MPI_ERR_NOT_SAME);
    CHECK_CLASS(MPI_File_seek_shared(file, rank, MPI_SEEK_SET), MPI_ERR_NOT_SAME);
    CHECK_CLASS(MPI_File_seek_shared(file, 0, rank == 0 ? MPI_SEEK_SET : MPI_SEEK_END),
                MPI_ERR_NOT_SAME);
  }
  OK(MPI_File_get_size(file, &size));
  CHECK(size == 10);
  // Cut bytes come back as zeros.
  OK(MPI_File_set_size(file, 5000));
  std::vector<char> bytes(5000, 1);
  MPI_Status status;
  OK(MPI_File_read_at_all(file, 0, bytes.data(), 5000, MPI_BYTE, &status));
  CHECK(count_of(status, MPI_BYTE) == 5000);
  CHECK(bytes == std::vector<char>(5000, 0));
  MPI_File_close(&file);
}

// The last rank ends the job as soon as the file is open for it.
void test_abort_after_open() {
  (void)open_file("aborted", MPI_MODE_CREATE | MPI_MODE_RDWR);
  if (rank == ranks - 1) MPI_Abort(MPI_COMM_WORLD, 3);
  barrier();
}

// Names with a prefix of ROMIO's, or with what looks like one. romio_test.py sees what they led to.
void test_file_system_prefix() {
  for (const char* name : {"ufs:prefixed", "UFS:capital", "other:kept", "ufs:deleted"}) {
    MPI_File file = open_file(name, MPI_MODE_CREATE | MPI_MODE_WRONLY);
    OK(MPI_File_close(&file));
  }
  if (rank == 0) OK(MPI_File_delete("ufs:deleted", MPI_INFO_NULL));
}

// With ROMIO_FSTYPE_FORCE, which this MPI's ROMIO may refuse.
void test_forced_file_system() {
  MPI_File file = MPI_FILE_NULL;
  const int code = MPI_File_open(MPI_COMM_WORLD, "forced", MPI_MODE_CREATE | MPI_MODE_WRONLY,
                                 MPI_INFO_NULL, &file);
  if (code == MPI_SUCCESS) {
    OK(MPI_File_close(&file));
    if (rank == 0) std::printf("opened\n");
    return;
  }
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  if (rank == 0) std::printf("refused: %s\n", text);
}
