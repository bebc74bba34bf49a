// ior: IOR's pattern with IOR's options, through POSIX calls, MPI-IO or HDF5, every byte verified.
//   shared file: offset = segment * ranks * block + rank * block + k * transfer
//   -F:          offset = segment * block + k * transfer, in FILE.RANK
// The check reads the data once more, by other ranks and outside of all times. One buffer serves
// all transfers, as in IOR.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>

#include "common/finish.h"
#include "common/ior_table.h"
#include "common/job.h"
#include "common/report.h"
#include "files/rank_region.h"
#include "parts/ior_options.h"

namespace kernels {
namespace {

class Ior {
 public:
  explicit Ior(const IorOptions& options)
      : options_(options),
        transfers_(options.segments * (options.block / options.transfer)),
        pattern_(options.transfer, options.seed),
        buffer_(static_cast<size_t>(options.transfer)),
        owner_(owner_of(options)),
        existed_(options.existing && options.sides.write()) {
    order_.resize(static_cast<size_t>(transfers_));
    std::iota(order_.begin(), order_.end(), int64_t{0});
    if (options.random_order) {
      std::mt19937_64 random(static_cast<uint64_t>(options.seed) + 1);
      std::shuffle(order_.begin(), order_.end(), random);
    }
    report_.api = api_name(options.api);
    report_.parameters = {{"layout", options.file_per_rank ? "file-per-process" : "shared"},
                          {"block_bytes", options.block},
                          {"transfer_bytes", options.transfer},
                          {"segments", options.segments},
                          {"collective", options.collective ? 1 : 0},
                          {"fsync", options.fsync ? 1 : 0},
                          {"fsync_each", options.fsync_each ? 1 : 0},
                          {"barriers", options.barriers ? 1 : 0},
                          {"random_order", options.random_order ? 1 : 0},
                          {"lseek", options.api == Api::posix && options.lseek ? 1 : 0},
                          {"read_shift", options.shift},
                          options.sides.parameter(),
                          {"stonewall_s", options.stonewall_s},
                          {"stonewall_wear_out", options.wear_out ? 1 : 0},
                          {"seed", options.seed}};
  }

  Report& run() {
    for (int repetition = 0; repetition < options_.repetitions; ++repetition) {
      if (options_.sides.write()) write(repetition);
      if (options_.sides.read()) read(repetition);
      if (options_.common.check) check(repetition);
      // Every repetition meets the files of the one before.
      const bool is_last = repetition == options_.repetitions - 1;
      if (!options_.common.keep && (is_last || !options_.existing)) remove();
    }
    report_.parameters.emplace_back("existing", existed_ ? 1 : 0);
    return report_;
  }

 private:
  [[nodiscard]] std::string path_of(int owner) const {
    return options_.file_per_rank ? path_of_rank(options_.path, owner) : options_.path;
  }

  [[nodiscard]] int64_t offset_of(int owner, int64_t transfer) const {
    const int64_t in_block = options_.block / options_.transfer;
    const int64_t segment = transfer / in_block;
    const int64_t within = transfer % in_block * options_.transfer;
    if (options_.file_per_rank) return segment * options_.block + within;
    return (segment * job().ranks + owner) * options_.block + within;
  }

  // Returns the rank whose data this rank reads.
  static int owner_of(const IorOptions& options) {
    if (options.shift == 0) return options.sides.owner();
    return static_cast<int>((job().rank + options.shift) % job().ranks);
  }

  [[nodiscard]] int64_t file_bytes() const {
    return (options_.file_per_rank ? 1 : job().ranks) * options_.segments * options_.block;
  }

  [[nodiscard]] std::unique_ptr<File> make_file() const {
    if (options_.api == Api::posix && options_.lseek) return posix_file(PosixCalls::lseek);
    auto file =
        any_file(options_.api, !options_.file_per_rank, options_.collective, options_.common.hints);
    file->expect(file_bytes());
    return file;
  }

  void barrier() const {
    if (options_.barriers) MPI_Barrier(MPI_COMM_WORLD);
  }

  void remove() const {
    MPI_Barrier(MPI_COMM_WORLD);
    if (options_.file_per_rank || job().rank == 0) remove_file(path_of(job().rank));
    MPI_Barrier(MPI_COMM_WORLD);
  }

  template <typename Call>
  void timed(const Call& call) {
    if (options_.latency)
      latency_.time(call);
    else
      call();
  }

  // Transfers of this rank until `done`, or until the stonewall. Returns how many.
  int64_t write_some(File& file, int64_t from, int64_t until, bool stonewall) {
    const double begin = MPI_Wtime();
    const auto limit = static_cast<double>(options_.stonewall_s);
    for (int64_t i = from; i < until; ++i) {
      if (stonewall && i > from && MPI_Wtime() - begin > limit) return i;
      const int64_t offset = offset_of(job().rank, order_[static_cast<size_t>(i)]);
      pattern_.move_to(offset);
      timed([&] {
        file.write(pattern_.data(), options_.transfer, offset);
        if (options_.fsync_each) file.sync();
      });
    }
    return until;
  }

  void write(int repetition) {
    if (!options_.existing) remove();
    existed_ = existed_ && all_there(path_of(job().rank), file_bytes());
    pattern_.become_writer(job().rank);
    const auto file = make_file();
    Stopwatch watch;
    file->open(path_of(job().rank), existed_ ? Open::rewrite : Open::create);
    barrier();
    watch.lap("open");
    written_ = write_some(*file, 0, transfers_, options_.stonewall_s > 0);
    if (options_.wear_out) {
      int64_t most = written_;
      MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
      written_ = write_some(*file, written_, most, false);
    }
    watch.lap("transfer");
    if (options_.fsync) file->sync();
    watch.lap("sync");
    barrier();
    report_.hints = file->hints();
    file->close();
    watch.lap("close");
    add("write", repetition, watch.stop());
    if (options_.common.corrupt >= 0 && job().rank == 0)
      corrupt(path_of(0), options_.common.corrupt);
    gather_counts();
  }

  // Gathers how much each rank wrote: a stonewall stops them at different counts.
  void gather_counts() {
    counts_.resize(static_cast<size_t>(job().ranks));
    MPI_Allgather(&written_, 1, MPI_INT64_T, counts_.data(), 1, MPI_INT64_T, MPI_COMM_WORLD);
  }

  [[nodiscard]] int64_t count_of(int owner) const {
    return counts_.empty() ? transfers_ : counts_[static_cast<size_t>(owner)];
  }

  void read(int repetition) {
    const int64_t count = count_of(owner_);
    const auto file = make_file();
    Stopwatch watch;
    file->open(path_of(owner_), Open::read);
    barrier();
    watch.lap("open");
    for (int64_t i = 0; i < count; ++i) {
      const int64_t offset = offset_of(owner_, order_[static_cast<size_t>(i)]);
      timed([&] { file->read(buffer_.data(), options_.transfer, offset); });
    }
    watch.lap("transfer");
    barrier();
    report_.hints = file->hints();
    file->close();
    watch.lap("close");
    written_ = count;
    add("read", repetition, watch.stop());
  }

  void check(int repetition) {
    const int owner = (owner_ + 1) % job().ranks;
    const std::string path = path_of(owner);
    const auto file = make_file();
    Check found;
    found.repetition = repetition;
    pattern_.become_writer(owner);
    MPI_Barrier(MPI_COMM_WORLD);
    file->open(path, Open::read);
    for (int64_t i = 0; i < count_of(owner); ++i) {
      const int64_t offset = offset_of(owner, order_[static_cast<size_t>(i)]);
      std::fill(buffer_.begin(), buffer_.end(), '\0');
      file->read(buffer_.data(), options_.transfer, offset);
      pattern_.move_to(offset);
      found.compare(pattern_.data(), buffer_.data(), options_.transfer, path, offset);
    }
    file->close();
    found.gather();
    report_.checks.push_back(found);
  }

  void add(const char* name, int repetition, const Times& times) {
    Access access;
    access.name = name;
    access.repetition = repetition;
    access.calls = sum(written_);
    access.bytes = access.calls * options_.transfer;
    access.block_bytes = options_.block;
    access.transfer_bytes = options_.transfer;
    access.times = times;
    access.seconds = times.last;
    access.original = "total(s)";
    if (options_.latency) access.latency = latency_.gather();
    latency_ = {};
    report_.accesses.push_back(access);
  }

  const IorOptions& options_;
  int64_t transfers_;
  Pattern pattern_;
  PageVector<char> buffer_;
  int owner_;
  bool existed_;  // each write has met the files of an earlier one
  std::vector<int64_t> order_;
  std::vector<int64_t> counts_;
  int64_t written_ = 0;
  Latency latency_;
  Report report_;
};

std::string size_text(int64_t size) {
  const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  auto value = static_cast<double>(size);
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  char text[64];
  std::snprintf(text, sizeof text, value == static_cast<int64_t>(value) ? "%.0f %s" : "%.2f %s",
                value, units[unit]);
  return text;
}

// The results go to the summary file, if there is one.
void redirect(const IorOptions& options) {
  if (job().rank != 0 || options.summary_file.empty()) return;
  std::printf("Writing output to %s\n", options.summary_file.c_str());
  if (std::freopen(options.summary_file.c_str(), "w", stdout) == nullptr)
    fail(options.summary_file, std::string("open failed: ") + std::strerror(errno));
}

void print_original(const IorOptions& options, const Report& report) {
  const int64_t total = options.segments * options.block * job().ranks;
  std::printf("Cairn's ior kernel %s: IOR's pattern, options and figures\n", CAIRN_VERSION);
  std::printf("Command line        : %s\n\nOptions: \n", job().command.c_str());
  std::printf("api                 : %s\n", report.api.c_str());
  std::printf("test filename       : %s\n", options.path.c_str());
  std::printf("access              : %s\n",
              options.file_per_rank ? "file-per-process" : "single-shared-file");
  std::printf("type                : %s\n", options.collective ? "collective" : "independent");
  std::printf("segments            : %lld\n", static_cast<long long>(options.segments));
  std::printf("ordering in a file  : %s\n", options.random_order ? "random" : "sequential");
  std::printf("task offset         : %lld\n", static_cast<long long>(options.shift));
  std::printf("nodes               : %d\n", job().nodes);
  std::printf("tasks               : %d\n", job().ranks);
  std::printf("clients per node    : %d\n", job().ranks_per_node);
  std::printf("repetitions         : %d\n", options.repetitions);
  std::printf("xfersize            : %s\n", size_text(options.transfer).c_str());
  std::printf("blocksize           : %s\n", size_text(options.block).c_str());
  std::printf("aggregate filesize  : %s\n\nResults: \n", size_text(total).c_str());
  print_ior_table(report);
}

}  // namespace
}  // namespace kernels

int main(int argc, char** argv) {
  kernels::start_job("ior", &argc, &argv);
  const kernels::IorOptions options = kernels::parse_ior_options(argc, argv);
  kernels::Ior ior(options);
  const kernels::Report& report = ior.run();
  kernels::redirect(options);
  return kernels::finish(report, options.common.format,
                         [&] { kernels::print_original(options, report); });
}
