// Writes checkpoints with copies on other nodes, and reads them. The pool and the failure domain
// are found by the environment.
//
//   partner_program write VERSION...   continues the latest version, if there is one
//   partner_program later VERSION      hands over a version, and finds its copies later
//   partner_program read [VERSION]     expects this version, each byte right; says where it was
//   partner_program lost               expects that no version can be had; says why
//   partner_program impossible         expects that no node can hold copies; says why
//   partner_program rounds             writes versions until it is killed
#include <string>

#include "checkpoint_field.h"

namespace {

using namespace cairn::test;

int rank = 0;
int ranks = 1;

cairn_checkpoint* open_field(uint32_t flags) {
  cairn_checkpoint_options options{};
  options.struct_size = sizeof options;
  options.flags = flags;
  options.max_attempts = 1'000'000;
  cairn_checkpoint* checkpoint = nullptr;
  check(cairn_checkpoint_init("field", MPI_Comm_c2f(MPI_COMM_WORLD), &options, &checkpoint), 0,
        "init");
  return checkpoint;
}

void say(const char* what, int64_t number) {
  if (rank != 0) return;
  std::printf("%s %lld\n", what, static_cast<long long>(number));
  std::fflush(stdout);
}

struct State {
  Field field{rank, ranks};
  double time = 0;

  void define(cairn_checkpoint* checkpoint) {
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
};

cairn_checkpoint_info read_latest(cairn_checkpoint* checkpoint, State* state) {
  cairn_checkpoint_info info{};
  info.struct_size = sizeof info;
  const int found = cairn_checkpoint_restart_test(checkpoint, CAIRN_CHECKPOINT_LATEST, &info);
  if (found == 0) return {};
  check(found, 1, "restart_test");
  check(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, &info), 0, "read");
  state->expect(info.number);
  return info;
}

cairn_checkpoint_progress progress_of(cairn_checkpoint* checkpoint,
                                      cairn_checkpoint_handle handle) {
  cairn_checkpoint_progress progress{};
  progress.struct_size = sizeof progress;
  check(cairn_checkpoint_test(checkpoint, handle, CAIRN_LEVEL_STAGED, &progress), 1, "test");
  return progress;
}

// What it is told of, in order: the level, and 100 times the error.
void observe(void* context, cairn_checkpoint_handle, int64_t, const cairn_checkpoint_progress* is) {
  static_cast<std::vector<int64_t>*>(context)->push_back(static_cast<int64_t>(is->level) -
                                                         int64_t{100} * is->error);
}

void write(int count, char** versions) {
  State state;
  cairn_checkpoint* const checkpoint = open_field(CAIRN_CHECKPOINT_PARTNER);
  state.define(checkpoint);
  read_latest(checkpoint, &state);
  std::vector<int64_t> seen;
  check(cairn_checkpoint_observe(checkpoint, observe, &seen), 0, "observe");
  for (int i = 0; i < count; ++i) {
    const int64_t version = std::atoll(versions[i]);
    state.set(version);
    seen.clear();
    check(cairn_checkpoint_write(checkpoint, version), 0, "write");
    check(seen == std::vector<int64_t>{CAIRN_LEVEL_STAGED, CAIRN_LEVEL_LOCAL, CAIRN_LEVEL_PARTNER}
              ? 0
              : 1,
          0, "what the observer saw");
  }
  check(cairn_checkpoint_finalize(checkpoint), 0, "finalize");
}

// No level is told before it is reached, and each contains those before it.
void later(int64_t version) {
  State state;
  cairn_checkpoint* const checkpoint =
      open_field(CAIRN_CHECKPOINT_PARTNER | CAIRN_CHECKPOINT_FRESH);
  state.define(checkpoint);
  cairn_checkpoint_handle handles[2] = {};
  for (int i = 0; i < 2; ++i) {
    state.set(version + i);
    check(cairn_checkpoint_iwrite(checkpoint, version + i, &handles[i]), 0, "iwrite");
  }
  check(cairn_checkpoint_wait(checkpoint, handles[0], CAIRN_LEVEL_LOCAL, 0), 0, "wait for LOCAL");
  cairn_checkpoint_progress progress = progress_of(checkpoint, handles[0]);
  check(static_cast<int>(progress.level), CAIRN_LEVEL_LOCAL, "level");
  check(static_cast<int>(progress.survives & CAIRN_SURVIVES_NODE), 0, "survives");
  check(cairn_checkpoint_test(checkpoint, handles[0], CAIRN_LEVEL_PARTNER, nullptr), 0, "test");
  check(cairn_checkpoint_wait(checkpoint, handles[0], CAIRN_LEVEL_PARTNER, 0), 0, "wait");
  check(cairn_checkpoint_wait(checkpoint, handles[0], CAIRN_LEVEL_PARTNER, 0), 0, "wait again");
  progress = progress_of(checkpoint, handles[0]);
  check(static_cast<int>(progress.level), CAIRN_LEVEL_PARTNER, "level");
  check((progress.survives & CAIRN_SURVIVES_NODE) != 0 ? 0 : 1, 0, "survives");
  check(progress.level_ns[CAIRN_LEVEL_PARTNER] > progress.level_ns[CAIRN_LEVEL_LOCAL] ? 0 : 1, 0,
        "level_ns");
  check(cairn_checkpoint_test(checkpoint, handles[0], CAIRN_LEVEL_PARTNER, nullptr), 1, "test");
  check(cairn_checkpoint_test(checkpoint, handles[1], CAIRN_LEVEL_PARTNER, nullptr), 0, "test");
  // A version that was read again in the run that wrote it.
  check(cairn_checkpoint_read(checkpoint, version, 0, nullptr), 0, "read");
  state.expect(version);
  std::vector<int64_t> seen;
  check(cairn_checkpoint_observe(checkpoint, observe, &seen), 0, "observe");
  state.set(version + 2);
  check(cairn_checkpoint_iwrite(checkpoint, version + 2, &handles[1]), 0, "iwrite");
  // The newest one gets its copies now.
  check(cairn_checkpoint_finalize(checkpoint), 0, "finalize");
  check(seen == std::vector<int64_t>{CAIRN_LEVEL_STAGED, CAIRN_LEVEL_LOCAL, CAIRN_LEVEL_PARTNER}
            ? 0
            : 1,
        0, "what the observer saw");
}

void read(const char* version) {
  State state;
  cairn_checkpoint* const checkpoint = open_field(0);
  state.define(checkpoint);
  const cairn_checkpoint_info info = read_latest(checkpoint, &state);
  if (version != nullptr)
    check(static_cast<int>(info.number), std::atoi(version), "the version that was read");
  say("version", info.number);
  if (rank == 0)
    std::printf("level %u, skipped %u, from copies %u: %s\n", info.level, info.skipped,
                info.from_copies, info.why);
  check(cairn_checkpoint_finalize(checkpoint), 0, "finalize");
}

void lost() {
  State state;
  cairn_checkpoint* const checkpoint = open_field(CAIRN_CHECKPOINT_PARTNER);
  state.define(checkpoint);
  check(cairn_checkpoint_restart_test(checkpoint, CAIRN_CHECKPOINT_LATEST, nullptr), -EHOSTDOWN,
        "restart_test");
  if (rank == 0) std::printf("lost: %s\n", cairn_last_error());
  check(cairn_checkpoint_finalize(checkpoint), 0, "finalize");
}

// Says so, and goes on.
void impossible() {
  State state;
  cairn_checkpoint* const checkpoint =
      open_field(CAIRN_CHECKPOINT_PARTNER | CAIRN_CHECKPOINT_FRESH);
  state.define(checkpoint);
  std::vector<int64_t> seen;
  check(cairn_checkpoint_observe(checkpoint, observe, &seen), 0, "observe");
  state.set(7);
  cairn_checkpoint_handle handle = 0;
  check(cairn_checkpoint_iwrite(checkpoint, 7, &handle), 0, "iwrite");
  check(cairn_checkpoint_wait(checkpoint, handle, CAIRN_LEVEL_LOCAL, 0), 0, "wait for LOCAL");
  check(seen == std::vector<int64_t>{CAIRN_LEVEL_STAGED, CAIRN_LEVEL_LOCAL + 100 * EOPNOTSUPP} ? 0
                                                                                               : 1,
        0, "what the observer saw");
  check(cairn_checkpoint_wait(checkpoint, handle, CAIRN_LEVEL_PARTNER, 0), -EOPNOTSUPP, "wait");
  if (rank == 0) std::printf("impossible: %s\n", cairn_last_error());
  check(cairn_checkpoint_test(checkpoint, handle, CAIRN_LEVEL_PARTNER, nullptr), -EOPNOTSUPP,
        "test");
  check(progress_of(checkpoint, handle).error, -EOPNOTSUPP, "error");
  check(static_cast<int>(progress_of(checkpoint, handle).level), CAIRN_LEVEL_LOCAL, "level");
  state.set(8);
  check(cairn_checkpoint_write(checkpoint, 8), 0, "write");
  state.set(0);
  check(static_cast<int>(read_latest(checkpoint, &state).number), 8, "read");
  check(cairn_checkpoint_finalize(checkpoint), 0, "finalize");
}

void rounds() {
  State state;
  cairn_checkpoint* const checkpoint = open_field(CAIRN_CHECKPOINT_PARTNER);
  state.define(checkpoint);
  for (int64_t version = read_latest(checkpoint, &state).number + 1;; ++version) {
    state.set(version);
    cairn_checkpoint_handle handle = 0;
    check(cairn_checkpoint_iwrite(checkpoint, version, &handle), 0, "iwrite");
    check(cairn_checkpoint_wait(checkpoint, handle, CAIRN_LEVEL_LOCAL, 0), 0, "wait for LOCAL");
    say("committed", version);
    check(cairn_checkpoint_wait(checkpoint, handle, CAIRN_LEVEL_PARTNER, 0), 0, "wait");
    say("copied", version);
  }
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  rank_of_all = rank;
  const std::string part = argc > 1 ? argv[1] : "";
  if (part == "write") write(argc - 2, argv + 2);
  if (part == "later") later(std::atoll(argv[2]));
  if (part == "read") read(argv[2]);
  if (part == "lost") lost();
  if (part == "impossible") impossible();
  if (part == "rounds") rounds();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::puts("copies are right");
  std::fflush(stdout);
  MPI_Finalize();
  return 0;
}
