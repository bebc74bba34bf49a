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

#include "common/arguments.h"
#include "common/finish.h"
#include "common/job.h"
#include "common/report.h"
#include "common/sides.h"
#include "files/file.h"
#include "parts/hacc_layout.h"

namespace kernels {
namespace {

struct Options {
  Common common;
  Api api = Api::posix;
  bool file_per_rank = false;
  bool fsync = false;
  bool existing = false;
  Sides sides;
  int repetitions = 1;
  int64_t particles = 0;
  std::string path;
};

Description description() {
  const std::string header = std::to_string(hacc_header_bytes);
  const std::string record = std::to_string(hacc_record_bytes);
  return {
      .about = "HACC-IO's checkpoint and restart",
      .usage = "[options] PARTICLES PATH",
      .accesses = {{"write", {"open", "transfer", "header", "sync", "close"}},
                   {"read", {"open", "header", "allocate", "transfer", "close"}}},
      .verifies = "each value that was read, against the number of its particle",
      .bytes = {.medium = "(ranks if layout == 'file-per-process' else 1) * " + header +
                          " + ranks * particles * " + record,
                .memory = "ranks * (2 * particles * " + record + " + " + header + ")",
                .call = "particles * 4"},
  };
}

Options parse(int argc, char** argv) {
  Options options;
  Arguments arguments(description(), &options.common);
  arguments
      .api("POSIX or MPIIO (independent calls); default POSIX", {Api::posix, Api::mpiio},
           &options.api)
      .as("api");
  arguments.flag("-e", "fsync before close, which the original does not do", &options.fsync)
      .as("fsync");
  arguments.flag("-F", "one file per process; default one file", &options.file_per_rank)
      .as_word("layout", "file-per-process", "shared", "shared");
  arguments.count("-i", "N", "repetitions", &options.repetitions, 1);
  arguments.flag("-w", "--write-only", &options.sides.write_only);
  arguments.flag("-r", "--read-only", &options.sides.read_only);
  arguments.existing(&options.existing);
  side_arguments(&arguments, &options.sides);
  arguments
      .count_operand("PARTICLES", "particles of each rank, 38 bytes each", &options.particles, 1)
      .needed()
      .as("particles", int64_t{1} << 20)
      .grows();
  arguments.path_operand("PATH", "the files, PATH-Part...", &options.path).needed().in_run("hacc");
  arguments.parse(argc, argv, [&](Mistakes* mistakes) {
    // A file of a petabyte is enough, and leaves room for the header.
    constexpr int64_t most = (int64_t{1} << 50) / hacc_record_bytes;
    if (options.particles > most / (options.file_per_rank ? 1 : job().ranks))
      mistakes->add("PARTICLES: " + std::to_string(options.particles) +
                    " is too large: a file would have more than 1 PiB");
    else
      check_call("PARTICLES", options.api, options.particles * 8, mistakes);
    if (int64_t{job().ranks} > (hacc_header_bytes / 8 - hacc_header_words) / 2 &&
        !options.file_per_rank)
      mistakes->add("the header of a shared file has no room for " + std::to_string(job().ranks) +
                    " ranks: expected -F");
  });
  return options;
}

class Hacc {
 public:
  explicit Hacc(const Options& options)
      : options_(options),
        data_(options.particles),
        partition_(partition_of(options, job().rank)),
        owner_(options.sides.owner()),
        existed_(options.existing && options.sides.write()) {
    report_.api = api_name(options.api);
    report_.parameters = {{"layout", options.file_per_rank ? "file-per-process" : "shared"},
                          {"particles_per_rank", options.particles},
                          {"header_bytes", hacc_header_bytes},
                          options.sides.parameter(),
                          {"fsync", options.fsync ? 1 : 0}};
  }

  Report& run() {
    for (int repetition = 0; repetition < options_.repetitions; ++repetition) {
      if (options_.sides.write()) write(repetition);
      if (options_.sides.read()) read(repetition);
      if (!options_.sides.read() && options_.common.check) read(repetition, false);
      // Every repetition meets the files of the one before.
      const bool is_last = repetition == options_.repetitions - 1;
      if (!options_.common.keep && (is_last || !options_.existing)) remove();
    }
    report_.parameters.emplace_back("existing", existed_ ? 1 : 0);
    return report_;
  }

 private:
  [[nodiscard]] bool leads() const { return options_.file_per_rank || job().rank == 0; }
  [[nodiscard]] std::string path() const { return partition_.path(options_.path); }
  // Returns the position of `rank` among the ranks of its file.
  [[nodiscard]] size_t index_of(int rank) const {
    return options_.file_per_rank ? 0 : static_cast<size_t>(rank);
  }

  static Partition partition_of(const Options& options, int rank) {
    Partition partition;
    partition.global_particles = options.particles * job().ranks;
    if (options.file_per_rank) {
      partition.id = rank;
      partition.partitions = job().ranks;
      partition.counts = {options.particles};
      partition.ranks = {rank};
    } else {
      partition.counts.assign(static_cast<size_t>(job().ranks), options.particles);
      partition.ranks.resize(static_cast<size_t>(job().ranks));
      std::iota(partition.ranks.begin(), partition.ranks.end(), int64_t{0});
    }
    return partition;
  }

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
    if (!options_.existing) remove();
    existed_ = existed_ && all_there(path(), partition_.bytes());
    data_.become(job().rank);
    const auto file = make_file();
    Stopwatch watch;
    if (leads()) make_empty_file();
    MPI_Barrier(MPI_COMM_WORLD);
    file->open(path(), Open::write);
    MPI_Barrier(MPI_COMM_WORLD);
    watch.lap("open");
    int64_t offset = partition_.offset(index_of(job().rank));
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
  Partition read_header(File& file, const Partition& expected) const {
    std::vector<int64_t> header(hacc_header_bytes / 8);
    if (leads()) file.read(header.data(), hacc_header_bytes, 0);
    // In a shared file only the words in use travel.
    if (!options_.file_per_rank)
      MPI_Bcast(header.data(), static_cast<int>(hacc_header_words + 2 * job().ranks), MPI_INT64_T,
                0, MPI_COMM_WORLD);
    Partition seen;
    if (const std::string wrong = read_hacc_header(header, &seen); !wrong.empty())
      fail(expected.path(options_.path), wrong);
    if (seen.counts.size() != expected.counts.size() || seen.ranks[index_of(owner_)] != owner_)
      fail(expected.path(options_.path),
           "another number of ranks wrote this file, or in another order");
    return seen;
  }

  void read(int repetition, bool timed = true) {
    const auto file = make_file();
    const Partition expected = partition_of(options_, owner_);
    Stopwatch watch;
    file->open(expected.path(options_.path), Open::read);
    watch.lap("open");
    const Partition seen = read_header(*file, expected);
    watch.lap("header");
    // The time contains the allocation of the memory, as in the original.
    const Particles copy(seen.counts[index_of(owner_)]);
    watch.lap("allocate");
    int64_t offset = seen.offset(index_of(owner_));
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
    if (options_.common.check) check(repetition, copy, seen, expected);
  }

  void check(int repetition, const Particles& copy, const Partition& seen,
             const Partition& partition) {
    const std::string name = partition.path(options_.path);
    Check found;
    found.repetition = repetition;
    int64_t offset = seen.offset(index_of(owner_));
    data_.become(owner_);
    const auto expected = data_.variables();
    const auto got = copy.variables();
    if (got[0].bytes != expected[0].bytes)
      fail(name, "holds " + std::to_string(seen.counts[index_of(owner_)]) + " particles of rank " +
                     std::to_string(owner_));
    for (size_t i = 0; i < expected.size(); ++i) {
      found.compare(expected[i].data, got[i].data, expected[i].bytes, name, offset);
      offset += expected[i].bytes;
    }
    if (leads()) check_header(partition, &found);
    found.gather();
    report_.checks.push_back(found);
  }

  void check_header(const Partition& partition, Check* found) const {
    const std::string name = partition.path(options_.path);
    std::vector<int64_t> header(hacc_header_bytes / 8);
    const auto file = posix_file();
    file->open(name, Open::read);
    file->read(header.data(), hacc_header_bytes, 0);
    file->close();
    found->compare(make_hacc_header(partition).data(), header.data(), hacc_header_bytes, name, 0);
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
  int owner_;     // of what this rank reads
  bool existed_;  // each write has met the files of an earlier one
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
