// The Sedov blast wave: energy is released in one corner of a cube of cold gas, and a shock runs
// through it. The mesh of hexahedra moves with the gas. The ranks hold a box of elements each.
//
// The program writes a checkpoint from time to time, and goes on from the last one when it is
// started again, on any number of ranks, with the same bits as if it had never been killed.
// docs/user/sedov.md says what is computed and how.
//
//   mpirun -n 4 ./sedov --size 30 --every 10
#include <mpi.h>

#include <cinttypes>
#include <cstdio>
#include <memory>

#include "checkpoint.h"
#include "options.h"
#include "outcome.h"
#include "state.h"
#include "step.h"

namespace sedov {
namespace {

struct Seconds {
  double compute = 0;
  double checkpoint = 0;
};

void print(const State& state, const Outcome& outcome, const Seconds& seconds, int64_t cycles) {
  const double ms = 1e3 / static_cast<double>(cycles > 0 ? cycles : 1);
  std::printf("cycles: %" PRId64 ", time: %.9g\n", state.clock.cycle, state.clock.time);
  std::printf("energy at the origin: %.17g\n", outcome.origin_energy);
  std::printf("total energy: %.17g, relative error: %.2e\n", outcome.total_energy,
              outcome.energy_error);
  std::printf("asymmetry: %.2e\n", outcome.asymmetry);
  std::printf("front: %.4f, similarity solution: %.4f\n", outcome.front, outcome.expected_front);
  std::printf("state: %016" PRIx64 "\n", outcome.fingerprint);
  std::printf("a cycle of this run on rank 0: compute %.3f ms, checkpoint %.3f ms\n",
              seconds.compute * ms, seconds.checkpoint * ms);
}

void run(const Options& options, const Decomposition& decomposition, int rank) {
  State state(decomposition, rank);
  std::unique_ptr<Checkpoint> checkpoint;
  if (options.every > 0) {
    checkpoint = std::make_unique<Checkpoint>(options.name, state, MPI_COMM_WORLD);
    if (checkpoint->read() && rank == 0) {
      std::printf("goes on after cycle %" PRId64 "\n", state.clock.cycle);
      std::fflush(stdout);
    }
  }
  Hydro hydro(state, MPI_COMM_WORLD);
  Seconds seconds;
  const int64_t begun = state.clock.cycle;
  while (state.clock.time < options.end && state.clock.cycle < options.cycles) {
    const double before = MPI_Wtime();
    hydro.advance(options.end);
    const double after = MPI_Wtime();
    seconds.compute += after - before;
    const int64_t cycle = state.clock.cycle;
    if (checkpoint && cycle % options.every == 0) checkpoint->write();
    seconds.checkpoint += MPI_Wtime() - after;
    if (rank == 0 && options.report > 0 && cycle % options.report == 0) {
      std::printf("cycle %" PRId64 ": time %.6g, step %.3g\n", cycle, state.clock.time,
                  state.clock.step);
      std::fflush(stdout);
    }
  }
  const Outcome outcome = outcome_of(state, MPI_COMM_WORLD);
  if (rank == 0) print(state, outcome, seconds, state.clock.cycle - begun);
}

// An empty text, or what the command line has wrong.
std::string prepare(int argc, char** argv, int ranks, Options* options,
                    Decomposition* decomposition) {
  const std::string wrong = read_options(argc, argv, options);
  if (!wrong.empty()) return wrong;
  *decomposition = decompose(options->size, ranks);
  if (decomposition->ranks[0] == 0)
    return "--size: " + std::to_string(options->size) + " elements cannot be divided among " +
           std::to_string(ranks) + " ranks; choose a larger size or fewer ranks";
  return "";
}

}  // namespace
}  // namespace sedov

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  sedov::Options options;
  sedov::Decomposition decomposition;
  const std::string wrong = sedov::prepare(argc, argv, ranks, &options, &decomposition);
  if (wrong.empty()) {
    sedov::run(options, decomposition, rank);
  } else if (rank == 0) {
    if (wrong == "help")
      std::fputs(sedov::usage, stdout);
    else
      std::fprintf(stderr, "sedov: %s\n", wrong.c_str());
  }
  MPI_Finalize();
  return wrong.empty() || wrong == "help" ? 0 : 2;
}
