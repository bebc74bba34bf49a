// palm: checkpoints and a restart of PALM's 280 variables, one over another, through one of several
// ways of storing them.
//   palm [options] -o DIRECTORY
// The variables are those of docs/user/bench-kernels.md. Every checkpoint has other values, so that
// an old one in the place of the last is found.
#include <sys/stat.h>
#include <unistd.h>

#include <cairn/checkpoint.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "../palm/back_end.h"
#include "../palm/own_pool.h"
#include "common/arguments.h"
#include "common/finish.h"
#include "common/job.h"
#include "common/report.h"
#include "common/sides.h"
#include "files/file.h"

namespace kernels {
namespace {

constexpr int64_t most_levels = 4096;  // a petabyte

struct Options {
  Common common;
  Sides sides;
  std::string directory;
  std::string back_end = "mpi-io";
  int64_t levels = 16;
  int64_t checkpoints = 3;
  int64_t reads = 1;
  bool existing = false;

  [[nodiscard]] bool rewrites() const { return back_end == "mpi-io" || back_end == "stream"; }
};

// Formulas of the model's bytes (palm/model.h): those that every rank holds, and a checkpoint's,
// rounded up.
const std::string replicated = std::to_string(907 + 3801088);
const std::string checkpoint =
    "(" + replicated + " + (16 * levels) ** 2 * (75 + 59 + 1 + 60 * levels))";
const std::string volume = "(16 * levels) ** 2 * levels * 8 // ranks";

// The memory is that of the variables with their ghost layers, once more for the check, and one
// packed.
const Description description = {
    .about = "checkpoints of 280 variables, as a weather model writes them, and the restart",
    .usage = "[options] -o DIRECTORY",
    .accesses = {{"write-first"}, {"write"}, {"read"}},
    .verifies = "every element of all variables",
    .bytes = {.medium = "4 * " + checkpoint + " + 67108864 if back_end == 'cairn' else " +
                        checkpoint + " + ranks * " + replicated + " + 1048576",
              .memory = "round(3 * " + checkpoint +
                        " * (1 + 6 / (16 * levels / ranks ** 0.5)) ** 2) + 3 * ranks * " +
                        replicated,
              .call = "min(" + volume + ", 1048576) if back_end == 'stream' else " + volume},
};

Options parse(int argc, char** argv) {
  Options options;
  Arguments arguments(description, &options.common);
  arguments
      .count("-s", "N", "levels of the grid: 16 N by 16 N columns, some 15 000 N^3 bytes",
             &options.levels, 1)
      .as("levels")
      .grows()
      .root = 3;
  arguments.count("-n", "N", "checkpoints, one over the last one", &options.checkpoints, 1)
      .as("checkpoints");
  arguments.count("-r", "N", "reads of the last one", &options.reads).as("reads").formula =
      "min(reads, 1) if reads_after else reads";
  arguments
      .choice("--back-end", "NAME",
              "mpi-io (one file, collective calls), stream (a file for each rank), hdf5 (one file, "
              "parallel HDF5) or cairn (versions in the pool of cairn run, else in a pool in "
              "DIRECTORY)",
              {"mpi-io", "stream", "hdf5", "cairn"}, &options.back_end)
      .as("back_end");
  arguments.path("-o", "DIRECTORY", "where the files go; made if it is missing", &options.directory)
      .needed()
      .in_run("palm");
  arguments.existing(&options.existing,
                     "1 if back_end == 'mpi-io' else 1 if back_end == 'stream' else 0");
  side_arguments(&arguments, &options.sides);
  arguments.parse(argc, argv, [&](Mistakes* mistakes) {
    if (options.back_end == "cairn" && options.common.corrupt >= 0)
      mistakes->add(
          "--corrupt: a version of cairn has no file of its own: choose another --back-end");
    if (options.back_end == "hdf5" && !have_hdf5())
      mistakes->add("--back-end: hdf5: this build has no parallel HDF5");
    if (options.existing && !options.rewrites())
      mistakes->add("--existing: needs --back-end mpi-io or stream, which write in place");
    if (options.levels > most_levels)
      mistakes->add("-s: invalid number " + std::to_string(options.levels) + ": expected at most " +
                    std::to_string(most_levels));
  });
  return options;
}

class Palm {
 public:
  explicit Palm(const Options& options)
      : options_(options),
        owner_(options.sides.owner()),
        model_(std::make_unique<palm::Model>(options.levels, job().rank, job().ranks)) {
    make_directory();
    make_back_end(options.sides.write());
    report_.api = options.back_end;
    report_.parameters = {{"levels", options.levels},
                          {"variables", static_cast<int64_t>(model_->variables().size())},
                          {"checkpoint_bytes", model_->global_bytes()},
                          {"checkpoints", options.checkpoints},
                          {"reads", options.reads},
                          options.sides.parameter(),
                          {"fsync", options.back_end == "cairn" ? 0 : 1}};
  }

  Report& run() {
    if (options_.sides.write()) write_all();
    if (options_.sides.read()) read_all();
    const std::string file = back_end_->file(job().rank);
    back_end_.reset();
    const bool has_versions = options_.back_end == "cairn" && !pool_;
    pool_.reset();
    if (!options_.common.keep) remove(file, has_versions);
    report_.parameters.emplace_back("existing", existed_ ? 1 : 0);
    return report_;
  }

 private:
  void make_directory() const {
    const std::string& path = options_.directory;
    if (job().rank == 0 && mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
      fail(path, std::string("mkdir failed: ") + std::strerror(errno));
    MPI_Barrier(MPI_COMM_WORLD);
  }

  // is_new: without what an earlier command has left.
  void make_back_end(bool is_new) {
    const std::string& name = options_.back_end;
    if (name == "mpi-io") back_end_ = palm::mpi_io(options_.directory);
    if (name == "stream") back_end_ = palm::stream_files(options_.directory, false);
    if (name == "hdf5") back_end_ = palm::parallel_hdf5(options_.directory);
    if (name == "cairn") {
      if (std::getenv("CAIRN_POOL") == nullptr && !pool_)
        pool_.emplace(options_.directory + "/pool", 4 * model_->global_bytes(), is_new,
                      options_.common.keep);
      back_end_ = palm::versions(*model_, pool_ ? pool_->pool() : nullptr, is_new);
    }
  }

  void write_all() {
    prepare();
    Times first, others;
    for (int64_t version = 1; version <= options_.checkpoints; ++version) {
      model_->fill(version);
      Stopwatch watch;
      back_end_->create(*model_, version);
      watch.lap("transfer");
      (version == 1 ? first : others) += watch.stop();
    }
    add("write-first", "first checkpoint[s]", first, 1);
    if (options_.checkpoints > 1)
      add("write", "create checkpoint[s]", others, options_.checkpoints - 1);
    if (options_.common.corrupt >= 0 && job().rank == 0)
      corrupt(back_end_->file(0), options_.common.corrupt);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  // The first checkpoint meets no file without --existing.
  void prepare() {
    const std::string file = back_end_->file(job().rank);
    if (options_.existing)
      existed_ = all_there(file.empty() ? options_.directory : file, 1);
    else if (!file.empty())
      remove_file(file);
  }

  // The part of the rank whose data this one reads, as in a job whose ranks lie elsewhere.
  void take_part() {
    back_end_.reset();
    model_ = std::make_unique<palm::Model>(options_.levels, owner_, job().ranks);
    make_back_end(false);
  }

  void read_all() {
    if (options_.sides.readers != "same-rank") take_part();
    Times reading;
    for (int64_t i = 0; i < options_.reads; ++i) {
      model_->clear();
      Stopwatch watch;
      back_end_->restore(*model_);
      watch.lap("transfer");
      reading += watch.stop();
    }
    if (options_.reads == 0) return;
    add("read", "restore checkpoint[s]", reading, options_.reads);
    if (options_.common.check) check();
  }

  // All that this rank has read last.
  void check() {
    palm::Model expected(options_.levels, owner_, job().ranks);
    expected.fill(options_.checkpoints);
    Check found;
    std::vector<char> wanted, got;
    for (size_t i = 0; i < expected.variables().size(); ++i) {
      palm::Variable& variable = expected.variables()[i];
      wanted.resize(static_cast<size_t>(variable.box_bytes()));
      got.resize(wanted.size());
      variable.pack(wanted.data());
      model_->variables()[i].pack(got.data());
      found.compare(wanted.data(), got.data(), variable.box_bytes(), variable.name, 0);
    }
    found.gather();
    report_.checks.push_back(found);
  }

  void add(const char* name, const char* original, const Times& times, int64_t times_done) {
    Access access;
    access.name = name;
    access.calls = static_cast<int64_t>(model_->variables().size()) * job().ranks * times_done;
    access.bytes = model_->global_bytes() * times_done;
    access.block_bytes = model_->box_bytes();
    access.transfer_bytes = model_->largest_box();
    access.times = times;
    access.seconds = times.last;
    access.original = original;
    report_.accesses.push_back(access);
  }

  void remove(const std::string& file, bool has_versions) const {
    MPI_Barrier(MPI_COMM_WORLD);
    if (!file.empty()) remove_file(file);
    if (has_versions && job().rank_on_node == 0) palm::drop_versions();
    MPI_Barrier(MPI_COMM_WORLD);
    if (job().rank == 0) rmdir(options_.directory.c_str());
  }

  const Options& options_;
  int owner_;  // of the part that this rank reads
  std::unique_ptr<palm::Model> model_;
  std::optional<palm::OwnPool> pool_;
  std::unique_ptr<palm::BackEnd> back_end_;
  bool existed_ = false;  // the first checkpoint has met the files of an earlier command
  Report report_;
};

void print_original(const Options& options, const Report& report) {
  std::printf("palm: 280 variables, %lld bytes, %d ranks, through %s\n",
              static_cast<long long>(report.parameters[2].number), job().ranks,
              options.back_end.c_str());
  for (const Access& access : report.accesses)
    std::printf("%-12s %9.1f MiB/s  %.6f s  %s\n", access.name.c_str(), access.rate(),
                access.seconds, access.original.c_str());
  print_checks(report);
}

int run(const Options& options) {
  Palm palm(options);
  const Report& report = palm.run();
  return finish(report, options.common.format, [&] { print_original(options, report); });
}

}  // namespace
}  // namespace kernels

int main(int argc, char** argv) {
  kernels::start_job("palm", &argc, &argv);
  const kernels::Options options = kernels::parse(argc, argv);
  try {
    return kernels::run(options);
  } catch (const cairn::Error& error) {
    kernels::fail("palm", error.what());
  }
}
