#include "loop/checkpoint_worker.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "harness/contest.h"
#include "harness/copy_limits.h"
#include "harness/pools.h"
#include "harness/worker_program.h"
#include "loop/checkpoint_ways.h"

namespace cairn::bench {
namespace {

constexpr size_t line_size = 64;

// One process's part of the work.
class Part {
 public:
  Part(const CheckpointJob& job, size_t number)
      : job_(job),
        number_(std::to_string(number)),
        source_(make_buffer(std::max(job.piece, small_file_size))) {}

  double work(const std::string& line) {
    std::istringstream words(line);
    std::string word;
    size_t count = 0;
    words >> word >> count;
    if (Way way = {}; parse_way(word, way))
      return write_checkpoint(way, job_.directory + "/checkpoint-" + number_, source_, job_.size,
                              job_.piece);
    if (word == "copy") return copy_pieces(mapping(), source_, job_.piece);
    if (word == "stream") return stream_pieces(mapping(), source_, job_.piece);
    if (word == "files" || word == "batch")
      return write_small_files(word == "files" ? Small::one_by_one : Small::all_at_end,
                               small_files(), source_, count);
    must(-EINVAL, ("work '" + line + "'").c_str());
    return 0;
  }

 private:
  // The mapping, as many times as make up a checkpoint. The first call makes it and stores to all
  // of it.
  const std::vector<Extent>& mapping() {
    if (!mapping_.empty()) return mapping_;
    const size_t size = std::min(job_.size, largest_mapping);
    const std::string path = job_.directory + "/mapping-" + number_;
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    must_posix(fd, path.c_str());
    must_posix(unlink(path.c_str()), path.c_str());
    errno = posix_fallocate(fd, 0, static_cast<off_t>(size));
    must_posix(errno == 0 ? 0 : -1, "posix_fallocate");
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (memory == MAP_FAILED) must_posix(-1, "mmap");
    close(fd);
    for (size_t done = 0; done < job_.size; done += size)
      mapping_.push_back({static_cast<uint8_t*>(memory), std::min(size, job_.size - done)});
    copy_pieces(mapping_, source_, job_.piece);
    return mapping_;
  }

  // Each process has a directory of its own, so that none waits for another one's directory.
  const std::string& small_files() {
    if (small_files_.empty()) {
      small_files_ = job_.directory + "/small-" + number_;
      must_posix(mkdir(small_files_.c_str(), 0700), small_files_.c_str());
    }
    return small_files_;
  }

  const CheckpointJob& job_;
  std::string number_;
  const uint8_t* source_;
  std::vector<Extent> mapping_;
  std::string small_files_;
};

// Another process with a part of the work. It waits for its orders in a pipe, without using a
// processor.
class Helper {
 public:
  Helper(const CheckpointJob& job, size_t number) {
    int to[2];
    int from[2];
    must_posix(pipe2(to, O_CLOEXEC), "pipe");
    must_posix(pipe2(from, O_CLOEXEC), "pipe");
    pid_ = fork();
    must_posix(pid_, "fork");
    if (pid_ == 0) {
      close(to[1]);
      close(from[0]);
      serve(Part(job, number), to[0], from[1]);
    }
    close(to[0]);
    close(from[1]);
    to_ = to[1];
    from_ = from[0];
  }
  void tell(const std::string& line) const {
    char bytes[line_size] = {};
    line.copy(bytes, sizeof bytes - 1);
    if (write(to_, bytes, sizeof bytes) != sizeof bytes) must_posix(-1, "telling a process");
  }
  [[nodiscard]] double time() const {
    double nanoseconds = 0;
    if (read(from_, &nanoseconds, sizeof nanoseconds) != sizeof nanoseconds)
      must(-EPIPE, "a process has ended");
    return nanoseconds;
  }
  void end() const {
    close(to_);
    waitpid(pid_, nullptr, 0);
  }

 private:
  [[noreturn]] static void serve(Part part, int from, int to) {
    char bytes[line_size];
    while (read(from, bytes, sizeof bytes) == sizeof bytes) {
      const double nanoseconds = part.work(bytes);
      if (write(to, &nanoseconds, sizeof nanoseconds) != sizeof nanoseconds) break;
    }
    std::exit(0);
  }

  pid_t pid_ = 0;
  int to_ = -1;
  int from_ = -1;
};

size_t number_in(const char* text) { return std::strtoull(text, nullptr, 10); }

}  // namespace

std::vector<std::string> checkpoint_worker_words(const CheckpointJob& job) {
  return {own_program(),
          checkpoint_worker,
          job.directory,
          std::to_string(job.size),
          std::to_string(job.piece),
          std::to_string(job.processes)};
}

int serve_checkpoints(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "%s: %s DIRECTORY SIZE PIECE PROCESSES\n", argv[0], checkpoint_worker);
    return 2;
  }
  use_wall_clock();
  const CheckpointJob job{argv[2], number_in(argv[3]), number_in(argv[4]), number_in(argv[5])};
  std::vector<Helper> helpers;
  for (size_t number = 1; number < job.processes; ++number) helpers.emplace_back(job, number);
  Part part(job, 0);
  char line[line_size];
  while (std::fgets(line, sizeof line, stdin) != nullptr) {
    for (const Helper& helper : helpers) helper.tell(line);
    double slowest = part.work(line);
    for (const Helper& helper : helpers) slowest = std::max(slowest, helper.time());
    std::printf("%.0f\n", slowest);
    std::fflush(stdout);
  }
  for (const Helper& helper : helpers) helper.end();
  return 0;
}

}  // namespace cairn::bench
