// bdcats: BD-CATS-IO's read of VPIC-IO's particles: six variables, each rank a contiguous part of
// each.
//   bdcats [options] -f FILE [-d /Step#0/x ...]
// The original's "Data read time" contains the choice of a random tenth of each column, with sort
// and gather. Both times are reported: `read`, and `read+subset`, which is the original's.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "common/arguments.h"
#include "common/finish.h"
#include "common/job.h"
#include "common/report.h"
#include "common/sides.h"
#include "parts/particle_check.h"

namespace kernels {
namespace {

struct Options {
  Common common;
  ParticleAccess access;
  std::string path;
  std::vector<int> variables;
  int repetitions = 1;
  int64_t make = 0;
  Sides sides;
};

int variable_argument(const char* option, const std::string& name, Kind kind) {
  const int variable = find_variable(name);
  if (variable < 0 || particle_variables()[static_cast<size_t>(variable)].kind != kind)
    mistake(std::string(option) + ": no such variable '" + name + "': expected " +
            (kind == Kind::real ? "/Step#0/x, y, z, px, py or pz" : "/Step#0/id1 or id2"));
  return variable;
}

const Description description = {
    .about = "BD-CATS-IO's read of such a file as vpic writes",
    .usage = "[options] -f FILE [-d /Step#0/x -d ...] [-c /Step#0/id1]",
    .accesses = {{"read"}, {"read+subset", {"transfer", "subset"}}},
    .verifies = "each value that was read, in place",
    .bytes = {.medium = "ranks * particles * 32",
              .memory = "ranks * particles * 64",
              .call = "particles * 4"},
};

Options parse(int argc, char** argv) {
  Options options;
  options.access.api = have_hdf5() ? Api::hdf5 : Api::mpiio;
  Arguments arguments(description, &options.common);
  particle_arguments(&arguments, &options.access);
  arguments
      .count("--make", "N",
             "first write the file, as vpic does, with N particles of each rank, and remove it at "
             "the end; with --read-only an earlier command has written it",
             &options.make, 1)
      .as("particles", int64_t{1} << 20)
      .grows()
      .standard = {};
  arguments.path("-f", "FILE", "the file", &options.path).needed().in_run("bdcats");
  arguments.text("-d", "NAME", "a variable of floats; default x y z px py pz",
                 [&](const std::string& name) {
                   options.variables.push_back(variable_argument("-d", name, Kind::real));
                 });
  arguments.text("-c", "NAME", "a variable of integers", [&](const std::string& name) {
    options.variables.push_back(variable_argument("-c", name, Kind::integer));
  });
  arguments.count("-i", "N", "repetitions", &options.repetitions, 1);
  side_arguments(&arguments, &options.sides);
  arguments.parse(argc, argv, [&](Mistakes* mistakes) {
    if (options.sides.write_only && options.make == 0) mistakes->add("--write-only: needs --make");
    check_particles_fit("--make", options.access, options.make, mistakes);
  });
  if (options.variables.empty())
    for (const char* name : {"x", "y", "z", "px", "py", "pz"})
      options.variables.push_back(find_variable(name));
  options.access.hints = options.common.hints;
  return options;
}

// New memory is not touched, as in BD-CATS-IO: the read meets its page faults.
using Column = std::unique_ptr<char[]>;

// A random tenth of a column, in its order. Returns its sum, so that the work cannot be left out.
double choose_tenth(const Column& column, int64_t of) {
  const auto* values = reinterpret_cast<const float*>(column.get());
  const auto count = static_cast<size_t>(of);
  std::vector<size_t> chosen(count / 10);
  for (size_t& index : chosen)
    index =
        (static_cast<size_t>(std::rand()) * RAND_MAX + static_cast<size_t>(std::rand())) % count;
  std::sort(chosen.begin(), chosen.end());
  std::vector<float> subset(chosen.size());
  double total = 0;
  for (size_t i = 0; i < chosen.size(); ++i) total += subset[i] = values[chosen[i]];
  return total;
}

class Bdcats {
 public:
  explicit Bdcats(const Options& options) : options_(options), owner_(options.sides.owner()) {
    report_.api = api_name(options.access.api);
  }

  Report& run() {
    if (options_.make > 0 && options_.sides.write()) make_file();
    if (options_.sides.read())
      for (int repetition = 0; repetition < options_.repetitions; ++repetition) read(repetition);
    report_.parameters = {{"layout", "shared"},
                          {"particles", total_},
                          {"variables", static_cast<int64_t>(options_.variables.size())},
                          options_.sides.parameter(),
                          {"collective", options_.access.collective ? 1 : 0}};
    MPI_Barrier(MPI_COMM_WORLD);
    if (options_.make > 0 && !options_.common.keep && job().rank == 0) remove_file(options_.path);
    return report_;
  }

 private:
  void make_file() {
    if (job().rank == 0) remove_file(options_.path);
    MPI_Barrier(MPI_COMM_WORLD);
    total_ = options_.make * job().ranks;
    write_particles(options_.access, options_.path, total_);
    if (options_.common.corrupt >= 0 && job().rank == 0)
      corrupt(options_.path, options_.common.corrupt);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  void read(int repetition) {
    const auto file = particle_file(options_.access);
    total_ = file->open(options_.path);
    const Part part = part_of(owner_, total_);
    std::vector<Column> columns(options_.variables.size());
    Stopwatch watch;  // begins after the open, as in the original
    for (size_t i = 0; i < columns.size(); ++i) {
      columns[i] =
          std::make_unique_for_overwrite<char[]>(static_cast<size_t>(part.count * value_bytes));
      file->read(options_.variables[i], columns[i].get(), part.first, part.count);
    }
    watch.lap("transfer");
    for (const auto& column : columns) unused_ = unused_ + choose_tenth(column, part.count);
    watch.lap("subset");
    const Times reading = watch.stop(1);
    const Times with_subset = watch.stop();
    report_.hints = file->hints();
    file->close();
    add("read", repetition, part, reading, "");
    add("read+subset", repetition, part, with_subset, "Data read time");
    if (options_.common.check) check(repetition, part, columns);
  }

  void check(int repetition, const Part& part, const std::vector<Column>& columns) {
    Check found;
    found.repetition = repetition;
    std::vector<char> expected(static_cast<size_t>(part.count * value_bytes));
    for (size_t i = 0; i < columns.size(); ++i) {
      const int variable = options_.variables[i];
      make_values(variable, part.first, part.count, total_, expected.data());
      found.compare(expected.data(), columns[i].get(), static_cast<int64_t>(expected.size()),
                    options_.path + ": " + particle_variables()[static_cast<size_t>(variable)].name,
                    part.first * value_bytes);
    }
    found.gather();
    report_.checks.push_back(found);
  }

  void add(const char* name, int repetition, const Part& part, const Times& times,
           const char* original) {
    Access access;
    access.name = name;
    access.repetition = repetition;
    access.calls = static_cast<int64_t>(options_.variables.size()) * job().ranks;
    access.bytes = static_cast<int64_t>(options_.variables.size()) * total_ * value_bytes;
    access.block_bytes = access.transfer_bytes = part.count * value_bytes;
    access.times = times;
    access.seconds = times.last;
    access.original = original;
    report_.accesses.push_back(access);
  }

  const Options& options_;
  int owner_;  // of the part that this rank reads
  Report report_;
  int64_t total_ = 0;
  volatile double unused_ = 0;
};

void print_original(const Options& options, const Report& report) {
  std::printf("num_global_points %lld num_dims %zu\n",
              static_cast<long long>(report.parameters[1].number), options.variables.size());
  for (const Access& access : report.accesses) {
    if (access.name == "read")
      std::printf("Data read time without subset %f\n", access.seconds);
    else
      std::printf("Data read time %f\n", access.seconds);
  }
  print_checks(report);
}

}  // namespace
}  // namespace kernels

int main(int argc, char** argv) {
  kernels::start_job("bdcats", &argc, &argv);
  const kernels::Options options = kernels::parse(argc, argv);
  kernels::Bdcats bdcats(options);
  const kernels::Report& report = bdcats.run();
  return kernels::finish(report, options.common.format,
                         [&] { kernels::print_original(options, report); });
}
