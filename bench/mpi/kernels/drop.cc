// drop: takes the files of a directory out of the page cache: fsync, then posix_fadvise(DONTNEED).
//   drop [options] DIRECTORY
// One rank of each node does it for its node. Then it counts what is still cached, by mincore:
// another process may have a file mapped, and a file system in memory keeps all of it.
// `cairn bench` runs it between writes and reads that must not meet the cache.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "common/arguments.h"
#include "common/finish.h"
#include "common/job.h"
#include "common/report.h"

namespace kernels {
namespace {

struct Options {
  Common common;
  std::string path;
};

struct Found {
  int64_t files = 0;
  int64_t bytes = 0;
  int64_t cached = 0;  // bytes of pages that are in the cache afterwards
};

[[noreturn]] void failed(const std::string& path, const std::string& what) {
  fail(path, what + " failed: " + std::strerror(errno));
}

int64_t cached_bytes(const std::string& path, int fd, int64_t size) {
  constexpr int64_t window = int64_t{1} << 30;
  const int64_t page = sysconf(_SC_PAGESIZE);
  std::vector<unsigned char> pages;
  int64_t cached = 0;
  for (int64_t at = 0; at < size; at += window) {
    const int64_t length = std::min(window, size - at);
    void* const mapped = mmap(nullptr, static_cast<size_t>(length), PROT_READ, MAP_SHARED, fd, at);
    if (mapped == MAP_FAILED) failed(path, "mmap");
    pages.resize(static_cast<size_t>((length + page - 1) / page));
    if (mincore(mapped, static_cast<size_t>(length), pages.data()) != 0) failed(path, "mincore");
    munmap(mapped, static_cast<size_t>(length));
    cached += page * std::count_if(pages.begin(), pages.end(),
                                   [](unsigned char each) { return (each & 1) != 0; });
  }
  return std::min(cached, size);
}

void drop(const std::string& path, Found* found) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) failed(path, "open");
  struct stat about {};
  if (fstat(fd, &about) != 0) failed(path, "fstat");
  if (fsync(fd) != 0) failed(path, "fsync");
  if (const int error = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED); error != 0)
    fail(path, std::string("posix_fadvise failed: ") + std::strerror(error));
  ++found->files;
  found->bytes += about.st_size;
  found->cached += cached_bytes(path, fd, about.st_size);
  close(fd);
}

Found drop_below(const std::string& directory) {
  Found found;
  std::error_code error;
  std::filesystem::recursive_directory_iterator all(directory, error);
  for (; !error && all != std::filesystem::end(all); all.increment(error))
    if (all->is_regular_file(error) && !all->is_symlink()) drop(all->path().string(), &found);
  if (error) fail(directory, "cannot be listed: " + error.message());
  return found;
}

const Description description = {
    .about = "takes the files below a directory out of the page cache, on each node of the job",
    .usage = "[options] DIRECTORY",
    .accesses = {},
    .verifies = "nothing; it counts the bytes that are still cached",
};

Options parse(int argc, char** argv) {
  Options options;
  Arguments arguments(description, &options.common);
  arguments.path_operand("DIRECTORY", "its files must be readable", &options.path).needed();
  arguments.parse(argc, argv, [](Mistakes*) {});
  return options;
}

Report run(const Options& options) {
  Found found;
  if (job().rank_on_node == 0) found = drop_below(options.path);
  Report report;
  report.api = "posix_fadvise";
  report.parameters = {
      {"files", static_cast<int64_t>(highest(static_cast<double>(found.files)))},
      {"file_bytes", static_cast<int64_t>(highest(static_cast<double>(found.bytes)))},
      {"cached_bytes", static_cast<int64_t>(highest(static_cast<double>(found.cached)))}};
  return report;
}

void print_original(const Report& report) {
  std::printf("%lld files, %lld bytes, of which %lld are still cached on the fullest node\n",
              static_cast<long long>(report.parameters[0].number),
              static_cast<long long>(report.parameters[1].number),
              static_cast<long long>(report.parameters[2].number));
}

}  // namespace
}  // namespace kernels

int main(int argc, char** argv) {
  kernels::start_job("drop", &argc, &argv);
  const kernels::Options options = kernels::parse(argc, argv);
  const kernels::Report report = kernels::run(options);
  return kernels::finish(report, options.common.format, [&] { kernels::print_original(report); });
}
