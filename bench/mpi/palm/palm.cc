// bench_palm starts this program. Its ranks write and read PALM's restart data through each back
// end, in an order that is drawn for each round, and compare what they have read.
//   palm DIRECTORY SCALE ROUNDS SEED [BACK-END]
// BACK-END: one of the names below; all, if none is given. Rank 0 prints a line for each:
// NAME, first, create or restore, nanoseconds of the slowest rank; then the bytes of a version.
#include <mpi.h>

#include <algorithm>
#include <cairn/checkpoint.hpp>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "back_end.h"

namespace palm {

namespace {

struct Contender {
  std::string name;
  std::unique_ptr<BackEnd> back_end;
};

template <typename Work>
void measure(const Model& model, const std::string& name, const char* what, Work work) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  work();
  double wall = (MPI_Wtime() - begin) * 1e9;
  MPI_Allreduce(MPI_IN_PLACE, &wall, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (model.rank == 0) std::printf("%s\t%s\t%.0f\n", name.c_str(), what, wall);
}

std::vector<Contender> contenders(Model& model, const std::string& directory,
                                  const std::string& wanted) {
  std::vector<Contender> all;
  const auto add = [&](const std::string& name, auto make) {
    if (!wanted.empty() && wanted != name) return;
    if (auto back_end = make()) all.push_back({name, std::move(back_end)});
  };
  add("Cairn", [&] { return versions(model, nullptr, false); });
  add("MPI-IO", [&] { return mpi_io(directory); });
  add("HDF5", [&] { return parallel_hdf5(directory); });
  add("ADIOS2", [&] { return adios2(directory); });
  add("stream files", [&] { return stream_files(directory, false); });
  add("stream files with CRC", [&] { return stream_files(directory, true); });
  add("copying", [&] { return copying(directory, 0); });
  for (const int64_t kib : {64, 256, 1024})
    add("copying with CRC, " + std::to_string(kib) + " KiB",
        [&] { return copying(directory, kib << 10); });
  if (all.empty()) stop("unknown back end '" + wanted + "'");
  return all;
}

void run(Model& model, const std::string& directory, int rounds, unsigned seed,
         const std::string& wanted) {
  std::vector<Contender> all = contenders(model, directory, wanted);
  model.fill(1);
  for (Contender& one : all)
    measure(model, one.name, "first", [&] { one.back_end->create(model, 1); });
  // Two more, so that both slots of each have been written.
  for (int64_t version = 2; version <= 3; ++version) {
    model.fill(version);
    for (Contender& one : all) one.back_end->create(model, version);
  }
  for (Contender& one : all) {
    model.clear();
    one.back_end->restore(model);
    if (!model.holds(3)) stop(one.name + ": read something else than it had written");
  }
  std::minstd_rand random(seed);  // all ranks draw the same order
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(all.begin(), all.end(), random);
    for (Contender& one : all)
      measure(model, one.name, "create", [&] { one.back_end->create(model, 4 + round); });
    for (Contender& one : all)
      measure(model, one.name, "restore", [&] { one.back_end->restore(model); });
  }
  if (!model.holds(3)) stop("the last restore has read something else");
  if (model.rank == 0) std::printf("bytes\t%lld\n", static_cast<long long>(model.global_bytes()));
}

}  // namespace
}  // namespace palm

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 5 && argc != 6) palm::stop("usage: palm DIRECTORY SCALE ROUNDS SEED [BACK-END]");
  try {
    palm::Model model(std::atoll(argv[2]), rank, ranks);
    palm::run(model, argv[1], std::atoi(argv[3]), static_cast<unsigned>(std::atoi(argv[4])),
              argc == 6 ? argv[5] : "");
  } catch (const cairn::Error& error) {
    palm::stop(error.what());
  }
  MPI_Finalize();
  return 0;
}
