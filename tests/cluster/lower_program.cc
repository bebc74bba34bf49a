// Checkpoints of MPI ranks of several nodes with copies in lower. The pool is found by the
// environment.
//
//   lower_program write DIR VERSION...   goes on from the latest; waits for GLOBAL of each
//   lower_program keep DIR VERSION...    waits for LOCAL; finalize copies the last one
//   lower_program background DIR VERSION...  waits for no copy, but looks until each is at GLOBAL
//   lower_program read DIR VERSION       expects this one, each byte right; says what was skipped
//   lower_program drop DIR VERSION       reads the latest one and drops this one
//   lower_program fail DIR VERSION       expects that all ranks hear why it cannot be copied
//   lower_program names DIR              expects that ranks which open different sets are told
//   lower_program none DIR               expects that init fails; says why
#include <string>

#include "checkpoint_field.h"

namespace {

using namespace cairn::test;

int rank = 0;
int ranks = 1;
const char* directory = nullptr;
bool is_in_background = false;

cairn_checkpoint_options lower_options() {
  cairn_checkpoint_options options{};
  options.struct_size = sizeof options;
  options.lower = directory;
  if (is_in_background) options.flags = CAIRN_CHECKPOINT_BACKGROUND;
  return options;
}

struct State {
  Field field{rank, ranks};
  double time = 0;
  cairn_checkpoint* checkpoint = nullptr;

  State() {
    const cairn_checkpoint_options options = lower_options();
    check(cairn_checkpoint_init("field", MPI_Comm_c2f(MPI_COMM_WORLD), &options, &checkpoint), 0,
          "init");
    field.define(checkpoint);
    define_time(checkpoint, &time);
  }
  void set(int64_t version) {
    time = static_cast<double>(version) / 3;
    field.for_each([&](int64_t i, int64_t j, int64_t k, double* element) {
      *element = value(i, j, k, version);
    });
  }
  void expect(int64_t version) {
    check(time == static_cast<double>(version) / 3 ? 0 : 1, 0, "time");
    field.for_each([&](int64_t i, int64_t j, int64_t k, const double* element) {
      const double expected = value(i, j, k, version);
      check(std::memcmp(element, &expected, sizeof expected), 0, "an element");
    });
  }
  cairn_checkpoint_info read() {
    cairn_checkpoint_info info{};
    info.struct_size = sizeof info;
    check(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, &info), 0, "read");
    expect(info.number);
    return info;
  }
  void read_if_there() {
    const int found = cairn_checkpoint_restart_test(checkpoint, CAIRN_CHECKPOINT_LATEST, nullptr);
    if (found == 0) return;
    check(found, 1, "restart_test");
    read();
  }
  cairn_checkpoint_handle write(int64_t version) {
    set(version);
    cairn_checkpoint_handle handle = 0;
    check(cairn_checkpoint_iwrite(checkpoint, version, &handle), 0, "iwrite");
    return handle;
  }
};

void say(const std::string& text) {
  if (rank != 0) return;
  std::puts(text.c_str());
  std::fflush(stdout);
}

void write(int count, char** versions, bool waits) {
  State state;
  state.read_if_there();
  for (int i = 0; i < count; ++i) {
    const int64_t version = std::atoll(versions[i]);
    const cairn_checkpoint_handle handle = state.write(version);
    check(cairn_checkpoint_wait(state.checkpoint, handle, CAIRN_LEVEL_LOCAL, 0), 0, "wait");
    say("local " + std::to_string(version));
    if (is_in_background) {
      int is_there = 0;
      while (is_there == 0)
        is_there = cairn_checkpoint_test(state.checkpoint, handle, CAIRN_LEVEL_GLOBAL, nullptr);
      check(is_there, 1, "test for GLOBAL");
      say("global " + std::to_string(version));
    }
    if (!waits) continue;
    check(cairn_checkpoint_wait(state.checkpoint, handle, CAIRN_LEVEL_GLOBAL, 0), 0,
          "wait for GLOBAL");
    cairn_checkpoint_progress progress{};
    progress.struct_size = sizeof progress;
    check(cairn_checkpoint_test(state.checkpoint, handle, CAIRN_LEVEL_GLOBAL, &progress), 1,
          "test");
    check(static_cast<int>(progress.level), CAIRN_LEVEL_GLOBAL, "level");
    check((progress.survives & CAIRN_SURVIVES_POOLS) != 0 ? 0 : 1, 0, "survives");
    say("global " + std::to_string(version));
  }
  check(cairn_checkpoint_finalize(state.checkpoint), 0, "finalize");
}

void read(int64_t version) {
  State state;
  const cairn_checkpoint_info info = state.read();
  check(static_cast<int>(info.number), static_cast<int>(version), "the version that was read");
  say("skipped " + std::to_string(info.skipped) + " " + info.why);
  check(cairn_checkpoint_finalize(state.checkpoint), 0, "finalize");
}

void drop(int64_t version) {
  State state;
  state.read();
  check(cairn_checkpoint_drop(state.checkpoint, version, 0), 0, "drop");
  check(cairn_checkpoint_drop(state.checkpoint, version, 0), -ENOENT, "drop again");
  check(cairn_checkpoint_drop(state.checkpoint, CAIRN_CHECKPOINT_LATEST, 0), -EPERM,
        "drop the last");
  check(cairn_checkpoint_finalize(state.checkpoint), 0, "finalize");
}

void fail(int64_t version) {
  State state;
  state.read_if_there();
  const cairn_checkpoint_handle handle = state.write(version);
  const int result = cairn_checkpoint_wait(state.checkpoint, handle, CAIRN_LEVEL_GLOBAL, 0);
  const std::string text = cairn_last_error();
  check(result < 0 ? 0 : 1, 0, "wait fails");
  int least = 0;
  int most = 0;
  MPI_Allreduce(&result, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&result, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  check(least, most, "all ranks hear the same");
  std::printf("rank %d: %s\n", rank, text.c_str());
  check(cairn_checkpoint_test(state.checkpoint, handle, CAIRN_LEVEL_GLOBAL, nullptr), 0, "test");
  check(cairn_checkpoint_finalize(state.checkpoint), result, "finalize");
}

void names() {
  cairn_checkpoint* checkpoint = nullptr;
  const std::string name = rank == 1 ? "other" : "field";
  const int result =
      cairn_checkpoint_init(name.c_str(), MPI_Comm_c2f(MPI_COMM_WORLD), nullptr, &checkpoint);
  check(result, -EINVAL, "init with different names");
  if (rank == 1) std::printf("names: %s\n", cairn_last_error());
}

void none() {
  const cairn_checkpoint_options options = lower_options();
  cairn_checkpoint* checkpoint = nullptr;
  const int result =
      cairn_checkpoint_init("field", MPI_Comm_c2f(MPI_COMM_WORLD), &options, &checkpoint);
  check(result < 0 ? 0 : 1, 0, "init fails");
  say(std::string("none: ") + cairn_last_error());
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  rank_of_all = rank;
  const std::string part = argv[1];
  directory = argv[2];
  is_in_background = part == "background";
  if (part == "write" || part == "keep" || is_in_background)
    write(argc - 3, argv + 3, part == "write");
  if (part == "read") read(std::atoll(argv[3]));
  if (part == "fail") fail(std::atoll(argv[3]));
  if (part == "names") names();
  if (part == "drop") drop(std::atoll(argv[3]));
  if (part == "none") none();
  MPI_Barrier(MPI_COMM_WORLD);
  say("copies are right");
  MPI_Finalize();
  return 0;
}
