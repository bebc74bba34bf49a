// mdtest: mdtest's easy pattern: each rank creates, stats, reads and removes files, and all ranks
// meet between the phases.
//   mdtest [options] -d DIR
// Files: DIR/test-dir.REPETITION-0/mdtest_tree.RANK.0/file.mdtest.RANK.NUMBER with -u, else all in
// mdtest_tree.0. The check lists the directory of the next rank: names, sizes and contents.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>

#include "common/arguments.h"
#include "common/finish.h"
#include "common/job.h"
#include "common/report.h"

namespace kernels {
namespace {

constexpr int64_t most_bytes = 2147479552;  // that Linux writes in one call

struct Options {
  Common common;
  std::string directory;
  int64_t files = 1000;
  int64_t write_bytes = 0;
  int64_t read_bytes = 0;
  int64_t shift = 0;
  int repetitions = 1;
  bool own_directories = false;
  bool fsync = false;
};

const Description description = {
    .about = "mdtest's easy pattern: create, stat, read, remove",
    .usage = "[options] -d DIRECTORY",
    .accesses = {{.access = "create", .unit = "ops/s"},
                 {.access = "stat", .unit = "ops/s"},
                 {.access = "read", .unit = "ops/s"},
                 {.access = "remove", .unit = "ops/s"}},
    .verifies = "names and sizes in the next rank's directory, and every byte of its files",
    // An inode and a name take some hundred bytes everywhere.
    .bytes = {.medium = "ranks * files * (write // 4096 * 4096 + 8192)",
              .memory = "ranks * (files * ranks * 128 + 2 * write)",
              .call = ""},
};

Options parse(int argc, char** argv) {
  Options options;
  bool always = true;
  Arguments arguments(description, &options.common);
  arguments.flag("-y", "fsync after writing", &options.fsync).as("fsync");
  arguments.flag("-u", "a directory for each rank; default one for all", &options.own_directories)
      .as_word("layout", "directory-per-process", "shared", "directory-per-process");
  arguments.count("-n", "N", "files of each rank", &options.files, 1).as("files").grows();
  arguments.size("-w", "bytes written to a file", &options.write_bytes).as("write").may_be_none =
      true;
  arguments.size("-e", "bytes read from a file; 0: open and close", &options.read_bytes)
      .as("read")
      .may_be_none = true;
  arguments.count("-N", "N", "stat and read the files of the rank so much above", &options.shift)
      .as("shift", int64_t{1});
  arguments.path("-d", "DIRECTORY", "where to work; it must exist", &options.directory)
      .needed()
      .in_run("");
  arguments.count("-i", "N", "repetitions", &options.repetitions, 1);
  arguments.flag("-F", "files only: always so", &always);
  arguments.flag("-L", "files at the leaves: always so", &always);
  arguments.flag("-X", "verify what was read: always so, unless --no-check", &always);
  arguments.flag("--verify-read", "-X", &always);
  Api api = Api::posix;
  arguments.api("POSIX", {Api::posix}, &api);
  arguments.ignored("-v", "", "more lines");
  arguments.ignored("-V", "N", "as much as N times -v");
  arguments.ignored("-P", "", "times beside rates, which the JSON object has anyway");
  arguments.parse(argc, argv, [&](Mistakes* mistakes) {
    if (options.read_bytes > options.write_bytes)
      mistakes->add("-e: invalid size " + std::to_string(options.read_bytes) +
                    ": expected at most -w, " + std::to_string(options.write_bytes));
    if (options.common.corrupt >= 0 && options.write_bytes == 0)
      mistakes->add("--corrupt: the files are empty; give them bytes with -w");
    if (options.write_bytes > most_bytes)
      mistakes->add("-w: invalid size " + std::to_string(options.write_bytes) +
                    ": expected at most " + std::to_string(most_bytes) + ", as for one call");
    check_file_size("-n, -w", {options.files, options.write_bytes + 1, job().ranks}, mistakes);
  });
  return options;
}

// Contents makes the bytes of a file from the rank and the file's number.
class Contents {
 public:
  explicit Contents(int64_t size)
      : size_(size), pattern_(std::max<int64_t>(8, (size + 7) / 8 * 8), 0) {}

  void become(int rank) { pattern_.become_writer(rank); }
  const char* of(int64_t number) {
    pattern_.move_to(number * stamp_bytes);
    return pattern_.data();
  }
  [[nodiscard]] int64_t size() const { return size_; }

 private:
  int64_t size_;
  Pattern pattern_;
};

class Mdtest {
 public:
  explicit Mdtest(const Options& options)
      : options_(options),
        contents_(options.write_bytes),
        buffer_(static_cast<size_t>(options.write_bytes)) {
    report_.api = "POSIX";
    report_.parameters = {{"layout", options.own_directories ? "directory-per-process" : "shared"},
                          {"files_per_rank", options.files},
                          {"write_bytes", options.write_bytes},
                          {"read_bytes", options.read_bytes},
                          {"read_shift", options.shift},
                          {"fsync", options.fsync ? 1 : 0}};
  }

  Report& run() {
    for (int repetition = 0; repetition < options_.repetitions; ++repetition) {
      repetition_ = repetition;
      make_directories();
      const int other = owner_after(options_.shift);
      contents_.become(job().rank);
      phase("create", options_.write_bytes, job().rank, &Mdtest::create);
      if (options_.common.corrupt >= 0 && job().rank == 0)
        corrupt(path(0, 0), options_.common.corrupt);
      MPI_Barrier(MPI_COMM_WORLD);
      phase("stat", 0, other, &Mdtest::stat);
      phase("read", options_.read_bytes, other, &Mdtest::read);
      if (options_.common.check) check();
      MPI_Barrier(MPI_COMM_WORLD);
      if (options_.common.keep) continue;
      phase("remove", 0, job().rank, &Mdtest::remove);
      remove_directories();
    }
    return report_;
  }

 private:
  using Call = void (Mdtest::*)(int owner, int64_t number);

  [[nodiscard]] int owner_after(int64_t shift) const {
    return static_cast<int>((job().rank + shift) % job().ranks);
  }
  [[nodiscard]] std::string top() const {
    return options_.directory + "/test-dir." + std::to_string(repetition_) + "-0";
  }
  [[nodiscard]] std::string tree(int owner) const {
    if (!options_.own_directories) return top() + "/mdtest_tree.0";
    return top() + "/mdtest_tree." + std::to_string(owner) + ".0";
  }
  [[nodiscard]] static std::string name(int owner, int64_t number) {
    return "file.mdtest." + std::to_string(owner) + "." + std::to_string(number);
  }
  [[nodiscard]] std::string path(int owner, int64_t number) const {
    return tree(owner) + "/" + name(owner, number);
  }
  [[nodiscard]] bool makes_tree() const { return options_.own_directories || job().rank == 0; }

  static void make_directory(const std::string& path) {
    if (mkdir(path.c_str(), 0700) != 0)
      fail(path, std::string("mkdir failed: ") + std::strerror(errno));
  }
  static void remove_directory(const std::string& path) {
    if (rmdir(path.c_str()) != 0) fail(path, std::string("rmdir failed: ") + std::strerror(errno));
  }

  void make_directories() const {
    if (job().rank == 0) make_directory(top());
    MPI_Barrier(MPI_COMM_WORLD);
    if (makes_tree()) make_directory(tree(job().rank));
    MPI_Barrier(MPI_COMM_WORLD);
  }

  // A file that should not be there makes this fail.
  void remove_directories() const {
    MPI_Barrier(MPI_COMM_WORLD);
    if (makes_tree()) remove_directory(tree(job().rank));
    MPI_Barrier(MPI_COMM_WORLD);
    if (job().rank == 0) remove_directory(top());
    MPI_Barrier(MPI_COMM_WORLD);
  }

  void create(int owner, int64_t number) {
    const std::string where = path(owner, number);
    const int fd = open(where.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0) fail(where, std::string("create failed: ") + std::strerror(errno));
    if (contents_.size() > 0 &&
        write(fd, contents_.of(number), static_cast<size_t>(contents_.size())) != contents_.size())
      fail(where, std::string("write failed: ") + std::strerror(errno));
    if (options_.fsync && fsync(fd) != 0)
      fail(where, std::string("fsync failed: ") + std::strerror(errno));
    if (close(fd) != 0) fail(where, std::string("close failed: ") + std::strerror(errno));
  }

  void stat(int owner, int64_t number) {
    struct stat found;
    const std::string where = path(owner, number);
    if (::stat(where.c_str(), &found) != 0)
      fail(where, std::string("stat failed: ") + std::strerror(errno));
  }

  void read(int owner, int64_t number) { read_file(path(owner, number), options_.read_bytes); }

  void read_file(const std::string& where, int64_t size) {
    const int fd = open(where.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) fail(where, std::string("open failed: ") + std::strerror(errno));
    if (size > 0 && ::read(fd, buffer_.data(), static_cast<size_t>(size)) != size)
      fail(where, "read failed: expected " + std::to_string(size) + " bytes");
    close(fd);
  }

  void remove(int owner, int64_t number) {
    const std::string where = path(owner, number);
    if (unlink(where.c_str()) != 0)
      fail(where, std::string("unlink failed: ") + std::strerror(errno));
  }

  void phase(const char* name, int64_t bytes, int owner, Call call) {
    Stopwatch watch;
    for (int64_t i = 0; i < options_.files; ++i) (this->*call)(owner, i);
    watch.lap("transfer");
    // The figure's time ends when all ranks have left the barrier, as in mdtest.
    MPI_Barrier(MPI_COMM_WORLD);
    watch.lap("barrier");
    Access access;
    access.name = name;
    access.repetition = repetition_;
    access.calls = options_.files * job().ranks;
    access.bytes = access.calls * bytes;
    access.block_bytes = access.transfer_bytes = bytes;
    access.times = watch.stop(1);
    access.seconds = watch.stop().last;
    access.original = "ops/sec";
    access.unit = Unit::operations;
    report_.accesses.push_back(access);
  }

  // Names and sizes as one text, then every byte of every file.
  void check() {
    const int owner = owner_after(options_.shift + 1);
    Check found;
    found.repetition = repetition_;
    const std::string expected = expected_listing(owner);
    std::string got = listing(owner);
    // A name too many is as wrong as one that is missing.
    if (got.size() > expected.size()) got[0] = '?';
    got.resize(expected.size(), '?');
    found.compare(expected.data(), got.data(), static_cast<int64_t>(expected.size()),
                  tree(owner) + ": names and sizes", 0);
    contents_.become(owner);
    for (int64_t i = 0; i < options_.files && options_.write_bytes > 0; ++i) {
      read_file(path(owner, i), options_.write_bytes);
      found.compare(contents_.of(i), buffer_.data(), options_.write_bytes, path(owner, i), 0);
    }
    contents_.become(job().rank);
    found.gather();
    report_.checks.push_back(found);
  }

  [[nodiscard]] std::string line(const std::string& name, int64_t size) const {
    return name + " " + std::to_string(size) + "\n";
  }

  // Returns the names and sizes of one rank, or of all where they share a directory.
  [[nodiscard]] std::string expected_listing(int owner) const {
    std::vector<std::string> lines;
    for (int rank = 0; rank < job().ranks; ++rank) {
      if (options_.own_directories && rank != owner) continue;
      for (int64_t i = 0; i < options_.files; ++i)
        lines.push_back(line(name(rank, i), options_.write_bytes));
    }
    return sorted_text(std::move(lines));
  }

  [[nodiscard]] std::string listing(int owner) const {
    DIR* const directory = opendir(tree(owner).c_str());
    if (directory == nullptr) fail(tree(owner), std::string("opendir: ") + std::strerror(errno));
    std::vector<std::string> lines;
    while (const dirent* entry = readdir(directory)) {
      const std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      struct stat found;
      const std::string where = tree(owner) + "/" + name;
      if (::stat(where.c_str(), &found) != 0) fail(where, "listed, but stat failed");
      lines.push_back(line(name, found.st_size));
    }
    closedir(directory);
    return sorted_text(std::move(lines));
  }

  static std::string sorted_text(std::vector<std::string> lines) {
    std::sort(lines.begin(), lines.end());
    std::string text;
    for (const std::string& line : lines) text += line;
    return text;
  }

  const Options& options_;
  Contents contents_;
  std::vector<char> buffer_;
  Report report_;
  int repetition_ = 0;
};

void print_line(const Report& report, const char* access, const char* title) {
  double most = 0, least = HUGE_VAL, sum = 0, squares = 0;
  int count = 0;
  for (const Access& one : report.accesses) {
    if (one.name != access) continue;
    const double rate = one.rate();
    most = std::max(most, rate);
    least = std::min(least, rate);
    sum += rate;
    squares += rate * rate;
    ++count;
  }
  if (count == 0) return;
  const double mean = sum / count;
  const double variance = count < 2 ? 0 : (squares - sum * mean) / (count - 1);
  std::printf("   %-22s %14.3f %14.3f %14.3f %14.3f\n", title, most, least, mean,
              std::sqrt(std::max(variance, 0.0)));
}

void print_original(const Options& options, const Report& report) {
  const int64_t files = options.files * job().ranks;
  std::printf("mdtest: Cairn's kernel %s, %d total task(s) on %d node(s)\n", CAIRN_VERSION,
              job().ranks, job().nodes);
  std::printf("Command line used: %s\n%d tasks, %lld files\n", job().command.c_str(), job().ranks,
              static_cast<long long>(files));
  std::printf("\nSUMMARY rate (in ops/sec): (of %d iterations)\n", options.repetitions);
  std::printf(
      "   Operation                         Max            Min           Mean        Std Dev\n"
      "   ---------                         ---            ---           ----        -------\n");
  print_line(report, "create", "File creation");
  print_line(report, "stat", "File stat");
  print_line(report, "read", "File read");
  print_line(report, "remove", "File removal");
  print_checks(report);
}

}  // namespace
}  // namespace kernels

int main(int argc, char** argv) {
  kernels::start_job("mdtest", &argc, &argv);
  const kernels::Options options = kernels::parse(argc, argv);
  kernels::Mdtest mdtest(options);
  const kernels::Report& report = mdtest.run();
  return kernels::finish(report, options.common.format,
                         [&] { kernels::print_original(options, report); });
}
