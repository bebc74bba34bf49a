// As checkpoint programs do: all ranks write into a directory, which one rank gives its final name
// when they have, while older ones go out of the way.
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "by_name.h"

namespace {

constexpr int steps = 4;

void write_own(const std::string& name, int step) {
  write_bytes(name + std::to_string(rank), "w", patterns(0, 1000 + step, rank));
}

// Each step's directory is there under its name for all, whole.
void rotated() {
  MPI_File log = MPI_FILE_NULL;
  for (int step = 0; step < steps; ++step) {
    const int one = step % ranks;
    if (rank == one) {
      CHECK(mkdir("ckpt.tmp", 0755) == 0 && mkdir("ckpt.tmp/more", 0755) == 0);
      // Over an empty one, too.
      if (step == 0) CHECK(mkdir("ckpt", 0711) == 0);
    }
    barrier();
    write_shares("ckpt.tmp/all", step);
    write_shares("ckpt.tmp/more/all", step + 1);
    write_own("ckpt.tmp/rank", step);
    if (step == 2) {
      log = open_file("ckpt.tmp/log", MPI_MODE_CREATE | MPI_MODE_RDWR);
      write_at(log, rank * 10, patterns(rank * 10, 10, 0));
      OK(MPI_File_sync(log));
    }
    barrier();
    if (rank == one) {
      if (step > 0) CHECK(rename("ckpt.tmp", "ckpt") == -1 && errno == ENOTEMPTY);
      if (step > 0) CHECK(rename("ckpt", ("ckpt." + std::to_string(step - 1)).c_str()) == 0);
      CHECK(rename("ckpt.tmp", "ckpt") == 0);
    }
    barrier();
    CHECK(is_missing(access("ckpt.tmp", F_OK)) && is_missing(access("ckpt.tmp/all", F_OK)));
    const int64_t all = int64_t{ranks} * 100'000;
    MPI_File file = open_file("ckpt/all", MPI_MODE_RDONLY);
    CHECK(read_at(file, 0, all) == patterns(0, all, step));
    OK(MPI_File_close(&file));
    CHECK(bytes_in("ckpt/more/all") == patterns(0, all, step + 1));
    for (int of = 0; of < ranks; ++of)
      CHECK(bytes_in("ckpt/rank" + std::to_string(of)) == patterns(0, 1000 + step, of));
    barrier();
  }
  // Open since before its directory got another name, twice.
  write_at(log, (ranks + rank) * 10, patterns((ranks + rank) * 10, 10, 0));
  OK(MPI_File_close(&log));
  CHECK(bytes_in("ckpt.2/log") == patterns(0, ranks * 20, 0));
  barrier();
  CHECK((list("ckpt.1") == list("ckpt")));
}

constexpr Part parts[] = {{"rotated", rotated}};

}  // namespace

int main(int argc, char** argv) { return run_parts(parts, argc, argv); }
