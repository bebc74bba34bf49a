// Files that ranks write through POSIX calls on one host, as those of others meet them.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "by_name.h"

namespace {

// Ordinary files: each rank reads, changes and removes what the one before it, on another host, has
// written.
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
  CHECK(pwrite(there, patterns(7, 9, before).data(), 9, 7) == 9);
  const struct timespec times[2] = {{100, 5}, {200, 7}};
  CHECK(fchmod(there, 0604) == 0 && futimens(there, times) == 0);
  CHECK(fchown(there, getuid(), static_cast<gid_t>(-1)) == 0);
  CHECK(ftruncate(there, size) == 0 && futimens(there, times) == 0);
  CHECK(fstat(there, &of_open) == 0 && (of_open.st_mode & 0777) == 0604);
  CHECK(of_open.st_atime == 100 && of_open.st_mtim.tv_sec == 200 && of_open.st_mtim.tv_nsec == 7);
  CHECK(fsetxattr(there, "user.a", "b", 1, 0) == -1 && errno == EOPNOTSUPP);
  CHECK(close(there) == 0);
  const int read_only = open(name("kept", before).c_str(), O_RDONLY);
  CHECK(fchmod(read_only, 0600) == -1 && errno == EROFS && close(read_only) == 0);
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
  CHECK(st.st_mtim.tv_sec == 200 && st.st_mtim.tv_nsec == 7);
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

// One file that all open and write at once through POSIX calls, as IOR does it: shares in turn, in
// a few pieces each.
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
  // Files that all make and append to, in turns that come as they like: each moves between the
  // hosts meanwhile.
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

// A file that goes from host to host, as each opens it for writing, is there for everybody all the
// time.
void taking() {
  const int64_t size = 5000;
  const char* name = "taken";
  if (rank == 0) write_bytes(name, "wx", patterns(0, size, 0));
  barrier();
  for (int i = 0; i < 120; ++i) {
    struct stat st;
    int fd = -1;
    switch ((i + 3 * rank) % 6) {
      case 0:
      case 1:
        CHECK((fd = open(name, O_RDWR)) >= 0);
        CHECK(fd < 0 || close(fd) == 0);
        break;
      case 2:
        CHECK(bytes_in(name) == patterns(0, size, 0));
        break;
      case 3:
        CHECK(stat(name, &st) == 0 && st.st_size == size);
        break;
      case 4:
        CHECK(chmod(name, 0600) == 0);
        break;
      default:
        CHECK(access(name, R_OK | W_OK) == 0);
        CHECK(truncate(name, size) == 0);
    }
  }
  barrier();
  // So it is to who removes it.
  for (int i = 0; i < 20; ++i) {
    const std::string gone = name + std::to_string(i);
    const int remover = i % ranks;
    if (rank == (i + 1) % ranks) write_bytes(gone, "wx", patterns(0, size, 0));
    barrier();
    if (rank == remover) {
      usleep(static_cast<useconds_t>(i) * 100);
      CHECK(i % 2 == 0 ? unlink(gone.c_str()) == 0
                       : rename(gone.c_str(), (gone + ".moved").c_str()) == 0);
    } else {
      int fd = 0;
      for (int looks = 0; looks < 3000 && (fd = open(gone.c_str(), O_RDWR)) >= 0; ++looks)
        CHECK(close(fd) == 0 && usleep(500) == 0);
      CHECK(fd == -1 && errno == ENOENT);
    }
    barrier();
    if (i % 2 != 0) CHECK(bytes_in(gone + ".moved") == patterns(0, size, 0));
    CHECK(access(gone.c_str(), F_OK) == -1);
  }
}

int unread[2] = {-1, -1};
void read_for_ever() {
  std::FILE* file = fdopen(unread[0], "r");
  CHECK(file != nullptr && std::fgetc(file) == 'x');
}
std::thread reader;

// A thread waits for input that comes after MPI_Finalize, if at all, as from a terminal.
void reading() {
  CHECK(pipe(unread) == 0);
  reader = std::thread(read_for_ever);
  std::FILE* file = std::fopen("reading", "a");
  CHECK(file != nullptr);
  barrier();
  CHECK(file != nullptr && std::fprintf(file, "rank %d\n", rank) > 0);
  // The reader has its stream by now.
  usleep(100'000);
}

constexpr Part parts[] = {
    {"ordinary", ordinary}, {"together", together}, {"taking", taking}, {"reading", reading}};

}  // namespace

int main(int argc, char** argv) {
  const int code = run_parts(parts, argc, argv);
  if (reader.joinable()) {
    if (write(unread[1], "x", 1) != 1) return 2;
    reader.join();
  }
  return code;
}
