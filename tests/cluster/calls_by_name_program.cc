// POSIX calls by name on files that ranks on several hosts write through MPI-IO.
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include "mpi_parts.h"

namespace {

// Each rank's 100'000 bytes, in order of rank.
void write_shares(const char* name, int writer) {
  MPI_File file = open_file(name, MPI_MODE_CREATE | MPI_MODE_RDWR);
  const int64_t at = int64_t{rank} * 100'000;
  write_at(file, at, patterns(at, 100'000, writer));
  OK(MPI_File_close(&file));
}

int64_t size_by_name(const char* name) {
  struct stat st;
  return stat(name, &st) == 0 ? st.st_size : -1;
}

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

bool is_missing(int result) { return result < 0 && errno == ENOENT; }

// As PnetCDF makes a file and opens it: one rank looks, cuts and reads by POSIX calls what all write by MPI-IO.
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

std::vector<std::string> list(const char* name) {
  std::vector<std::string> names;
  DIR* directory = opendir(name);
  CHECK(directory != nullptr);
  if (directory == nullptr) return names;
  errno = 0;
  for (const struct dirent* entry; (entry = readdir(directory)) != nullptr;)
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  CHECK(errno == 0);
  closedir(directory);
  std::sort(names.begin(), names.end());
  return names;
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
    CHECK(rename("changed", "elsewhere") == -1 && errno == EXDEV);
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

// A checkpoint of a file for each rank, as programs without MPI-IO write it: one rank makes, names and points to the directory.
void directories() {
  if (rank == 0) {
    CHECK(mkdir("step.tmp", 0700) == 0 && mkdir("step.tmp/meta", 0755) == 0);
    CHECK(symlink("nowhere", "latest") == 0);
  }
  barrier();
  CHECK(mkdir("step.tmp", 0700) == -1 && errno == EEXIST);
  CHECK(is_missing(access("latest", F_OK)));
  const std::string own = "/rank" + std::to_string(rank);
  FILE* file = std::fopen(("step.tmp" + own).c_str(), "w");
  CHECK(file != nullptr && std::fprintf(file, "of rank %d", rank) > 0 && std::fclose(file) == 0);
  struct stat st;
  CHECK(stat("step.tmp/meta", &st) == 0 && S_ISDIR(st.st_mode) && (st.st_mode & 0777) == 0755);
  barrier();
  if (rank == last()) {
    CHECK(chmod("step.tmp", 0750) == 0);
    CHECK(rmdir("step.tmp") == -1 && errno == ENOTEMPTY);
    CHECK(rmdir("step.tmp/meta") == 0);
    CHECK(rename("step.tmp", "step") == 0);
    CHECK(symlink("step", "latest.new") == 0 && rename("latest.new", "latest") == 0);
    CHECK(symlink("step", "other") == 0 && unlink("other") == 0);
  }
  barrier();
  CHECK(is_missing(access("step.tmp", F_OK)) && is_missing(access("step/meta", F_OK)));
  CHECK(stat("step", &st) == 0 && (st.st_mode & 0777) == 0750);
  char text[32] = {};
  file = std::fopen(("latest" + own).c_str(), "r");
  CHECK(file != nullptr && std::fgets(text, sizeof text, file) != nullptr &&
        text == "of rank " + std::to_string(rank));
  if (file != nullptr) std::fclose(file);
  CHECK(is_missing(lstat("other", &st)) && is_missing(lstat("latest.new", &st)));
  barrier();
  if (rank == 0) CHECK(mkdir("step/more", 0755) == 0);
  barrier();
  write_shares("step/more/shared", 0);
  CHECK(size_by_name("latest/more/shared") == int64_t{ranks} * 100'000);
}

Bytes bytes_in(const std::string& name) {
  Bytes bytes(2'000'000);
  FILE* file = std::fopen(name.c_str(), "r");
  CHECK(file != nullptr);
  if (file == nullptr) return {};
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
  CHECK(std::ferror(file) == 0 && std::fclose(file) == 0);
  return bytes;
}

void write_bytes(const std::string& name, const char* how, const Bytes& bytes) {
  FILE* file = std::fopen(name.c_str(), how);
  CHECK(file != nullptr);
  if (file == nullptr) return;
  CHECK(std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() && std::fclose(file) == 0);
}

// Ordinary files: each rank reads, changes and removes what the one before it, on another host, has written.
void ordinary() {
  const auto name = [](const char* what, int of) {
    return "ordinary/" + std::string(what) + std::to_string(of);
  };
  const int before = (rank + ranks - 1) % ranks;
  const int64_t size = 200'000;
  if (rank == 0) CHECK(mkdir("ordinary", 0755) == 0);
  barrier();
  std::vector<std::string> names;
  for (int i = 0; i < ranks; ++i)
    for (const char* what : {"cut", "kept", "moved", "removed", "written"})
      names.push_back(name(what, i).substr(std::strlen("ordinary/")));
  std::sort(names.begin(), names.end());
  for (const char* what : {"cut", "kept", "moved", "removed", "written"})
    write_bytes(name(what, rank), "wx", patterns(0, size, rank));
  barrier();
  CHECK(list("ordinary") == names);
  struct stat st;
  CHECK(stat(name("kept", before).c_str(), &st) == 0 && st.st_size == size && S_ISREG(st.st_mode));
  CHECK(bytes_in(name("kept", before)) == patterns(0, size, before));
  int fd = open(name("kept", before).c_str(), O_RDONLY);
  struct stat of_open;
  CHECK(fd >= 0 && fstat(fd, &of_open) == 0 && of_open.st_ino == st.st_ino);
  void* mapped = mmap(nullptr, static_cast<size_t>(size), PROT_READ, MAP_PRIVATE, fd, 0);
  CHECK(mapped != MAP_FAILED &&
        std::memcmp(mapped, patterns(0, size, before).data(), static_cast<size_t>(size)) == 0);
  munmap(mapped, static_cast<size_t>(size));
  CHECK(close(fd) == 0);
  CHECK(open(name("kept", before).c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600) == -1 &&
        errno == EEXIST);
  CHECK(mkdir(name("kept", before).c_str(), 0700) == -1 && errno == EEXIST);
  // Open where it lies: it stays there, also after that is closed.
  fd = open(name("kept", rank).c_str(), O_RDWR);
  barrier();
  const int there = open(name("kept", before).c_str(), O_RDWR);
  CHECK(there >= 0 && fstat(there, &of_open) == 0 && of_open.st_ino == st.st_ino);
  barrier();
  CHECK(close(fd) == 0);
  barrier();
  CHECK(pwrite(there, patterns(7, 9, before).data(), 9, 7) == 9 && close(there) == 0);
  CHECK(chmod(name("kept", before).c_str(), 0604) == 0);
  CHECK(truncate(name("cut", before).c_str(), 10) == 0);
  CHECK(unlink(name("removed", before).c_str()) == 0);
  CHECK(unlink(name("removed", before).c_str()) == -1 && errno == ENOENT);
  CHECK(rename(name("moved", before).c_str(), name("target", before).c_str()) == 0);
  write_bytes(name("written", before), "a", {'!'});
  barrier();
  CHECK(size_by_name(name("cut", rank).c_str()) == 10);
  CHECK(is_missing(access(name("removed", rank).c_str(), F_OK)));
  CHECK(is_missing(access(name("moved", rank).c_str(), F_OK)));
  CHECK(stat(name("kept", rank).c_str(), &st) == 0 && (st.st_mode & 0777) == 0604);
  for (int i = 0; i < ranks; ++i) {
    CHECK(bytes_in(name("target", i)) == patterns(0, size, i));
    Bytes expected = patterns(0, size, i);
    expected.push_back('!');
    CHECK(bytes_in(name("written", i)) == expected);
  }
  barrier();
  // An ordinary file of the last rank's host is what all open.
  MPI_File file = open_file(name("kept", last()).c_str(), MPI_MODE_RDWR);
  CHECK(read_at(file, 1000, 10) == patterns(1000, 10, last()));
  OK(MPI_File_close(&file));
}

// One file that all open and write at once through POSIX calls, as IOR does it: shares in turn, in a few pieces each.
void together() {
  constexpr int64_t piece = 70'001;
  constexpr int64_t turns = 5;
  const int fd = open("together", O_RDWR | O_CREAT, 0644);
  CHECK(fd >= 0);
  for (int64_t turn = 0; turn < turns; ++turn) {
    const int64_t at = (turn * ranks + rank) * piece;
    CHECK(pwrite(fd, patterns(at, piece, 0).data(), piece, at) == piece);
  }
  barrier();
  const int64_t all = turns * ranks * piece;
  struct stat st;
  CHECK(fstat(fd, &st) == 0 && st.st_size == all && lseek(fd, 0, SEEK_END) == all);
  Bytes bytes(static_cast<size_t>(all + 1));
  CHECK(pread(fd, bytes.data(), bytes.size(), 0) == all);
  bytes.pop_back();
  CHECK(bytes == patterns(0, all, 0));
  CHECK(fsync(fd) == 0 && close(fd) == 0);
  CHECK(size_by_name("together") == all && bytes_in("together") == patterns(0, all, 0));
  barrier();
  // Again, cut first by all.
  FILE* file = std::fopen("together", "w");
  CHECK(file != nullptr);
  barrier();
  if (file == nullptr) return;
  const Bytes own = patterns(rank * piece, piece, 3);
  CHECK(std::fseek(file, rank * piece, SEEK_SET) == 0);
  CHECK(std::fwrite(own.data(), 1, own.size(), file) == own.size() && std::fclose(file) == 0);
  barrier();
  CHECK(bytes_in("together") == patterns(0, ranks * piece, 3));
  // A log.
  file = std::fopen("together.log", "a");
  CHECK(file != nullptr);
  barrier();
  if (file == nullptr) return;
  for (int line = 0; line < 50; ++line) {
    CHECK(std::fprintf(file, "rank %d\n", rank) > 0);
    CHECK(std::fflush(file) == 0);
  }
  CHECK(std::fclose(file) == 0);
  barrier();
  CHECK(size_by_name("together.log") == int64_t{50} * 7 * ranks);
  // Files that all make and append to, in turns that come as they like: each moves between the hosts meanwhile.
  for (int round = 0; round < 60; ++round) {
    if (round % 3 != 0) barrier();
    const std::string name = "round" + std::to_string(round);
    const int of_all = open(name.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
    CHECK(of_all >= 0);
    CHECK(write(of_all, "line\n", 5) == 5 && close(of_all) == 0);
  }
  barrier();
  for (int round = 0; round < 60; ++round)
    CHECK(size_by_name(("round" + std::to_string(round)).c_str()) == int64_t{5} * ranks);
  barrier();
  for (int round = rank; round < 60; round += ranks)
    CHECK(unlink(("round" + std::to_string(round)).c_str()) == 0);
  // What it still holds when the job ends.
  file = std::fopen("together.end", "a");
  CHECK(file != nullptr && std::fprintf(file, "rank %d\n", rank) > 0);
}

// What an earlier job has left in the directory: one rank writes, moves and removes it. Of 1000 bytes each, 0xff.
void of_before() {
  const Bytes old(1000, 0xff);
  const Bytes anew = patterns(0, 5000, 1);
  CHECK(bytes_in("old/written") == old && bytes_in("old/gone/removed") == old);
  barrier();
  const int fd = open("old/written", O_RDONLY);
  barrier();
  if (rank == last()) {
    write_bytes("old/written", "w", anew);
    write_bytes("old/new", "w", anew);
    CHECK(rename("old/new", "old/replaced") == 0);
    CHECK(rename("old/moved", "old/there") == 0);
    CHECK(rmdir("old/gone") == -1 && errno == ENOTEMPTY);
    CHECK(unlink("old/gone/removed") == 0);
    CHECK(rmdir("old/gone") == 0);
  }
  barrier();
  unsigned char first = 0;
  CHECK(fd >= 0 && pread(fd, &first, 1, 0) == 1 && close(fd) == 0);
  CHECK((list("old") == std::vector<std::string>{"appended", "replaced", "there", "written"}));
  CHECK(bytes_in("old/written") == anew && bytes_in("old/replaced") == anew);
  CHECK(bytes_in("old/there") == old);
  CHECK(is_missing(access("old/moved", F_OK)) && is_missing(access("old/gone", F_OK)));
  // One after the other.
  for (int turn = 0; turn < ranks; ++turn) {
    if (rank == turn) write_bytes("old/appended", "a", {static_cast<unsigned char>(turn)});
    barrier();
  }
  Bytes appended = old;
  for (int turn = 0; turn < ranks; ++turn) appended.push_back(static_cast<unsigned char>(turn));
  CHECK(bytes_in("old/appended") == appended);
}

volatile sig_atomic_t handled;
volatile sig_atomic_t written;
int handlers_file = -1;
void look_for_something(int) {
  const int before = errno;
  const int fd = open("something", O_WRONLY | O_CREAT, 0600);
  if (fd >= 0) close(fd);
  unlink("something");
  access("nothing", F_OK);
  if (write(handlers_file, "!", 1) == 1)
    written = written + 1;
  else
    CHECK(errno == EDEADLK);  // it lies on another host
  handled = handled + 1;
  errno = before;
}

// A signal's handler may look for files while the MPI is at work in the same thread.
void handlers() {
  handlers_file = open("handlers", O_WRONLY | O_CREAT | O_APPEND, 0600);
  CHECK(handlers_file >= 0);
  barrier();
  struct sigaction action = {};
  action.sa_handler = look_for_something;
  action.sa_flags = SA_RESTART;
  CHECK(sigaction(SIGALRM, &action, nullptr) == 0);
  const struct itimerval often = {{0, 500}, {0, 500}};
  CHECK(setitimer(ITIMER_REAL, &often, nullptr) == 0);
  const double until = MPI_Wtime() + 2;
  int go_on = 1;
  while (go_on != 0) {
    barrier();
    go_on = MPI_Wtime() < until ? 1 : 0;
    MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  const struct itimerval never = {};
  CHECK(setitimer(ITIMER_REAL, &never, nullptr) == 0);
  CHECK(handled > 10);
  int64_t own = written;
  int64_t all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  CHECK(all > 0 && size_by_name("handlers") == all && close(handlers_file) == 0);
}

constexpr Part parts[] = {
    {"by_name", by_name},         {"changed_by_name", changed_by_name},
    {"directories", directories}, {"ordinary", ordinary},
    {"together", together},       {"of_before", of_before},
    {"handlers", handlers},
};

}  // namespace

int main(int argc, char** argv) { return run_parts(parts, argc, argv); }
