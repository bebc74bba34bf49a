// hacc: HACC-IO's checkpoint and restart: the same files, the same calls, the same times, bytes
// counted once.
//   hacc [options] PARTICLES PATH
// Each rank writes nine variables one after another into its own region; rank 0 of a file writes
// the header of 24 MiB last. Like the original, it calls no fsync: the rate is that of
// the page cache.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>

#include "arguments.h"
#include "file.h"
#include "hacc_layout.h"
#include "job.h"
#include "report.h"

namespace kernels {
namespace {

const char* const help =
    "hacc: HACC-IO's checkpoint and restart.\n"
    "Usage: hacc [options] PARTICLES PATH    PARTICLES of each rank, 38 bytes each\n"
    "\n"
    "  -F              one file per process (the default is one file)\n"
    "  -a API          POSIX or MPIIO (independent calls); default POSIX\n"
    "  -e              fsync before close, which the original does not do\n"
    "  -i N            repetitions (1)\n"
    "  -w, -r          write only, read only; default both\n";

struct Options {
  Common common;
  Api api = Api::posix;
  bool file_per_rank = false;
  bool fsync = false;
  bool write = false;
  bool read = false;
  int repetitions = 1;
  int64_t particles = 0;
  std::string path;
};

Options parse(int argc, char** argv) {
  Options options;
  Arguments arguments(help, &options.common);
  arguments.flag("-F", &options.file_per_rank);
  arguments.api("-a", {Api::posix, Api::mpiio}, &options.api);
  arguments.flag("-e", &options.fsync);
  arguments.count("-i", &options.repetitions, 1);
  arguments.flag("-w", &options.write);
  arguments.flag("-r", &options.read);
  const std::vector<std::string> rest = arguments.parse(argc, argv);
  if (rest.size() != 2) usage_error("expected PARTICLES and PATH; --help shows the usage");
  options.particles = count_argument("PARTICLES", rest[0], 1);
  options.path = path_argument(rest[1]);
  if (!options.write && !options.read) options.write = options.read = true;
  return options;
}

class Hacc {
 public:
  explicit Hacc(const Options& options) : options_(options), data_(options.particles) {
    data_.become(job().rank);
    partition_.global_particles = options.particles * job().ranks;
    if (options.file_per_rank) {
      partition_.id = job().rank;
      partition_.partitions = job().ranks;
      partition_.counts = {options.particles};
      partition_.ranks = {job().rank};
    } else {
      index_ = static_cast<size_t>(job().rank);
      partition_.counts.assign(static_cast<size_t>(job().ranks), options.particles);
      partition_.ranks.resize(static_cast<size_t>(job().ranks));
      std::iota(partition_.ranks.begin(), partition_.ranks.end(), int64_t{0});
    }
    report_.api = api_name(options.api);
    report_.parameters = {{"layout", options.file_per_rank ? "file-per-process" : "shared"},
                          {"particles_per_rank", options.particles},
                          {"header_bytes", hacc_header_bytes},
                          {"fsync", options.fsync ? 1 : 0}};
  }

  Report& run() {
    for (int repetition = 0; repetition < options_.repetitions; ++repetition) {
      if (options_.write) write(repetition);
      if (options_.read) read(repetition);
      if (options_.write && !options_.read && options_.common.check) read(repetition, false);
      if (!options_.common.keep) remove();
    }
    return report_;
  }

 private:
  [[nodiscard]] bool leads() const { return options_.file_per_rank || job().rank == 0; }
  [[nodiscard]] std::string path() const { return partition_.path(options_.path); }

  [[nodiscard]] std::unique_ptr<File> make_file() const {
    if (options_.api == Api::posix) return posix_file();
    return mpi_file(!options_.file_per_rank, false, options_.common.hints);
  }

  void remove() const {
    MPI_Barrier(MPI_COMM_WORLD);
    if (leads()) remove_file(path());
    MPI_Barrier(MPI_COMM_WORLD);
  }

  // The leading rank gives a new file its full size before any rank writes.
  void make_empty_file() const {
    const int fd = open(path().c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    if (fd < 0) fail(path(), std::string("open failed: ") + std::strerror(errno));
    if (ftruncate(fd, partition_.bytes()) != 0)
      fail(path(), std::string("ftruncate failed: ") + std::strerror(errno));
    close(fd);
  }

  void write(int repetition) {
    remove();
    const auto file = make_file();
    Stopwatch watch;
    if (leads()) make_empty_file();
    MPI_Barrier(MPI_COMM_WORLD);
    file->open(path(), Open::write);
    MPI_Barrier(MPI_COMM_WORLD);
    watch.lap("open");
    int64_t offset = partition_.offset(index_);
    for (const Particles::Variable& variable : data_.variables()) {
      file->write(variable.data, variable.bytes, offset);
      offset += variable.bytes;
    }
    watch.lap("transfer");
    if (leads()) {
      const std::vector<int64_t> header = make_hacc_header(partition_);
      file->write(header.data(), hacc_header_bytes, 0);
    }
    watch.lap("header");
    if (options_.fsync) file->sync();
    watch.lap("sync");
    MPI_Barrier(MPI_COMM_WORLD);
    report_.hints = file->hints();
    file->close();
    MPI_Barrier(MPI_COMM_WORLD);
    watch.lap("close");
    add("write", repetition, watch.stop());
    if (options_.common.corrupt >= 0 && job().rank == 0) corrupt(path(), options_.common.corrupt);
  }

  // Reads the header and hands its words to the ranks of the file.
  Partition read_header(File& file) const {
    std::vector<int64_t> header(hacc_header_bytes / 8);
    if (leads()) file.read(header.data(), hacc_header_bytes, 0);
    // In a shared file only the words in use travel.
    if (!options_.file_per_rank)
      MPI_Bcast(header.data(), static_cast<int>(hacc_header_words + 2 * job().ranks), MPI_INT64_T,
                0, MPI_COMM_WORLD);
    Partition seen;
    if (const std::string wrong = read_hacc_header(header, &seen); !wrong.empty())
      fail(path(), wrong);
    if (seen.counts.size() != partition_.counts.size() || seen.ranks[index_] != job().rank)
      fail(path(), "another number of ranks wrote this file, or in another order");
    return seen;
  }

  void read(int repetition, bool timed = true) {
    const auto file = make_file();
    Stopwatch watch;
    file->open(path(), Open::read);
    watch.lap("open");
    const Partition seen = read_header(*file);
    watch.lap("header");
    // As in the original, the time contains what it takes to have the memory.
    const Particles copy(seen.counts[index_]);
    watch.lap("allocate");
    int64_t offset = seen.offset(index_);
    for (const Particles::Variable& variable : copy.variables()) {
      file->read(variable.data, variable.bytes, offset);
      offset += variable.bytes;
    }
    watch.lap("transfer");
    report_.hints = file->hints();
    file->close();
    MPI_Barrier(MPI_COMM_WORLD);
    watch.lap("close");
    if (timed) add("read", repetition, watch.stop());
    if (options_.common.check) check(repetition, copy, seen);
  }

  void check(int repetition, const Particles& copy, const Partition& seen) {
    Check found;
    found.repetition = repetition;
    int64_t offset = seen.offset(index_);
    const auto expected = data_.variables();
    const auto got = copy.variables();
    if (got[0].bytes != expected[0].bytes)
      fail(path(), "holds " + std::to_string(seen.counts[index_]) + " particles of this rank");
    for (size_t i = 0; i < expected.size(); ++i) {
      found.compare(expected[i].data, got[i].data, expected[i].bytes, path(), offset);
      offset += expected[i].bytes;
    }
    if (leads()) check_header(&found);
    found.gather();
    report_.checks.push_back(found);
  }

  void check_header(Check* found) const {
    std::vector<int64_t> header(hacc_header_bytes / 8);
    const auto file = posix_file();
    file->open(path(), Open::read);
    file->read(header.data(), hacc_header_bytes, 0);
    file->close();
    found->compare(make_hacc_header(partition_).data(), header.data(), hacc_header_bytes, path(),
                   0);
  }

  void add(const char* name, int repetition, const Times& times) {
    Access access;
    access.name = name;
    access.repetition = repetition;
    access.bytes = sum(leads() ? partition_.bytes() : 0);
    access.calls = int64_t{hacc_variables} * job().ranks + partition_.partitions;
    access.block_bytes = options_.particles * hacc_record_bytes;
    access.transfer_bytes = options_.particles * 8;
    access.times = times;
    access.seconds = times.last;
    access.original = "MaxTime[sec]";
    report_.accesses.push_back(access);
  }

  const Options& options_;
  Particles data_;
  Partition partition_;
  size_t index_ = 0;  // of this rank in its file
  Report report_;
};

void print_original(const Report& report) {
  for (const Access& access : report.accesses)
    std::printf(
        "-------- Aggregate Performance --------\n"
        " %s Perf: %g BW[MiB/s] %lld Bytes %g MaxTime[sec] \n",
        access.name == "write" ? "WRITE Checkpoint" : "READ Restart", access.rate(),
        static_cast<long long>(access.bytes), access.seconds);
  if (report.checks.empty())
    std::printf(" CONTENTS NOT VERIFIED\n");
  else
    std::printf(report.valid() ? " CONTENTS VERIFIED... Success \n"
                               : " CONTENTS VERIFICATION FAILED [INVALID]\n");
}

}  // namespace
}  // namespace kernels

int main(int argc, char** argv) {
  kernels::start_job("hacc", &argc, &argv);
  const kernels::Options options = kernels::parse(argc, argv);
  kernels::Hacc hacc(options);
  const kernels::Report& report = hacc.run();
  return kernels::finish(report, options.common.format, [&] { kernels::print_original(report); });
}
