// limits: what the same bytes cost without a file system: copies between a rank's buffer and a
// mapped file of the medium, by all ranks at the same time.
//   limits [options] FILE
// Each rank has a region of its own. The mapping is warm: every page was touched before the first
// pass. The source is one buffer of one piece, as in IOR, so it lies in the processor's cache.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "../stream.h"
#include "common/arguments.h"
#include "common/finish.h"
#include "common/job.h"
#include "common/report.h"
#include "files/file.h"
#include "parts/equal_pieces.h"

namespace kernels {
namespace {

struct Options {
  Common common;
  std::string path;
  EqualPieces pieces{.passes = 4};
  int repetitions = 1;
  bool local = false;
};

const Description description = {
    .about = "copies between buffers and a mapped file, by all ranks: a medium's own speed",
    .usage = "[options] FILE",
    .accesses = {{"write"}, {"write-nt"}, {"read"}},
    .verifies = "every byte, after both ways to write",
};

Options parse(int argc, char** argv) {
  Options options;
  Arguments arguments(description, &options.common);
  options.pieces.take_sizes(&arguments);
  options.pieces.take_passes(&arguments);
  arguments.count("-i", "N", "repetitions", &options.repetitions, 1);
  arguments.flag("--local", "each node has a file of its own under this name, removed when mapped",
                 &options.local);
  arguments.path_operand("FILE", "the file", &options.path).needed();
  arguments.parse(argc, argv, [&](Mistakes* mistakes) { options.pieces.settle(mistakes, 8); });
  return options;
}

// A mapping must begin at a page.
int64_t rounded_to_pages(int64_t size) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  return (size + page - 1) / page * page;
}

// One rank's region of the file, mapped and touched. Collective.
class Region {
 public:
  explicit Region(const Options& options)
      : stride_(rounded_to_pages(options.pieces.block)),
        size_(static_cast<size_t>(options.pieces.block)) {
    const bool leads = (options.local ? job().rank_on_node : job().rank) == 0;
    const int place = options.local ? job().rank_on_node : job().rank;
    if (leads) make(options);
    MPI_Barrier(MPI_COMM_WORLD);
    const int fd = open(options.path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) fail(options.path, std::string("open failed: ") + std::strerror(errno));
    void* const at = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, place * stride_);
    if (at == MAP_FAILED) fail(options.path, std::string("mmap failed: ") + std::strerror(errno));
    close(fd);
    bytes_ = static_cast<char*>(at);
    std::memset(bytes_, 1, size_);
    MPI_Barrier(MPI_COMM_WORLD);
    if (options.local && leads) remove_file(options.path);
  }
  ~Region() { munmap(bytes_, size_); }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  [[nodiscard]] char* at(int64_t offset) const { return bytes_ + offset; }

 private:
  // A medium that is full says so here, and not by a signal in the middle of a copy.
  void make(const Options& options) const {
    const int ranks = options.local ? job().ranks_per_node : job().ranks;
    const int fd = open(options.path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) fail(options.path, std::string("create failed: ") + std::strerror(errno));
    if (const int error = posix_fallocate(fd, 0, stride_ * ranks); error != 0)
      fail(options.path, std::string("posix_fallocate failed: ") + std::strerror(error));
    close(fd);
  }

  int64_t stride_;
  size_t size_;
  char* bytes_ = nullptr;
};

class Limits {
 public:
  explicit Limits(const Options& options)
      : options_(options), region_(options), pattern_(options.pieces.piece, 0), buffer_(piece()) {
    pattern_.become_writer(job().rank);
    report_.api = "mmap";
    report_.parameters = {{"layout", "shared"},
                          {"block_bytes", options.pieces.block},
                          {"transfer_bytes", options.pieces.piece},
                          {"passes", options.pieces.passes}};
  }

  Report& run() {
    const auto copy = [&](char* at) { std::memcpy(at, pattern_.data(), piece()); };
    const auto past_the_cache = [&](char* at) {
      stream(at, pattern_.data(), options_.pieces.piece);
    };
    const auto read = [&](char* at) { std::memcpy(buffer_.data(), at, piece()); };
    for (int repetition = 0; repetition < options_.repetitions; ++repetition) {
      measure("write", repetition, copy);
      corrupt();
      check(repetition);
      measure("write-nt", repetition, past_the_cache);
      check(repetition);
      measure("read", repetition, read);
    }
    return report_;
  }

 private:
  [[nodiscard]] size_t piece() const { return static_cast<size_t>(options_.pieces.piece); }

  template <typename Copy>
  void measure(const char* name, int repetition, const Copy& copy) {
    Stopwatch watch;
    for (int pass = 0; pass < options_.pieces.passes; ++pass)
      for (int64_t i = 0; i < options_.pieces.count(); ++i)
        copy(region_.at(i * options_.pieces.piece));
    watch.lap("transfer");
    report_.accesses.push_back(options_.pieces.access(name, repetition, watch.stop()));
  }

  void corrupt() const {
    const int64_t offset = options_.common.corrupt;
    if (offset < 0 || job().rank != 0) return;
    if (offset >= options_.pieces.block)
      fail(options_.path, "--corrupt: offset " + std::to_string(offset) + " is not in the region");
    *region_.at(offset) ^= 1;
  }

  void check(int repetition) {
    if (!options_.common.check) return;
    Check found;
    found.repetition = repetition;
    for (int64_t i = 0; i < options_.pieces.count(); ++i)
      found.compare(pattern_.data(), region_.at(i * options_.pieces.piece), options_.pieces.piece,
                    options_.path, job().rank * options_.pieces.block + i * options_.pieces.piece);
    found.gather();
    report_.checks.push_back(found);
  }

  const Options& options_;
  Region region_;
  Pattern pattern_;
  std::vector<char> buffer_;
  Report report_;
};

Report run(const Options& options) {
  Limits limits(options);
  return limits.run();
}

}  // namespace
}  // namespace kernels

int main(int argc, char** argv) {
  kernels::start_job("limits", &argc, &argv);
  const kernels::Options options = kernels::parse(argc, argv);
  const kernels::Report report = kernels::run(options);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!options.common.keep && !options.local && kernels::job().rank == 0)
    kernels::remove_file(options.path);
  return kernels::finish(report, options.common.format,
                         [&] { kernels::print_limits(report, "a copy"); });
}
