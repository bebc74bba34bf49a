// Ways for programs to start and to end, each with a file.
//   starts_program PART [WORD]
// What a part does it says itself, below. Rank 0 prints the part's name when all checks held.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

#include "mpi_parts.h"

namespace {

constexpr int64_t piece = 3000;

// Each rank of a communicator writes a piece and reads that of the next one.
void write_and_read(const char* name, MPI_Comm comm) {
  int own = 0;
  int all = 1;
  MPI_Comm_rank(comm, &own);
  MPI_Comm_size(comm, &all);
  MPI_File file = open_file(name, MPI_MODE_CREATE | MPI_MODE_RDWR, comm);
  if (file == MPI_FILE_NULL) return;
  write_at(file, own * piece, patterns(own * piece, piece, own));
  OK(MPI_File_sync(file));
  MPI_Barrier(comm);
  OK(MPI_File_sync(file));
  const int next = (own + 1) % all;
  CHECK(read_at(file, next * piece, piece) == patterns(next * piece, piece, next));
  OK(MPI_File_close(&file));
}

void know_world() {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

int end(const char* part) {
  int all = wrong;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && all == 0) std::printf("%s\n", part);
  std::fflush(stdout);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}

// MPI_Init_thread with each level. Where threads may call, each writes a file of its own and all
// one file together.
int levels(int argc, char** argv) {
  const std::string wanted = argv[2];
  const int level = wanted == "single"       ? MPI_THREAD_SINGLE
                    : wanted == "funneled"   ? MPI_THREAD_FUNNELED
                    : wanted == "serialized" ? MPI_THREAD_SERIALIZED
                                             : MPI_THREAD_MULTIPLE;
  int provided = -1;
  MPI_Init_thread(&argc, &argv, level, &provided);
  know_world();
  CHECK(provided >= level);
  int now = -1;
  MPI_Query_thread(&now);
  CHECK(now == provided);
  write_and_read("levels", MPI_COMM_WORLD);
  if (level >= MPI_THREAD_SERIALIZED) {
    MPI_File file = open_file("threads", MPI_MODE_CREATE | MPI_MODE_RDWR);
    constexpr int threads = 4;
    std::mutex turn;
    std::thread running[threads];
    for (int t = 0; t < threads; ++t)
      running[t] = std::thread([&, t] {
        for (int i = 0; i < 20; ++i) {
          std::unique_lock<std::mutex> guard(turn, std::defer_lock);
          if (level == MPI_THREAD_SERIALIZED) guard.lock();
          const int64_t at = ((int64_t{i} * ranks + rank) * threads + t) * piece;
          write_at(file, at, patterns(at, piece, rank));
          CHECK(read_at(file, at, piece) == patterns(at, piece, rank));
          const std::string name = "thread" + std::to_string(rank) + "." + std::to_string(t);
          MPI_File alone = open_file(name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_COMM_SELF);
          write_at(alone, i, patterns(i, 1, t));
          OK(MPI_File_close(&alone));
        }
      });
    for (std::thread& one : running) one.join();
    OK(MPI_File_sync(file));
    barrier();
    OK(MPI_File_sync(file));
    const int other = (rank + 1) % ranks;
    for (int64_t i = 0; i < 20; ++i) {
      const int64_t at = (i * ranks + other) * threads * piece;
      const Bytes found = read_at(file, at, threads * piece);
      CHECK(found == patterns(at, threads * piece, other));
    }
    OK(MPI_File_close(&file));
  }
  return end(argv[1]);
}

// One program of several that are started together: this one does I/O with those of its kind, or
// none at all.
int one_of_several(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  know_world();
  const bool writes = std::string(argv[2]) == "writes";
  MPI_Comm kind = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, writes ? 1 : 0, rank, &kind);
  if (writes) write_and_read("of_some", kind);
  MPI_Comm_free(&kind);
  return end(argv[1]);
}

// Rank 0 is through with a file before another rank has done anything.
int early(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  know_world();
  if (rank == 0)
    write_and_read("early", MPI_COMM_SELF);
  else
    usleep(500'000);
  barrier();
  if (rank == last()) {
    MPI_File file = open_file("early", MPI_MODE_RDONLY, MPI_COMM_SELF);
    CHECK(read_at(file, 0, 2 * piece) == patterns(0, piece, 0));
    OK(MPI_File_close(&file));
  }
  return end(argv[1]);
}

// Processes that others started: with a file of their own, and with one that they open together
// with those. WORDs: what is started, if not this program as it is. Where that is refused, a
// program that was started without Cairn waits in its MPI's own call for these, so the job is
// ended.
constexpr int refused = 5;
int spawn(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  know_world();
  MPI_Comm parents = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parents);
  MPI_Comm others = parents;
  const bool child = parents != MPI_COMM_NULL;
  const bool given = argc > 2;
  if (!child) {
    char part[] = "spawn";
    char* words[] = {part, nullptr};
    MPI_Comm_spawn(given ? argv[2] : argv[0], given ? argv + 3 : words, 2, MPI_INFO_NULL, 0,
                   MPI_COMM_WORLD, &others, MPI_ERRCODES_IGNORE);
  }
  write_and_read(child ? "of_children" : "of_parents", MPI_COMM_WORLD);
  MPI_Comm all = MPI_COMM_NULL;
  MPI_Intercomm_merge(others, child ? 1 : 0, &all);
  MPI_File file = MPI_FILE_NULL;
  const int code =
      MPI_File_open(all, "of_all", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  if (code == MPI_SUCCESS) {
    OK(MPI_File_close(&file));
    write_and_read("of_all", all);
  } else {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    if (!child && rank == 0) std::printf("together: %s\n", text);
    int error_class = 0;
    MPI_Error_class(code, &error_class);
    CHECK(error_class == MPI_ERR_UNSUPPORTED_OPERATION);
    std::fflush(stdout);
    if (!child && !given) {
      barrier();
      MPI_Abort(MPI_COMM_WORLD, wrong == 0 ? refused : 1);
    }
  }
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&others);
  return end(child ? "spawned" : argv[1]);
}

#if MPI_VERSION >= 4
// No MPI_Init: a session and what can be made of it.
int session(int, char** argv) {
  MPI_Session begun = MPI_SESSION_NULL;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &begun);
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group_from_session_pset(begun, "mpi://WORLD", &group);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_create_from_group(group, "cairn", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Group_free(&group);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  MPI_File file = MPI_FILE_NULL;
  const int code =
      MPI_File_open(comm, "of_session", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  if (code == MPI_SUCCESS) {
    OK(MPI_File_close(&file));
    write_and_read("of_session", comm);
  } else {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    if (rank == 0) std::printf("together: %s\n", text);
  }
  int all = wrong;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, comm);
  if (rank == 0 && all == 0) std::printf("%s\n", argv[1]);
  std::fflush(stdout);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&begun);
  return all == 0 ? 0 : 1;
}

// A session begun after MPI_Finalize: MPI_COMM_SELF is no more, although there was an MPI_Init.
int late_session(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  know_world();
  write_and_read("of_world", MPI_COMM_WORLD);
  MPI_Finalize();
  return session(argc, argv);
}
#endif

// Ends that are none: WORD says which. "synced" is what was there when all had come out of
// MPI_File_sync, and another piece of each rank was written after it.
int ends(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  know_world();
  const std::string how = argv[2];
  write_and_read("closed", MPI_COMM_WORLD);
  MPI_File file = open_file("synced", MPI_MODE_CREATE | MPI_MODE_RDWR);
  write_at(file, rank * piece, patterns(rank * piece, piece, rank));
  OK(MPI_File_sync(file));
  const int64_t later = (ranks + rank) * piece;
  write_at(file, later, patterns(later, piece, rank));
  barrier();
  if (rank == 0) std::printf("written\n");
  std::fflush(stdout);
  if (how == "abort") {
    if (rank == last()) MPI_Abort(MPI_COMM_WORLD, 3);
    while (true) sleep(1);
  }
  if (how == "no_finalize") {
    // Whoever goes first is a reason for some launchers to kill the others: the line is written and
    // on its way.
    barrier();
    usleep(500'000);
    _exit(wrong == 0 ? 0 : 1);
  }
  return end(argv[1]);  // "open": with an open file
}

// What ends() has left: all of it, or what was committed.
int look(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  know_world();
  const int writers = std::atoi(argv[2]);
  MPI_File file = open_file("closed", MPI_MODE_RDONLY);
  for (int64_t i = 0; i < writers; ++i)
    CHECK(read_at(file, i * piece, piece) == patterns(i * piece, piece, static_cast<int>(i)));
  OK(MPI_File_close(&file));
  file = open_file("synced", MPI_MODE_RDONLY);
  MPI_Offset size = 0;
  OK(MPI_File_get_size(file, &size));
  CHECK(size >= writers * piece && size <= 2 * writers * piece);
  for (int64_t i = 0; i < size / piece; ++i)
    CHECK(read_at(file, i * piece, piece) ==
          patterns(i * piece, piece, static_cast<int>(i % writers)));
  OK(MPI_File_close(&file));
  if (rank == 0) std::printf("found %lld\n", static_cast<long long>(size / piece));
  return end(argv[1]);
}

constexpr struct {
  const char* name;
  int (*run)(int argc, char** argv);
  int words;
} parts[] = {
    {"levels", levels, 1},   {"one_of_several", one_of_several, 1},
    {"early", early, 0},     {"spawn", spawn, 0},
    {"ends", ends, 1},       {"look", look, 1},
#if MPI_VERSION >= 4
    {"session", session, 0}, {"late_session", late_session, 0},
#endif
};

}  // namespace

int main(int argc, char** argv) {
  for (const auto& part : parts)
    if (argc > 1 && part.name == std::string(argv[1]) && argc >= 2 + part.words)
      return part.run(argc, argv);
  std::printf("this MPI has no part %s\n", argc > 1 ? argv[1] : "without a name");
  return 77;
}
