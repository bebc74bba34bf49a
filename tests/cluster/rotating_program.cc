// Checkpoints that replace each other: more of them, one after the other, than fit into the pools
// together.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "mpi_parts.h"

namespace {

constexpr int rounds = 10;
constexpr int64_t share = 10LL << 20;  // of each rank

// A checkpoint of all ranks; its bytes are there. Its file is open.
MPI_File checkpoint(const std::string& name, int round, int amode = 0) {
  MPI_File file = open_file(name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR | amode);
  const int64_t at = rank * share;
  write_at(file, at, patterns(at, share, rank + round));
  OK(MPI_File_sync(file));
  barrier();
  OK(MPI_File_sync(file));
  const int other = (rank + 1) % ranks;
  CHECK(read_at(file, other * share, 5000) == patterns(other * share, 5000, other + round));
  return file;
}

void closed_checkpoint(const std::string& name, int round) {
  MPI_File file = checkpoint(name, round);
  OK(MPI_File_close(&file));
  barrier();
}

// Each rank in turn removes one.
bool is_mine(int round) { return rank == round % ranks; }

template <typename Remove>
void rotate(const char* name, const Remove& remove) {
  for (int round = 0; round < rounds; ++round) {
    closed_checkpoint(name, round);
    if (is_mine(round)) remove(name);
    barrier();
  }
}

void deleted() {
  rotate("deleted", [](const char* name) { OK(MPI_File_delete(name, MPI_INFO_NULL)); });
}

void unlinked() {
  rotate("unlinked", [](const char* name) { CHECK(::unlink(name) == 0); });
}

void deleted_at_close() {
  for (int round = 0; round < rounds; ++round) {
    MPI_File file = checkpoint("at_close", round, MPI_MODE_DELETE_ON_CLOSE);
    OK(MPI_File_close(&file));
    barrier();
  }
}

// By another group, and through a descriptor, which hold it until they close it.
void deleted_while_open() {
  for (int round = 0; round < rounds; ++round) {
    closed_checkpoint("while_open", round);
    MPI_File file = open_file("while_open", MPI_MODE_RDWR, MPI_COMM_SELF);
    const int fd = ::open("while_open", O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    char byte = 0;
    CHECK(::pread(fd, &byte, 1, rank * share) == 1);
    barrier();
    if (is_mine(round)) OK(MPI_File_delete("while_open", MPI_INFO_NULL));
    barrier();
    const int64_t at = rank * share;
    CHECK(read_at(file, at, 5000) == patterns(at, 5000, rank + round));
    OK(MPI_File_close(&file));
    CHECK(::close(fd) == 0);
    barrier();
  }
}

void renamed_over() {
  for (int round = 0; round < rounds; ++round) {
    closed_checkpoint("new", round);
    if (is_mine(round)) CHECK(::rename("new", "latest") == 0);
    barrier();
  }
  MPI_File file = open_file("latest", MPI_MODE_RDONLY);
  const int64_t at = last() - rank;
  CHECK(read_at(file, at * share, 5000) ==
        patterns(at * share, 5000, static_cast<int>(at) + rounds - 1));
  OK(MPI_File_close(&file));
}

constexpr Part parts[] = {
    {"deleted", deleted},
    {"unlinked", unlinked},
    {"deleted_at_close", deleted_at_close},
    {"deleted_while_open", deleted_while_open},
    {"renamed_over", renamed_over},
};

}  // namespace

int main(int argc, char** argv) { return run_parts(parts, argc, argv); }
