// Writes and reads checkpoints by MPI ranks of several nodes. The pool is found by the environment.
//
//   nodes_program rounds    continues the latest version and writes the next until it is killed
//   nodes_program some      writes versions 1 and 2
//   nodes_program look      reads the latest version, and says which it was
//   nodes_program refused   expects that no version can be had; says why
//   nodes_program anew      begins anew and writes version 1000
//   nodes_program need      asks whether a checkpoint is due; all ranks hear the same
//   nodes_program wrong     defines what does not fit between nodes
//   nodes_program async     hands over versions and asks after them later
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "checkpoint_field.h"

namespace {

using namespace cairn::test;

int rank = 0;
int ranks = 1;

cairn_checkpoint* open_field(cairn_checkpoint_options options = {}) {
  options.struct_size = sizeof options;
  options.max_attempts = 1'000'000;
  cairn_checkpoint* checkpoint = nullptr;
  check(cairn_checkpoint_init("field", MPI_Comm_c2f(MPI_COMM_WORLD), &options, &checkpoint), 0,
        "init");
  return checkpoint;
}

std::string own_node() {
  char host[128] = "";
  gethostname(host, sizeof host - 1);
  const char* const pool = std::getenv("CAIRN_POOL_NAME");
  return std::string(host) + ":" + (pool == nullptr ? "" : pool);
}

void say(const char* what, int64_t number) {
  if (rank != 0) return;
  std::printf("%s %lld\n", what, static_cast<long long>(number));
  std::fflush(stdout);
}

// An array of this rank that has another length in each version.
template <typename T>
int get_vector(void* context, int purpose, cairn_array* array) {
  auto& values = *static_cast<std::vector<T>*>(context);
  if (purpose == CAIRN_ARRAY_TO_FILL) values.assign(static_cast<size_t>(array->extent[0]), T{});
  array->base = values.data();
  array->extent[0] = static_cast<int64_t>(values.size());
  return 0;
}

template <typename T>
void define_particles(cairn_checkpoint* checkpoint, const char* name, uint32_t type,
                      std::vector<T>* values, const char* key) {
  cairn_array array{};
  array.struct_size = sizeof array;
  array.type = type;
  array.dimensions = 1;
  cairn_distribution particles{};
  particles.struct_size = sizeof particles;
  particles.kind = CAIRN_PARTICLES;
  particles.over = "field";
  particles.key = key;
  cairn_definition more{};
  more.struct_size = sizeof more;
  more.getter = get_vector<T>;
  more.context = values;
  check(cairn_checkpoint_define(checkpoint, name, &array, &particles, &more), 0, "define");
}

struct State {
  Field field{rank, ranks};
  double time = 0;
  std::vector<int64_t> cells;
  std::vector<double> masses;

  void define(cairn_checkpoint* checkpoint) {
    field.define(checkpoint);
    define_time(checkpoint, &time);
    define_particles(checkpoint, "cell", CAIRN_TYPE_INT64, &cells, nullptr);
    define_particles(checkpoint, "mass", CAIRN_TYPE_FLOAT64, &masses, "cell");
  }
  // A particle in some of this rank's cells.
  static bool has_particle(int64_t i, int64_t j, int64_t k, int64_t version) {
    return (i + 2 * j + 3 * k + version) % 5 == 0;
  }
  void set(int64_t version) {
    time = static_cast<double>(version) / 3;
    cells.clear();
    masses.clear();
    field.for_each([&](int64_t i, int64_t j, int64_t k, const double*) {
      if (!has_particle(i, j, k, version)) return;
      cells.push_back((i * rows + j) * columns + k);
      masses.push_back(value(i, j, k, version) + 1);
    });
    field.for_each([&](int64_t i, int64_t j, int64_t k, double* element) {
      *element = value(i, j, k, version);
    });
  }
  void expect(int64_t version) {
    size_t particles = 0;
    field.for_each([&](int64_t i, int64_t j, int64_t k, const double*) {
      if (!has_particle(i, j, k, version)) return;
      ++particles;
      const auto at = std::find(cells.begin(), cells.end(), (i * rows + j) * columns + k);
      check(at == cells.end() ? 1 : 0, 0, "a particle");
      const double mass = masses[static_cast<size_t>(at - cells.begin())];
      check(mass == value(i, j, k, version) + 1 ? 0 : 1, 0, "mass of a particle");
    });
    check(static_cast<int>(cells.size()), static_cast<int>(particles), "particles");
    check(static_cast<int>(masses.size()), static_cast<int>(particles), "masses");
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

void rounds() {
  State state;
  cairn_checkpoint* const checkpoint = open_field();
  state.define(checkpoint);
  say("begun", 0);
  for (int64_t version = read_latest(checkpoint, &state).number + 1;; ++version) {
    state.set(version);
    say("begun", version);
    check(cairn_checkpoint_write(checkpoint, version), 0, "write");
    say("committed", version);
  }
}

// Two versions.
void some() {
  State state;
  cairn_checkpoint* const checkpoint = open_field();
  state.define(checkpoint);
  for (const int64_t version : {1, 2}) {
    state.set(version);
    check(cairn_checkpoint_write(checkpoint, version), 0, "write");
  }
  check(cairn_checkpoint_finalize(checkpoint), 0, "finalize");
}

void look() {
  State state;
  cairn_checkpoint* const checkpoint = open_field();
  state.define(checkpoint);
  const cairn_checkpoint_info info = read_latest(checkpoint, &state);
  say("version", info.number);
  if (rank == 0) std::printf("skipped %u %s\n", info.skipped, info.why);
  // A row of the global array, by all ranks at the same time.
  if (info.number != 0) {
    std::vector<double> line(static_cast<size_t>(columns));
    cairn_array array{};
    array.struct_size = sizeof array;
    array.type = CAIRN_TYPE_FLOAT64;
    array.dimensions = 3;
    array.base = line.data();
    const int64_t offset[] = {(3 * rank) % planes, rank % rows, 0};
    const int64_t count[] = {1, 1, columns};
    std::memcpy(array.extent, count, sizeof count);
    check(cairn_checkpoint_read_var(checkpoint, CAIRN_CHECKPOINT_LATEST, "field", offset, count,
                                    &array),
          0, "read_var");
    for (int64_t k = 0; k < columns; ++k)
      check(line[static_cast<size_t>(k)] == value(offset[0], offset[1], k, info.number) ? 0 : 1, 0,
            "an element of a row");
  }
  check(cairn_checkpoint_finalize(checkpoint), 0, "finalize");
}

void refused() {
  State state;
  cairn_checkpoint* const checkpoint = open_field();
  state.define(checkpoint);
  check(cairn_checkpoint_restart_test(checkpoint, CAIRN_CHECKPOINT_LATEST, nullptr), -EHOSTDOWN,
        "restart_test");
  if (rank == 0) std::printf("refused: %s\n", cairn_last_error());
  check(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, nullptr), -EHOSTDOWN, "read");
  check(cairn_checkpoint_write(checkpoint, 1), -EEXIST, "write");
  check(cairn_checkpoint_finalize(checkpoint), 0, "finalize");
}

void anew() {
  State state;
  cairn_checkpoint_options options{};
  options.flags = CAIRN_CHECKPOINT_FRESH;
  cairn_checkpoint* const checkpoint = open_field(options);
  state.define(checkpoint);
  state.set(1000);
  check(cairn_checkpoint_write(checkpoint, 1000), 0, "write");
  check(cairn_checkpoint_finalize(checkpoint), 0, "finalize");
}

// One rank is slow, and each node by itself would find a checkpoint due at another call.
void need() {
  State state;
  cairn_checkpoint_options options{};
  options.flags = CAIRN_CHECKPOINT_FRESH;
  options.interval_ns = 20'000'000;
  cairn_checkpoint* const checkpoint = open_field(options);
  state.define(checkpoint);
  constexpr int steps = 2000;
  std::vector<int64_t> yes;
  for (int64_t step = 1; step <= steps; ++step) {
    if (step % 7 == rank % 7) usleep(1000);
    const int answer = cairn_checkpoint_need(checkpoint, step);
    if (answer < 0) check(answer, 0, "need");
    if (answer == 0) continue;
    yes.push_back(step);
    state.set(step);
    cairn_checkpoint_handle handle = 0;
    check(cairn_checkpoint_iwrite(checkpoint, step, &handle), 0, "iwrite");
  }
  int64_t said[2] = {static_cast<int64_t>(yes.size()), 0};
  for (const int64_t step : yes) said[1] = (said[1] * 1000 + step) % 1'000'000'007;
  int64_t least[2];
  int64_t most[2];
  MPI_Allreduce(said, least, 2, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(said, most, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  check(std::memcmp(least, most, sizeof least), 0, "all ranks hear the same");
  say("yes", said[0]);
  // Ranks that ask with different steps are told so.
  for (int i = 0; i < 8; ++i) {
    const int answer = cairn_checkpoint_need(checkpoint, steps + i + (rank == ranks - 1 ? 1 : 0));
    if (answer < 0) {
      check(answer, -EINVAL, "need with other steps");
      said[0] = -1;
    }
  }
  MPI_Allreduce(said, least, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
  check(static_cast<int>(least[0]), -1, "a rank hears that steps differ");
  check(cairn_checkpoint_finalize(checkpoint), 0, "finalize");
}

// The array of the last rank overlaps that of rank 0, or has another type; then all is right again.
void wrong() {
  cairn_checkpoint_options options{};
  options.flags = CAIRN_CHECKPOINT_FRESH;
  cairn_checkpoint* const checkpoint = open_field(options);
  std::vector<double> values(4, rank);
  cairn_array array{};
  array.struct_size = sizeof array;
  array.type = CAIRN_TYPE_FLOAT64;
  array.dimensions = 1;
  array.base = values.data();
  array.extent[0] = 4;
  cairn_distribution block{};
  block.struct_size = sizeof block;
  block.kind = CAIRN_BLOCK;
  block.global[0] = 4 * ranks;
  const bool is_last = rank == ranks - 1;
  const auto expect = [&](int result, const std::string& text) {
    check(cairn_checkpoint_write(checkpoint, 7), result, text.c_str());
    if (text.empty()) return;
    const std::string said = cairn_last_error();
    if (said.find(text) == std::string::npos)
      std::printf("rank %d: '%s' lacks '%s'\n", rank, said.c_str(), text.c_str());
    check(said.find(text) == std::string::npos ? 1 : 0, 0, "text");
  };
  block.offset[0] = is_last ? 0 : 4 * rank;
  check(cairn_checkpoint_define(checkpoint, "line", &array, &block, nullptr), 0, "define");
  expect(-EINVAL, "variable 'line'");
  block.offset[0] = 4 * rank;
  if (is_last) array.type = CAIRN_TYPE_INT64;
  check(cairn_checkpoint_define(checkpoint, "line", &array, &block, nullptr), 0, "define");
  expect(-EINVAL, "variable 'line' is defined differently on ranks");
  array.type = CAIRN_TYPE_FLOAT64;
  check(cairn_checkpoint_define(checkpoint, "line", &array, &block, nullptr), 0, "define");
  expect(0, "");
  // Overlapping blocks with an owner rule: the higher rank counts.
  values.assign(5, rank);
  array.base = values.data();
  array.extent[0] = is_last ? 4 : 5;
  block.owner = CAIRN_OWNER_HIGHEST_RANK;
  check(cairn_checkpoint_define(checkpoint, "line", &array, &block, nullptr), 0, "define");
  expect(0, "");
  values.assign(5, -1);
  check(cairn_checkpoint_read(checkpoint, 7, 0, nullptr), 0, "read");
  for (int i = 0; i < (is_last ? 4 : 5); ++i)
    check(values[static_cast<size_t>(i)] == rank + (i == 4 ? 1 : 0) ? 0 : 1, 0,
          "an element of two ranks");
  // Nodes say different numbers of a version.
  const std::string own = own_node();
  char first[256] = "";
  own.copy(first, sizeof first - 1);
  MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
  cairn_checkpoint_handle handle = 0;
  check(cairn_checkpoint_iwrite(checkpoint, own == first ? 8 : 9, &handle), 0, "iwrite");
  check(cairn_checkpoint_wait(checkpoint, handle, CAIRN_LEVEL_LOCAL, 0), -EINVAL, "wait");
  check(cairn_checkpoint_write(checkpoint, 10), 0, "write");
  check(cairn_checkpoint_finalize(checkpoint), 0, "finalize");
}

void async() {
  State state;
  cairn_checkpoint_options options{};
  options.flags = CAIRN_CHECKPOINT_FRESH;
  options.keep = 3;
  cairn_checkpoint* const checkpoint = open_field(options);
  state.define(checkpoint);
  for (int64_t version = 1; version <= 20; ++version) {
    state.set(version);
    cairn_checkpoint_handle handle = 0;
    check(cairn_checkpoint_iwrite(checkpoint, version, &handle), 0, "iwrite");
    state.set(-version);  // the arrays are free
    cairn_checkpoint_progress progress{};
    progress.struct_size = sizeof progress;
    for (int reached = 0; version % 3 == 0 && reached != 1;) {
      reached = cairn_checkpoint_test(checkpoint, handle, CAIRN_LEVEL_LOCAL, &progress);
      if (reached < 0) check(reached, 0, "test");
      if (reached == 0) check(static_cast<int>(progress.level), CAIRN_LEVEL_STAGED, "level");
    }
    if (version % 3 == 0) {
      check(static_cast<int>(progress.level), CAIRN_LEVEL_LOCAL, "level");
      check(progress.bytes >= planes * rows * columns * sizeof(double) ? 0 : 1, 0,
            "bytes of all ranks");
    }
  }
  check(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, nullptr), 0, "read");
  state.expect(20);
  check(cairn_checkpoint_finalize(checkpoint), 0, "finalize");
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  rank_of_all = rank;
  const std::string part = argc > 1 ? argv[1] : "";
  if (part == "rounds") rounds();
  if (part == "some") some();
  if (part == "look") look();
  if (part == "refused") refused();
  if (part == "anew") anew();
  if (part == "need") need();
  if (part == "wrong") wrong();
  if (part == "async") async();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::puts("nodes are right");
  std::fflush(stdout);
  MPI_Finalize();
  return 0;
}
