// llmckpt: checkpoints of a language model's training, after MLPerf Storage: one file a rank, with
// an equal share of the model and the optimizer; each is synced.
//   llmckpt [options] -o FILE
// A checkpoint is a file of its own. The one before is removed when the next is complete, outside
// of all times, so that two are there at most.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "common/arguments.h"
#include "common/finish.h"
#include "common/job.h"
#include "common/report.h"
#include "common/sides.h"
#include "files/rank_region.h"
#include "parts/llm_state.h"

namespace kernels {
namespace {

struct Options {
  Common common;
  std::string path;
  std::string model = "8b";
  double scale = 0.001;
  RankRegion region{true, 0, 16 << 20};
  int64_t writes = 10;
  int64_t reads = 10;
  bool fsync = true;
  Sides sides;
};

// A rank's share, in whole transfers.
void set_share(Options* options, Mistakes* mistakes) {
  constexpr int64_t word = 8;
  constexpr double most_share = 1e18;
  const auto all = static_cast<double>(llm_model(options->model).parameters() *
                                       (llm_model_bytes + llm_optimizer_bytes));
  const double share = all * options->scale / job().ranks;
  if (share < word || share > most_share) {
    mistakes->add("--scale: too " + std::string(share < word ? "small" : "large") +
                  ": a rank's share would be " + std::to_string(share) + " bytes");
    return;
  }
  auto bytes = static_cast<int64_t>(share);
  options->region.transfer = std::min(options->region.transfer, bytes / word * word);
  if (options->region.transfer > 0) bytes -= bytes % options->region.transfer;
  options->region.bytes = bytes;
  options->region.check_sizes(mistakes);
}

// A formula of the bytes of a checkpoint.
std::string checkpoint_bytes() {
  const auto bytes = [](const char* model) {
    return std::to_string(llm_model(model).parameters());
  };
  return "round((" + bytes("8b") + " if model == '8b' else " + bytes("70b") + ") * " +
         std::to_string(llm_model_bytes + llm_optimizer_bytes) + " * model_scale)";
}

// The checkpoint before stays until the next is complete.
Description description() {
  return {
      .about = "a language model's checkpoints, one file a rank",
      .usage = "[options] -o FILE",
      .accesses = {{"write", {"open", "transfer", "sync", "close"}},
                   {"read", {"open", "transfer", "close"}}},
      .verifies = "every byte of the next rank's file of the last checkpoint",
      .bytes = {.medium = "2 * " + checkpoint_bytes(),
                .memory = "ranks * 3 * transfer",
                .call = "min(transfer, " + checkpoint_bytes() + " // ranks)"},
  };
}

Options parse(int argc, char** argv) {
  Options options;
  Arguments arguments(description(), &options.common);
  Option& no_sync = arguments.flag("--no-sync", "no fsync", &options.fsync, false);
  no_sync.as_not("fsync").key_standard = true;
  arguments
      .choice("--model", "MODEL", "8b (104.7 GiB of model and optimizer) or 70b", {"8b", "70b"},
              &options.model)
      .as("model");
  arguments.factor("--scale", "times that size", &options.scale).as("model_scale").grows();
  arguments
      .size("-t", "bytes of one call, a multiple of 8; less if a rank's share is less",
            &options.region.transfer)
      .as("transfer");
  arguments.count("-n", "N", "checkpoints", &options.writes, 1).as("checkpoints");
  // After `reads: after`, one read is enough: only the first meets no cache.
  arguments.count("-r", "N", "reads of the last one", &options.reads).as("reads").formula =
      "min(reads, 1) if reads_after else reads";
  arguments.path("-o", "FILE", "the checkpoints: FILE-STEP.RANK", &options.path)
      .needed()
      .in_run("llm");
  side_arguments(&arguments, &options.sides);
  arguments.parse(argc, argv, [&](Mistakes* mistakes) { set_share(&options, mistakes); });
  return options;
}

class LlmCheckpoints {
 public:
  explicit LlmCheckpoints(const Options& options)
      : options_(options),
        region_(options.region),
        pattern_(region_.transfer, 0),
        buffer_(static_cast<size_t>(region_.transfer)),
        owner_(options.sides.owner()) {
    report_.api = "POSIX";
    report_.parameters = {{"layout", "file-per-process"},
                          {"model", options.model},
                          {"parameters", llm_model(options.model).parameters()},
                          {"block_bytes", region_.bytes},
                          {"transfer_bytes", region_.transfer},
                          {"writes", options.writes},
                          {"reads", options.reads},
                          options.sides.parameter(),
                          {"fsync", options.fsync ? 1 : 0}};
  }

  Report& run() {
    if (options_.sides.write()) write_all();
    Times reading;
    const int64_t reads = options_.sides.read() ? options_.reads : 0;
    for (int64_t i = 0; i < reads; ++i) reading += read();
    if (reads > 0) add("read", reading, reads);
    if (options_.common.check) check();
    MPI_Barrier(MPI_COMM_WORLD);
    if (!options_.common.keep) remove_file(path(last(), job().rank));
    return report_;
  }

 private:
  [[nodiscard]] int64_t last() const { return options_.writes - 1; }

  [[nodiscard]] std::string path(int64_t step, int owner) const {
    return region_.path(options_.path + "-" + std::to_string(step), owner);
  }

  void write_all() {
    Times writing;
    for (int64_t step = 0; step < options_.writes; ++step) {
      writing += write(step);
      MPI_Barrier(MPI_COMM_WORLD);
      if (step > 0) remove_file(path(step - 1, job().rank));
    }
    add("write", writing, options_.writes);
    if (options_.common.corrupt >= 0 && job().rank == 0)
      corrupt(path(last(), 0), options_.common.corrupt);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  Times write(int64_t step) {
    const std::string name = path(step, job().rank);
    remove_file(name);
    pattern_.use_seed(step);
    pattern_.become_writer(job().rank);
    const auto file = posix_file();
    Stopwatch watch;
    file->open(name, Open::create);
    watch.lap("open");
    region_.write(*file, job().rank, &pattern_);
    watch.lap("transfer");
    if (options_.fsync) file->sync();
    watch.lap("sync");
    file->close();
    watch.lap("close");
    return watch.stop();
  }

  Times read() {
    const auto file = posix_file();
    Stopwatch watch;
    file->open(path(last(), owner_), Open::read);
    watch.lap("open");
    region_.read(*file, owner_, &buffer_);
    watch.lap("transfer");
    file->close();
    watch.lap("close");
    return watch.stop();
  }

  void check() {
    const int owner = (owner_ + 1) % job().ranks;
    const std::string name = path(last(), owner);
    Check found;
    pattern_.use_seed(last());
    pattern_.become_writer(owner);
    const auto file = posix_file();
    file->open(name, Open::read);
    region_.check(*file, name, owner, &pattern_, &found);
    file->close();
    found.gather();
    report_.checks.push_back(found);
  }

  void add(const char* name, const Times& times, int64_t times_done) {
    Access access;
    access.name = name;
    access.calls = region_.transfers() * job().ranks * times_done;
    access.bytes = access.calls * region_.transfer;
    access.block_bytes = region_.bytes;
    access.transfer_bytes = region_.transfer;
    access.times = times;
    access.seconds = times.last;
    report_.accesses.push_back(access);
  }

  const Options& options_;
  const RankRegion& region_;
  Pattern pattern_;
  std::vector<char> buffer_;
  int owner_;  // of what this rank reads
  Report report_;
};

void print_original(const Options& options, const Report& report) {
  constexpr double gib = 1 << 30;
  const double size = static_cast<double>(options.region.bytes) * job().ranks / gib;
  std::printf("llmckpt: model %s, %.3f GiB in a checkpoint, %d ranks\n", options.model.c_str(),
              size, job().ranks);
  for (const Access& access : report.accesses)
    std::printf("%-6s %9.3f GiB/s  %.6f s, %lld bytes\n", access.name.c_str(), access.rate() / 1024,
                access.seconds, static_cast<long long>(access.bytes));
  print_checks(report);
}

}  // namespace
}  // namespace kernels

int main(int argc, char** argv) {
  kernels::start_job("llmckpt", &argc, &argv);
  const kernels::Options options = kernels::parse(argc, argv);
  kernels::LlmCheckpoints checkpoints(options);
  const kernels::Report& report = checkpoints.run();
  return kernels::finish(report, options.common.format,
                         [&] { kernels::print_original(options, report); });
}
