// MPI-IO where one host shows nothing: files that ranks on several hosts write and read.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "mpi_parts.h"

namespace {

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

// Of a file that was deleted nothing is seen in the next one of its name: neither of one that was
// written here nor of one that was in the directory before ("before", 0xff bytes).
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

// For readers on the first host that are not answered: rank 0 says "ready", and they wait for a
// file "go".
void unanswered() {
  MPI_File file = open_file("unanswered", MPI_MODE_CREATE | MPI_MODE_RDWR);
  if (rank == last()) write_at(file, 0, patterns(0, 1000, 0));
  OK(MPI_File_sync(file));
  barrier();
  if (rank == 0) std::printf("ready\n");
  std::fflush(stdout);
  if (rank < ranks / 2) {
    while (access("/dev/shm/go", F_OK) != 0) usleep(10'000);
    read_at(file, 0, 1000);
  } else {
    sleep(60);
  }
  OK(MPI_File_close(&file));
}

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
    {"finalize", finalize},
    {"unanswered", unanswered},
};

}  // namespace

int main(int argc, char** argv) { return run_parts(parts, argc, argv); }
