// POSIX calls by name on files that ranks on several hosts write through MPI-IO.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "by_name.h"

namespace {

Bytes read_by_name(const char* name) {
  Bytes bytes(static_cast<size_t>(ranks + 1) * 100'000);
  FILE* file = std::fopen(name, "r");
  CHECK(file != nullptr);
  if (file == nullptr) return {};
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
  CHECK(std::ferror(file) == 0);
  std::fclose(file);
  return bytes;
}

// As PnetCDF makes a file and opens it: one rank looks, cuts and reads by POSIX calls what all
// write by MPI-IO.
void by_name() {
  const int64_t all = int64_t{ranks} * 100'000;
  for (int turn = 0; turn < 2; ++turn) {
    // Another host's rank each time.
    const int one = turn == 0 ? 0 : last();
    if (rank == one) {
      if (turn == 0) CHECK(is_missing(access("by_name", F_OK)));
      if (turn == 1) CHECK(access("by_name", F_OK) == 0);
      CHECK(truncate("by_name", 0) == 0 || (turn == 0 && errno == ENOENT));
      if (turn == 1) CHECK(size_by_name("by_name") == 0);
    }
    barrier();
    write_shares("by_name", turn);
    if (rank != last() - one) continue;
    const Bytes expected = patterns(0, all, turn);
    unsigned char magic[8] = {};
    const int fd = open("by_name", O_RDONLY, 0400);
    CHECK(fd >= 0 && read(fd, magic, 8) == 8);
    CHECK(std::equal(magic, magic + 8, expected.begin()));
    CHECK(lseek(fd, all - 100, SEEK_SET) == all - 100 && read(fd, magic, 8) == 8);
    CHECK(std::equal(magic, magic + 8, expected.end() - 100));
    struct stat st;
    struct stat of_open;
    CHECK(stat("by_name", &st) == 0 && fstat(fd, &of_open) == 0);
    CHECK(st.st_size == all && S_ISREG(st.st_mode) && st.st_nlink == 1);
    CHECK(of_open.st_size == all && of_open.st_ino == st.st_ino && of_open.st_nlink == 1);
    CHECK(of_open.st_mode == st.st_mode && of_open.st_mtime == st.st_mtime);
    void* mapped = mmap(nullptr, static_cast<size_t>(all), PROT_READ, MAP_SHARED, fd, 0);
    CHECK(mapped != MAP_FAILED &&
          std::equal(expected.begin(), expected.end(), static_cast<unsigned char*>(mapped)));
    munmap(mapped, static_cast<size_t>(all));
    CHECK(close(fd) == 0);
    CHECK(read_by_name("by_name") == expected);
    CHECK(open("by_name", O_RDWR | O_CREAT | O_EXCL, 0600) == -1 && errno == EEXIST);
    CHECK(mkdir("by_name", 0700) == -1 && errno == EEXIST);
    CHECK(chmod("by_name", 0604) == 0 && stat("by_name", &st) == 0 && (st.st_mode & 0777) == 0604);
  }
  barrier();
  // With a file of that name in the directory before: 0xff bytes.
  write_shares("base_by_name", 0);
  if (rank == 0) CHECK(truncate("base_by_name", 0) == 0);
  barrier();
  write_shares("base_by_name", 1);
  if (rank == 0) CHECK(size_by_name("before_by_name") == 1000);
  write_shares("before_by_name", 0);
  CHECK(size_by_name("before_by_name") == all);
  if (rank == last()) CHECK(read_by_name("before_by_name") == patterns(0, all, 0));
  barrier();
  if (rank == last()) CHECK(unlink("before_by_name") == 0);
  barrier();
  CHECK(is_missing(access("before_by_name", F_OK)));
  MPI_File file = MPI_FILE_NULL;
  CHECK(MPI_File_open(MPI_COMM_WORLD, "before_by_name", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) !=
        MPI_SUCCESS);
}

// One rank removes, moves, lists and writes what all have written.
void changed_by_name() {
  if (rank == 0) CHECK(mkdir("changed", 0755) == 0);
  barrier();
  for (const char* name :
       {"changed/moved", "changed/removed", "changed/appended", "changed/cut", "changed/replaced"})
    write_shares(name, 0);
  MPI_File file = open_file("changed/appended", MPI_MODE_RDWR);
  if (rank == 0) {
    CHECK((list("changed") ==
           std::vector<std::string>{"appended", "cut", "moved", "removed", "replaced"}));
    CHECK(rmdir("changed") == -1 && errno == ENOTEMPTY);
    // One of its files is open.
    CHECK(rename("changed", "elsewhere") == 0 && rename("elsewhere", "changed") == 0);
    CHECK(remove("changed/removed") == 0);
    CHECK(is_missing(access("changed/removed", F_OK)));
    CHECK(unlink("changed/removed") == -1 && errno == ENOENT);
    CHECK(rename("changed/moved", "changed/target") == 0);
    CHECK(is_missing(access("changed/moved", F_OK)));
    CHECK(link("changed/target", "changed/linked") == -1 && errno == EXDEV);
    CHECK((list("changed") == std::vector<std::string>{"appended", "cut", "replaced", "target"}));
    FILE* ordinary = std::fopen("changed/ordinary", "w");
    CHECK(ordinary != nullptr && std::fputs("ordinary", ordinary) >= 0 &&
          std::fclose(ordinary) == 0);
    CHECK(rename("changed/ordinary", "changed/replaced") == 0);
    CHECK(size_by_name("changed/replaced") == 8);

    CHECK(open("changed/appended", O_WRONLY | O_APPEND) == -1 && errno == EBUSY);
    CHECK(open("changed/appended", O_WRONLY | O_TRUNC) == -1 && errno == EBUSY);
    CHECK(size_by_name("changed/appended") == int64_t{ranks} * 100'000);
    // The next commit takes it from there.
    CHECK(truncate("changed/appended", 100'000) == 0);
  }
  barrier();
  OK(MPI_File_close(&file));
  if (rank == 0) {
    int fd = open("changed/appended", O_WRONLY | O_APPEND);
    CHECK(fd >= 0 && write(fd, "!", 1) == 1 && close(fd) == 0);
    Bytes expected = patterns(0, 100'000, 0);
    expected.push_back('!');
    CHECK(read_by_name("changed/appended") == expected);
    fd = open("changed/cut", O_WRONLY | O_TRUNC);
    CHECK(fd >= 0 && write(fd, "cut", 3) == 3 && close(fd) == 0);
    CHECK(size_by_name("changed/cut") == 3);
    // In a child there is no MPI: what lies here can be read, the rest is an error.
    fd = open("changed/target", O_RDONLY);
    const pid_t child = fork();
    if (child == 0) {
      char byte = 0;
      const bool here =
          pread(fd, &byte, 1, 0) == 1 && static_cast<unsigned char>(byte) == pattern(0, 0);
      _exit(here && pread(fd, &byte, 1, int64_t{last()} * 100'000) == -1 && errno == EIO &&
                    is_missing(access("changed/target", F_OK))
                ? 0
                : 1);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    close(fd);
  }
  barrier();
  // What one rank has written by POSIX calls, all go on with.
  file = open_file("changed/appended", MPI_MODE_RDWR);
  CHECK(read_at(file, 100'000, 10) == Bytes{'!'});
  OK(MPI_File_close(&file));
}

constexpr Part parts[] = {{"by_name", by_name}, {"changed_by_name", changed_by_name}};

}  // namespace

int main(int argc, char** argv) { return run_parts(parts, argc, argv); }
