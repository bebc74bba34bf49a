#include "programs/tiers_evict.h"

#include <cairn/cairn.h>
#include <cairn/cover.h>
#include <cairn/tier.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace cairn::bench {
namespace {

constexpr size_t mib = size_t{1} << 20;
constexpr size_t block = 4096;

double wall_ns() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void must(int64_t result, const char* what) {
  if (result >= 0) return;
  std::fprintf(stderr, "bench_tiers: %s: %s\n", what, cairn_last_error());
  std::exit(2);
}

// A pool and a cover with `count` files that the directory has too.
class DrainedFiles {
 public:
  DrainedFiles(const std::string& lower, const std::string& pools, size_t count, size_t size)
      : lower_(lower), path_(pools + "/evict"), size_(size) {
    cairn_pool_options options = {};
    options.struct_size = sizeof options;
    options.size = 2 * count * size + 64 * mib;
    must(cairn_pool_create(path_.c_str(), &options), "pool");
    must(cairn_pool_attach(path_.c_str(), 0, &pool_), "pool");
    cairn_cover_options cover = {};
    cover.struct_size = sizeof cover;
    must(cairn_cover_open(pool_, lower.c_str(), &cover, &cover_), "cover");
    for (size_t i = 0; i < count; ++i) make("evict-" + std::to_string(i));
    cairn_drain_report drained = {};
    must(cairn_cover_drain(cover_, nullptr, nullptr, nullptr, &drained), "drain");
    for (const std::string& name : names_) {
      cairn_stat st = {};
      must(cairn_lookup(pool_, cairn_cover_top(cover_), name.c_str(), 0, &st), "lookup");
      numbers_.push_back(st.ino);
    }
  }
  ~DrainedFiles() {
    cairn_cover_discard(cover_);
    cairn_pool_detach(pool_);
    cairn_pool_remove(path_.c_str());
    for (const std::string& name : names_) unlink((lower_ + "/" + name).c_str());
  }
  DrainedFiles(const DrainedFiles&) = delete;
  DrainedFiles& operator=(const DrainedFiles&) = delete;

  void stage() {
    for (const cairn_ino number : numbers_) must(cairn_stage(pool_, number, 0), "stage");
    cairn_pool_info info = {};
    must(cairn_pool_get_info(pool_, &info), "info");
    used_ = info.used;
  }
  // ns for each file.
  double evict() {
    const double begun = wall_ns();
    for (const cairn_ino number : numbers_) must(cairn_evict(pool_, number, 0, nullptr), "evict");
    const double took = wall_ns() - begun;
    cairn_pool_info info = {};
    must(cairn_pool_get_info(pool_, &info), "info");
    if (used_ - info.used < numbers_.size() * size_) {
      std::fprintf(stderr, "bench_tiers: evicted files still take room\n");
      std::exit(2);
    }
    return took / static_cast<double>(numbers_.size());
  }
  double look() const {
    const double begun = wall_ns();
    for (const std::string& name : names_) {
      const int fd = open((lower_ + "/" + name).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
      struct stat st = {};
      if (fd < 0 || fstat(fd, &st) != 0 || close(fd) != 0) must(-1, "lower");
    }
    return (wall_ns() - begun) / static_cast<double>(names_.size());
  }

 private:
  void make(const std::string& name) {
    names_.push_back(name);
    cairn_file* file = nullptr;
    must(cairn_open(pool_, cairn_cover_top(cover_), name.c_str(), O_WRONLY | O_CREAT, 0644, &file),
         "create");
    const std::vector<char> bytes(mib, 'x');
    for (size_t at = 0; at < size_; at += mib)
      must(cairn_pwrite(file, bytes.data(), mib, at), "write");
    must(cairn_close(file), "close");
  }

  const std::string lower_;
  const std::string path_;
  const size_t size_;
  cairn_pool* pool_ = nullptr;
  cairn_cover* cover_ = nullptr;
  std::vector<std::string> names_;
  std::vector<cairn_ino> numbers_;
  uint64_t used_ = 0;
};

void add_size(const Settings& settings, const std::string& lower, const std::string& pools,
              size_t mebibytes, Report& report) {
  const size_t count = (settings.quick ? 16 : 256) / mebibytes;
  DrainedFiles files(lower, pools, count, mebibytes * mib);
  const double blocks = static_cast<double>(mebibytes * mib / block);
  std::vector<double> for_a_block;
  std::vector<double> evicting;
  std::vector<double> looking;
  for (int round = 0; round < (settings.quick ? 3 : 20); ++round) {
    files.stage();
    looking.push_back(files.look());
    evicting.push_back(files.evict());
    for_a_block.push_back((evicting.back() - looking.back()) / blocks);
  }
  Row row;
  row.group = "evicted";
  row.what = "4 KiB of a file of " + std::to_string(mebibytes) + " MiB";
  row.against = "its look at the disk apart";
  row.measured = bootstrap_median(for_a_block);
  row.unit = Unit::nanoseconds;
  row.bar = Bar::at_most(1000);
  row.ours_ns = median_of(evicting);
  row.limit_ns = median_of(looking);
  row.pairs = for_a_block.size();
  report.add(std::move(row));
}

}  // namespace

void add_evictions(const Settings& settings, const std::string& lower, const std::string& pools,
                   Report& report) {
  for (const size_t mebibytes : {1, 16}) add_size(settings, lower, pools, mebibytes, report);
}

}  // namespace cairn::bench
