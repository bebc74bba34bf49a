// What an MPI's one-sided communication does between two hosts: the last rank reads and changes the
// memory of rank 0.
//
//   one_sided_program single|multiple barrier|test|compute WINDOW...
//
// The first word is the thread level. The second is what rank 0 does meanwhile: wait in
// MPI_Barrier, test an MPI_Ibarrier, or compute for kComputeSeconds without any MPI call. A WINDOW
// is "create" (memory of rank 0 only, by MPI_Win_create), "allocate" (everybody's, by
// MPI_Win_allocate) or "dynamic" (attached to a window that MPI_Win_create_dynamic made).
//
// Every rank prints "rank R on HOST"; the last one a line for each operation, "WINDOW NAME ok
// MICROSECONDS" or what went wrong. The exit code is 0 when all went well.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int kBytes = 4 << 20;
constexpr int kCounter = 0;     // a long
constexpr int kPattern = 4096;  // from here on, pattern(i)
constexpr int kWritten = 64;    // bytes that are put, from kPattern on, and read back
constexpr double kComputeSeconds = 1.5;

int failures = 0;

char pattern(int at) { return static_cast<char>(at * 7 + 3); }

double now() {
  using std::chrono::duration;
  return duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Window {
  std::string kind;
  MPI_Win handle = MPI_WIN_NULL;
  char* memory = nullptr;
  MPI_Aint base = 0;  // of rank 0's memory, as the others address it
};

void say(const Window& window, const char* name, int error, bool right, double seconds) {
  char text[MPI_MAX_ERROR_STRING] = "wrong bytes";
  int length = 0;
  if (error != MPI_SUCCESS) MPI_Error_string(error, text, &length);
  const bool ok = error == MPI_SUCCESS && right;
  if (!ok) ++failures;
  std::printf("%s %s %s %.0f\n", window.kind.c_str(), name, ok ? "ok" : text, seconds * 1e6);
  std::fflush(stdout);
}

int make(Window& window, int rank) {
  if (window.kind == "allocate") {
    return MPI_Win_allocate(kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window.memory,
                            &window.handle);
  }
  window.memory = static_cast<char*>(std::malloc(kBytes));
  if (window.kind == "create") {
    return MPI_Win_create(window.memory, rank == 0 ? kBytes : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                          &window.handle);
  }
  int error = MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window.handle);
  if (error == MPI_SUCCESS) error = MPI_Win_attach(window.handle, window.memory, kBytes);
  MPI_Get_address(window.memory, &window.base);
  MPI_Bcast(&window.base, 1, MPI_AINT, 0, MPI_COMM_WORLD);
  return error;
}

void release(Window& window) {
  if (window.kind == "dynamic") MPI_Win_detach(window.handle, window.memory);
  MPI_Win_free(&window.handle);
  if (window.kind != "allocate") std::free(window.memory);
}

// One operation and the flush that completes it; `right` looks at what came.
template <typename Operation, typename Right>
void try_one(const char* name, const Window& window, Operation operation, Right right) {
  const double start = now();
  int error = operation();
  if (error == MPI_SUCCESS) error = MPI_Win_flush(0, window.handle);
  const double took = now() - start;
  say(window, name, error, error == MPI_SUCCESS && right(), took);
}

void try_all(const Window& window) {
  std::vector<char> bytes(1 << 20), back(kWritten);
  const std::vector<char> written(kWritten, 'w');
  const MPI_Aint counter = window.base + kCounter, data = window.base + kPattern;
  const auto get = [&](std::vector<char>& into, int count) {
    return MPI_Get(into.data(), count, MPI_BYTE, 0, data, count, MPI_BYTE, window.handle);
  };
  const auto is_pattern = [&](int count) {
    for (int i = 0; i < count; ++i) {
      if (bytes[i] != pattern(kPattern + i)) return false;
    }
    return true;
  };
  try_one(
      "get_4k", window, [&] { return get(bytes, 4096); }, [&] { return is_pattern(4096); });
  try_one(
      "get_1m", window, [&] { return get(bytes, 1 << 20); }, [&] { return is_pattern(1 << 20); });
  try_one(
      "put", window,
      [&] {
        return MPI_Put(written.data(), kWritten, MPI_BYTE, 0, data, kWritten, MPI_BYTE,
                       window.handle);
      },
      [] { return true; });
  try_one(
      "get_back", window, [&] { return get(back, kWritten); }, [&] { return back == written; });
  long operand = 5, result = -1, expected = 5, desired = 9;
  const auto fetch = [&](MPI_Op op) {
    return MPI_Fetch_and_op(&operand, &result, MPI_LONG, 0, counter, op, window.handle);
  };
  try_one(
      "fetch_and_op", window, [&] { return fetch(MPI_SUM); }, [&] { return result == 0; });
  try_one(
      "compare_and_swap", window,
      [&] {
        return MPI_Compare_and_swap(&desired, &expected, &result, MPI_LONG, 0, counter,
                                    window.handle);
      },
      [&] { return result == 5; });
  try_one(
      "fetch", window, [&] { return fetch(MPI_NO_OP); }, [&] { return result == 9; });
}

void wait_for_others(const std::string& how, int rank) {
  if (how == "compute" && rank == 0) {
    for (const double end = now() + kComputeSeconds; now() < end;) {
    }
  }
  if (how != "test") {
    MPI_Barrier(MPI_COMM_WORLD);
    return;
  }
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string level = argv[1], meanwhile = argv[2];
  int given = MPI_THREAD_SINGLE, rank = 0, ranks = 0, length = 0;
  MPI_Init_thread(&argc, &argv, level == "multiple" ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &given);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char host[MPI_MAX_PROCESSOR_NAME];
  MPI_Get_processor_name(host, &length);
  std::printf("rank %d on %s\n", rank, host);
  std::fflush(stdout);

  for (int at = 3; at < argc; ++at) {
    Window window{argv[at]};
    const int error = make(window, rank);
    if (error != MPI_SUCCESS) {
      say(window, "window", error, false, 0);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Win_set_errhandler(window.handle, MPI_ERRORS_RETURN);
    for (int i = 0; i < kBytes; ++i) window.memory[i] = i < kPattern ? 0 : pattern(i);
    MPI_Win_lock_all(0, window.handle);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == ranks - 1) try_all(window);
    wait_for_others(meanwhile, rank);
    MPI_Win_unlock_all(window.handle);
    release(window);
  }
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
