// MPI-IO where one host shows nothing: files that ranks on several hosts write and read.
//   several_hosts_program PART [ARGUMENT]
// Every part prints its name on rank 0 when all checks held.
#include <dirent.h>
#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

int rank = 0;
int ranks = 1;
int wrong = 0;

#define CHECK(condition)                                                 \
  do {                                                                   \
    if (!(condition)) {                                                  \
      ++wrong;                                                           \
      std::printf("rank %d: line %d: %s\n", rank, __LINE__, #condition); \
    }                                                                    \
  } while (false)

void check_success(int code, const char* call, int line) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  ++wrong;
  std::printf("rank %d: line %d: %s: %s\n", rank, line, call, text);
}
#define OK(call) check_success((call), #call, __LINE__)

using Bytes = std::vector<unsigned char>;

constexpr int kib = 1024;

// What byte `at` of a file holds that rank `writer` wrote there.
unsigned char pattern(int64_t at, int writer) {
  return static_cast<unsigned char>(1 + (at * 7 + at / kib + writer * 31) % 255);
}

Bytes patterns(int64_t at, int64_t size, int writer) {
  Bytes bytes(static_cast<size_t>(size));
  for (int64_t i = 0; i < size; ++i) bytes[static_cast<size_t>(i)] = pattern(at + i, writer);
  return bytes;
}

void barrier() { MPI_Barrier(MPI_COMM_WORLD); }
int last() { return ranks - 1; }

MPI_File open_file(const char* name, int amode, MPI_Comm comm = MPI_COMM_WORLD) {
  MPI_File file = MPI_FILE_NULL;
  OK(MPI_File_open(comm, name, amode, MPI_INFO_NULL, &file));
  return file;
}

void write_at(MPI_File file, int64_t at, const Bytes& bytes) {
  OK(MPI_File_write_at(file, at, bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE,
                       MPI_STATUS_IGNORE));
}

Bytes read_at(MPI_File file, int64_t at, int64_t size) {
  Bytes bytes(static_cast<size_t>(size));
  MPI_Status status;
  OK(MPI_File_read_at(file, at, bytes.data(), static_cast<int>(size), MPI_BYTE, &status));
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  bytes.resize(static_cast<size_t>(count < 0 ? 0 : count));
  return bytes;
}

// Written by one rank alone, read by one on another host alone, with nothing but messages between.
void alone() {
  const Bytes bytes = patterns(0, 100'000, 0);
  if (rank == 0) {
    MPI_File file = open_file("alone", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_COMM_SELF);
    write_at(file, 0, bytes);
    OK(MPI_File_close(&file));
  }
  barrier();
  if (rank == last()) {
    MPI_File file = open_file("alone", MPI_MODE_RDONLY, MPI_COMM_SELF);
    MPI_Offset size = 0;
    OK(MPI_File_get_size(file, &size));
    CHECK(size == static_cast<MPI_Offset>(bytes.size()));
    CHECK(read_at(file, 0, size) == bytes);
    OK(MPI_File_close(&file));
  }
}

// Two files at once, on all ranks and on two of them, in another order.
void overlapping() {
  MPI_Comm two = MPI_COMM_NULL;
  const bool in_two = rank == 0 || rank == last();
  MPI_Comm_split(MPI_COMM_WORLD, in_two ? 0 : MPI_UNDEFINED, -rank, &two);
  MPI_File all = open_file("all", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_File some = MPI_FILE_NULL;
  if (in_two) some = open_file("some", MPI_MODE_CREATE | MPI_MODE_RDWR, two);
  for (int round = 0; round < 5; ++round) {
    const int64_t at = (int64_t{round} * ranks + rank) * 5000;
    write_at(all, at, patterns(at, 5000, rank));
    if (in_two) write_at(some, at, patterns(at, 5000, rank + 1));
    if (in_two) OK(MPI_File_sync(some));
    OK(MPI_File_sync(all));
    barrier();
    OK(MPI_File_sync(all));
    const int other = (rank + 1) % ranks;
    const int64_t theirs = (int64_t{round} * ranks + other) * 5000;
    CHECK(read_at(all, theirs, 5000) == patterns(theirs, 5000, other));
    if (!in_two) continue;
    OK(MPI_File_sync(some));
    const int partner = last() - rank;
    const int64_t of_partner = (int64_t{round} * ranks + partner) * 5000;
    CHECK(read_at(some, of_partner, 5000) == patterns(of_partner, 5000, partner + 1));
  }
  if (in_two) OK(MPI_File_close(&some));
  OK(MPI_File_close(&all));
  if (in_two) MPI_Comm_free(&two);
}

// Its owner waits in MPI, or computes: who reads does not wait for that.
void busy_owner() {
  MPI_File file = open_file("busy", MPI_MODE_CREATE | MPI_MODE_RDWR);
  const Bytes bytes = patterns(0, 3'000'000, 0);
  if (rank == 0) write_at(file, 0, bytes);
  OK(MPI_File_sync(file));
  barrier();
  OK(MPI_File_sync(file));
  int token = 0;
  if (rank == 0) MPI_Recv(&token, 1, MPI_INT, last(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == last()) {
    CHECK(read_at(file, 0, 3'000'000) == bytes);
    MPI_Send(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  }
  barrier();
  constexpr double computing_s = 2;
  const double began = MPI_Wtime();
  if (rank == 0) usleep(static_cast<useconds_t>(computing_s * 1e6));
  if (rank == last()) {
    CHECK(read_at(file, 1000, 2'000'000) == Bytes(bytes.begin() + 1000, bytes.begin() + 2'001'000));
    CHECK(MPI_Wtime() - began < computing_s / 2);
  }
  OK(MPI_File_close(&file));
}

// Of a file that was deleted nothing is seen in the next one of its name: neither of one that was written here nor of one that was
// in the directory before ("before", 0xff bytes).
void again() {
  for (const char* name : {"again", "before"}) {
    MPI_File file = open_file(name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    write_at(file, int64_t{rank} * 100'000, Bytes(100'000, 0xff));
    OK(MPI_File_close(&file));
    if (rank == last()) OK(MPI_File_delete(name, MPI_INFO_NULL));
    barrier();
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) !=
          MPI_SUCCESS);
    file = open_file(name, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR);
    if (rank == last()) write_at(file, int64_t{ranks} * 100'000, {1});
    OK(MPI_File_sync(file));
    Bytes expected(static_cast<size_t>(ranks) * 100'000 + 1);
    expected.back() = 1;
    CHECK(read_at(file, 0, static_cast<int64_t>(expected.size())) == expected);
    OK(MPI_File_close(&file));
  }
}

constexpr int blocks = 300;  // of each rank

// 1 KiB of each rank in turn.
void write_interleaved() {
  MPI_File file = open_file("interleaved", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Datatype turns;
  MPI_Type_vector(blocks, kib, kib * ranks, MPI_BYTE, &turns);
  MPI_Type_commit(&turns);
  OK(MPI_File_set_view(file, int64_t{rank} * kib, MPI_BYTE, turns, "native", MPI_INFO_NULL));
  Bytes mine;
  for (int block = 0; block < blocks; ++block) {
    const Bytes bytes = patterns((int64_t{block} * ranks + rank) * kib, kib, 0);
    mine.insert(mine.end(), bytes.begin(), bytes.end());
  }
  OK(MPI_File_write_all(file, mine.data(), static_cast<int>(mine.size()), MPI_BYTE,
                        MPI_STATUS_IGNORE));
  MPI_Type_free(&turns);
  OK(MPI_File_close(&file));
}

// Contiguous shares, by however many ranks; the file's size says what is in it.
void read_interleaved() {
  MPI_File file = open_file("interleaved", MPI_MODE_RDONLY);
  MPI_Offset size = 0;
  OK(MPI_File_get_size(file, &size));
  CHECK(size > 0 && size % kib == 0);
  const int64_t begin = size * rank / ranks;
  const int64_t end = size * (rank + 1) / ranks;
  CHECK(read_at(file, begin, end - begin) == patterns(begin, end - begin, 0));
  OK(MPI_File_close(&file));
}

// "base" was in the directory before: 0xff bytes. Some are written over, by all ranks.
void base() {
  MPI_File file = open_file("base", MPI_MODE_RDWR);
  MPI_Offset size = 0;
  OK(MPI_File_get_size(file, &size));
  CHECK(size == 1'000'000);
  Bytes expected(1'000'000, 0xff);
  for (int writer = 0; writer < ranks; ++writer) {
    const int64_t at = 10'001 * (writer + 1);
    const Bytes bytes = patterns(at, 3000, writer);
    std::copy(bytes.begin(), bytes.end(), expected.begin() + at);
    if (writer == rank) write_at(file, at, bytes);
  }
  OK(MPI_File_sync(file));
  barrier();
  OK(MPI_File_sync(file));
  CHECK(read_at(file, 0, size) == expected);
  OK(MPI_File_close(&file));
}

// Written by POSIX calls on rank 0's host, not in the directory yet.
void local() {
  const Bytes bytes = patterns(0, 50'000, 3);
  if (rank == 0) {
    const int fd = ::open("local", O_CREAT | O_WRONLY, 0644);
    CHECK(::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    ::close(fd);
  }
  MPI_File file = open_file("local", MPI_MODE_RDWR);
  CHECK(read_at(file, 0, 50'000) == bytes);
  barrier();
  if (rank == last()) write_at(file, 50'000, {7});
  OK(MPI_File_close(&file));
}

// Every write is seen when it returns, without MPI_File_sync.
void immediate() {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cairn_visibility", "immediate");
  MPI_File file = MPI_FILE_NULL;
  OK(MPI_File_open(MPI_COMM_WORLD, "immediate", MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
  MPI_Info_free(&info);
  for (int round = 0; round < 10; ++round) {
    const int writer = round % ranks;
    const int64_t at = int64_t{round} * 3000;
    if (rank == writer) write_at(file, at, patterns(at, 3000, writer));
    barrier();
    MPI_Offset size = 0;
    OK(MPI_File_get_size(file, &size));
    CHECK(size == at + 3000);
    CHECK(read_at(file, at, 3000) == patterns(at, 3000, writer));
    barrier();
  }
  OK(MPI_File_close(&file));
}

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
  for (const struct dirent* entry; (entry = readdir(directory)) != nullptr;)
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
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

MPI_File left_open = MPI_FILE_NULL;
int close_left_open(MPI_Comm, int, void*, void*) {
  CHECK(MPI_File_close(&left_open) == MPI_SUCCESS);
  if (rank == 0 && wrong == 0) std::printf("closed in MPI_Finalize\n");
  return MPI_SUCCESS;
}

// As HDF5 closes its files: from inside MPI_Finalize. The ranks come to it at different times.
void finalize() {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, close_left_open, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  left_open = open_file("finalize", MPI_MODE_CREATE | MPI_MODE_RDWR);
  write_at(left_open, int64_t{rank} * 5000, patterns(int64_t{rank} * 5000, 5000, rank));
}

// For a reader that is not answered: rank 0 says "ready" and waits for a file of that name.
void unanswered() {
  MPI_File file = open_file("unanswered", MPI_MODE_CREATE | MPI_MODE_RDWR);
  if (rank == last()) write_at(file, 0, patterns(0, 1000, 0));
  OK(MPI_File_sync(file));
  if (rank == 0) {
    std::printf("ready\n");
    std::fflush(stdout);
    while (access("/dev/shm/go", F_OK) != 0) usleep(10'000);
    read_at(file, 0, 1000);
  } else {
    sleep(60);
  }
  OK(MPI_File_close(&file));
}

struct Part {
  const char* name;
  void (*run)();
};
constexpr Part parts[] = {
    {"alone", alone},
    {"overlapping", overlapping},
    {"busy_owner", busy_owner},
    {"again", again},
    {"write_interleaved", write_interleaved},
    {"read_interleaved", read_interleaved},
    {"base", base},
    {"local", local},
    {"immediate", immediate},
    {"by_name", by_name},
    {"changed_by_name", changed_by_name},
    {"finalize", finalize},
    {"unanswered", unanswered},
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 1; i < argc; ++i) {
    for (const Part& part : parts) {
      if (std::strcmp(part.name, argv[i]) != 0) continue;
      part.run();
      barrier();
      int all = 0;
      MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      if (rank == 0 && all == 0) std::printf("%s\n", part.name);
      std::fflush(stdout);
    }
  }
  const int failed = wrong;
  MPI_Finalize();
  return failed + wrong == 0 ? 0 : 1;
}
