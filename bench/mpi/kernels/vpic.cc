// vpic: VPIC-IO's checkpoint: all ranks write eight variables of one shared file, through
// parallel HDF5 or MPI-IO.
//   vpic [options] FILE [MEBIPARTICLES]
#include <algorithm>
#include <cstdio>

#include "common/arguments.h"
#include "common/finish.h"
#include "common/job.h"
#include "common/report.h"
#include "parts/particle_check.h"

namespace kernels {
namespace {

struct Options {
  Common common;
  ParticleAccess access;
  bool flush = false;
  bool existing = false;
  int repetitions = 1;
  int64_t particles = 0;
  std::string path;
};

const Description description = {
    .about = "VPIC-IO's checkpoint of particles, through HDF5 or MPI-IO",
    .usage = "[options] FILE [M]",
    .accesses = {{"write", {"open", "transfer", "sync", "close"}}},
    .verifies = "each value of the next rank's part",
    .bytes = {.medium = "ranks * particles * 32",
              .memory = "ranks * particles * 64",
              .call = "particles * 4"},
};

Options parse(int argc, char** argv) {
  Options options;
  int64_t mebi = 32;
  constexpr int64_t most_mebi = INT64_MAX >> 20;
  options.access.api = have_hdf5() ? Api::hdf5 : Api::mpiio;
  Arguments arguments(description, &options.common);
  particle_arguments(&arguments, &options.access);
  arguments.flag("-e", "flush before close, which the original does not do", &options.flush)
      .as("fsync");
  arguments
      .count("--particles", "N", "particles of each rank, 32 bytes each, instead of M",
             &options.particles, 1)
      .as("particles", int64_t{1} << 20)
      .grows()
      .standard = {};
  arguments.count("-i", "N", "repetitions", &options.repetitions, 1);
  arguments.existing(&options.existing);
  arguments.path_operand("FILE", "the file", &options.path).needed().in_run("vpic");
  arguments.count_operand("M", "M * 1048576 particles of each rank", &mebi, 1);
  arguments.parse(argc, argv, [&](Mistakes* mistakes) {
    const char* const given = options.particles == 0 ? "M" : "--particles";
    if (options.particles == 0) options.particles = std::min(mebi, most_mebi) << 20;
    check_particles_fit(given, options.access, options.particles, mistakes);
  });
  options.access.hints = options.common.hints;
  return options;
}

// Clears *existed where no earlier command has left the file.
Access write_once(const Options& options, int repetition, Hints* hints, bool* existed) {
  const int64_t total = options.particles * job().ranks;
  const Part part = part_of(job().rank, total);
  const auto values = make_particles(part, total);
  const auto file = particle_file(options.access);
  if (job().rank == 0 && !options.existing) remove_file(options.path);
  *existed = *existed && all_there(options.path, total * particle_bytes);
  Stopwatch watch;
  if (*existed)
    file->rewrite(options.path, total);
  else
    file->create(options.path, total);
  MPI_Barrier(MPI_COMM_WORLD);
  watch.lap("open");
  file->begin_step();
  for (size_t i = 0; i < values.size(); ++i)
    file->write(static_cast<int>(i), values[i].data(), part.first, part.count);
  MPI_Barrier(MPI_COMM_WORLD);
  watch.lap("transfer");
  if (options.flush) file->sync();
  watch.lap("sync");
  *hints = file->hints();
  file->close();
  MPI_Barrier(MPI_COMM_WORLD);
  watch.lap("close");

  Access access;
  access.name = "write";
  access.repetition = repetition;
  access.bytes = total * particle_bytes;
  access.calls = static_cast<int64_t>(values.size()) * job().ranks;
  access.block_bytes = access.transfer_bytes = options.particles * value_bytes;
  access.times = watch.stop();
  access.seconds = access.times.last;
  access.original = "seconds elapsed in opening, writing, closing file";
  return access;
}

Report run(const Options& options) {
  Report report;
  report.api = api_name(options.access.api);
  report.parameters = {{"layout", "shared"},
                       {"particles_per_rank", options.particles},
                       {"collective", options.access.collective ? 1 : 0},
                       {"fsync", options.flush ? 1 : 0}};
  bool existed = options.existing;
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    report.accesses.push_back(write_once(options, repetition, &report.hints, &existed));
    if (options.common.corrupt >= 0 && job().rank == 0)
      corrupt(options.path, options.common.corrupt);
    MPI_Barrier(MPI_COMM_WORLD);
    if (options.common.check)
      report.checks.push_back(check_particles(options.access, options.path, repetition));
    MPI_Barrier(MPI_COMM_WORLD);
    // Every repetition meets the file of the one before.
    const bool is_last = repetition == options.repetitions - 1;
    if (!options.common.keep && (is_last || !options.existing) && job().rank == 0)
      remove_file(options.path);
  }
  report.parameters.emplace_back("existing", existed ? 1 : 0);
  return report;
}

void print_original(const Options& options, const Report& report) {
  std::printf("Number of particles: %lld \n", static_cast<long long>(options.particles));
  for (const Access& access : report.accesses)
    std::printf(
        "\nTiming results\n"
        "%f seconds elapsed in just writing data\n"
        "%f seconds elapsed in opening, writing, closing file\n"
        "%.2f MiB/s, %lld bytes\n",
        access.times.most("transfer"), access.seconds, access.rate(),
        static_cast<long long>(access.bytes));
  print_checks(report);
}

}  // namespace
}  // namespace kernels

int main(int argc, char** argv) {
  kernels::start_job("vpic", &argc, &argv);
  const kernels::Options options = kernels::parse(argc, argv);
  const kernels::Report report = kernels::run(options);
  return kernels::finish(report, options.common.format,
                         [&] { kernels::print_original(options, report); });
}
