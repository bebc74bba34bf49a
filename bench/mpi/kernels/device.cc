// device: what a medium gives past the page cache: direct writes and reads of one file by all ranks
// at the same time. `cairn bench` runs it for the limit of a device where fio is missing.
//   device [options] FILE
// The time of the writes contains the sync, so what the device holds in its own cache is written.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "common/arguments.h"
#include "common/finish.h"
#include "common/job.h"
#include "common/report.h"
#include "files/file.h"
#include "parts/equal_pieces.h"

namespace kernels {
namespace {

constexpr int64_t alignment = 4096;

struct Options {
  Common common;
  std::string path;
  EqualPieces pieces;
};

const Description description = {
    .about = "direct writes and reads of a file, by all ranks: a device's own speed",
    .usage = "[options] FILE",
    .accesses = {{"device-write", {"transfer", "sync"}}, {"device-read"}},
    .verifies = "every byte, read once more",
};

Options parse(int argc, char** argv) {
  Options options;
  Arguments arguments(description, &options.common);
  options.pieces.take_sizes(&arguments);
  arguments.path_operand("FILE", "the file", &options.path).needed();
  arguments.parse(argc, argv,
                  [&](Mistakes* mistakes) { options.pieces.settle(mistakes, alignment); });
  return options;
}

struct Free {
  void operator()(char* bytes) const { std::free(bytes); }
};
using Aligned = std::unique_ptr<char, Free>;

Aligned aligned(int64_t size) {
  Aligned bytes(static_cast<char*>(std::aligned_alloc(alignment, static_cast<size_t>(size))));
  if (bytes == nullptr) fail("memory", "no " + std::to_string(size) + " bytes");
  std::memset(bytes.get(), 0, static_cast<size_t>(size));
  return bytes;
}

class Device {
 public:
  explicit Device(const Options& options)
      : options_(options), pattern_(options.pieces.piece, 0), data_(aligned(options.pieces.piece)) {
    pattern_.become_writer(job().rank);
    std::memcpy(data_.get(), pattern_.data(), static_cast<size_t>(options.pieces.piece));
    report_.api = "direct I/O";
    report_.parameters = {{"layout", "shared"},
                          {"block_bytes", options.pieces.block},
                          {"transfer_bytes", options.pieces.piece},
                          {"fsync", 1}};
  }

  Report& run() {
    const bool leads = job().rank == 0;
    if (leads) close(opened(O_WRONLY | O_CREAT | O_TRUNC, "create"));
    MPI_Barrier(MPI_COMM_WORLD);
    write();
    if (leads && options_.common.corrupt >= 0) corrupt(options_.path, options_.common.corrupt);
    MPI_Barrier(MPI_COMM_WORLD);
    read();
    if (options_.common.check) check();
    return report_;
  }

 private:
  [[nodiscard]] int opened(int flags, const char* what) const {
    const int fd = open(options_.path.c_str(), flags | O_DIRECT | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EINVAL)
      fail(options_.path, "this file system has no direct I/O; leave this limit out");
    if (fd < 0) failed(what);
    return fd;
  }

  [[noreturn]] void failed(const std::string& what) const {
    fail(options_.path, what + " failed: " + std::strerror(errno));
  }

  [[nodiscard]] int64_t offset(int64_t piece) const {
    return job().rank * options_.pieces.block + piece * options_.pieces.piece;
  }

  // The data of a piece: those of Pattern, in memory that direct I/O takes.
  void stamp(int64_t at) {
    pattern_.move_to(at);
    for (int64_t i = 0; i < options_.pieces.piece; i += stamp_bytes)
      std::memcpy(data_.get() + i, pattern_.data() + i, sizeof(uint64_t));
  }

  void write() {
    const int fd = opened(O_WRONLY, "open");
    const auto size = static_cast<size_t>(options_.pieces.piece);
    Stopwatch watch;
    for (int64_t i = 0; i < options_.pieces.count(); ++i) {
      stamp(offset(i));
      if (pwrite(fd, data_.get(), size, offset(i)) != options_.pieces.piece)
        failed("write of " + std::to_string(size) + " bytes at " + std::to_string(offset(i)));
    }
    watch.lap("transfer");
    if (fdatasync(fd) != 0) failed("fdatasync");
    watch.lap("sync");
    report_.accesses.push_back(options_.pieces.access("device-write", 0, watch.stop()));
    close(fd);
  }

  void read_piece(int fd, char* to, int64_t at) const {
    if (pread(fd, to, static_cast<size_t>(options_.pieces.piece), at) != options_.pieces.piece)
      failed("read of " + std::to_string(options_.pieces.piece) + " bytes at " +
             std::to_string(at));
  }

  void read() {
    const int fd = opened(O_RDONLY, "open");
    const Aligned got = aligned(options_.pieces.piece);
    Stopwatch watch;
    for (int64_t i = 0; i < options_.pieces.count(); ++i) read_piece(fd, got.get(), offset(i));
    watch.lap("transfer");
    report_.accesses.push_back(options_.pieces.access("device-read", 0, watch.stop()));
    close(fd);
  }

  void check() {
    const int fd = opened(O_RDONLY, "open");
    const Aligned got = aligned(options_.pieces.piece);
    Check found;
    for (int64_t i = 0; i < options_.pieces.count(); ++i) {
      read_piece(fd, got.get(), offset(i));
      stamp(offset(i));
      found.compare(data_.get(), got.get(), options_.pieces.piece, options_.path, offset(i));
    }
    close(fd);
    found.gather();
    report_.checks.push_back(found);
  }

  const Options& options_;
  Pattern pattern_;
  Aligned data_;
  Report report_;
};

}  // namespace
}  // namespace kernels

int main(int argc, char** argv) {
  kernels::start_job("device", &argc, &argv);
  const kernels::Options options = kernels::parse(argc, argv);
  kernels::Device device(options);
  const kernels::Report& report = device.run();
  MPI_Barrier(MPI_COMM_WORLD);
  if (!options.common.keep && kernels::job().rank == 0) kernels::remove_file(options.path);
  return kernels::finish(report, options.common.format,
                         [&] { kernels::print_limits(report, "a call, past the page cache"); });
}
