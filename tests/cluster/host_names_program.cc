// Names that all hosts have: directories, symbolic links, and files that were there before the job.
#include <fcntl.h>
#include <unistd.h>

#include "by_name.h"

namespace {

// A checkpoint of a file for each rank, as programs without MPI-IO write it: one rank makes, names
// and points to the directory.
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

// What an earlier job has left in the directory: one rank writes, moves and removes it. Of 1000
// bytes each, 0xff.
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

constexpr Part parts[] = {{"directories", directories}, {"of_before", of_before}};

}  // namespace

int main(int argc, char** argv) { return run_parts(parts, argc, argv); }
