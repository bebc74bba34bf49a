// durability=write on a medium that is treated as one of cache-line granularity: each write is
// flushed and fenced as on persistent memory, against libpmem doing the same to the same pages.
#include <memory>

#include "core/rows.h"
#include "harness/contest.h"
#include "harness/copy_limits.h"
#include "harness/pools.h"

namespace cairn::bench {
namespace {

constexpr size_t slice = Settings::slice;
constexpr uint32_t cache_line = 3;  // cairn_pool_options::granularity

class DurablePool {
 public:
  DurablePool(const std::string& path, size_t size)
      : own_(path, PoolShape{.size = size + (size_t{96} << 20), .granularity = cache_line}),
        attached_(own_.path()) {
    must(cairn_pool_set_durability(attached_.pool(), CAIRN_DURABILITY_WRITE), "durability");
  }
  [[nodiscard]] cairn_pool* pool() const { return attached_.pool(); }
  // A file of `size` bytes, all written.
  [[nodiscard]] cairn_file* full(const char* name, size_t size) const {
    cairn_file* file = attached_.open(name);
    fill_file(file, size);
    return file;
  }

 private:
  OwnPool own_;
  Attached attached_;
};

// A file that is filled slice by slice, then made anew (why the limit copies to the slice that was
// filled last: fresh.cc), and words for what libpmem writes behind each piece.
class FreshStage {
 public:
  FreshStage(const Settings& settings, const Medium& medium)
      : size_(settings.working_set + slice), path_(medium.path("pool")), others_(settings.cache) {
    make();
  }
  void make() {
    pool_.reset();
    pool_ = std::make_unique<DurablePool>(path_, size_);
    words_ = reinterpret_cast<uint64_t*>(
        extents_of(pool_->full("words", words_size), 0, words_size)[0].data);
    file_ = pool_->full("fresh", slice);
    must(cairn_ftruncate(file_, size_), "cairn_ftruncate");
    last_ = 0;
    must(cairn_pool_populate(pool_->pool(), nullptr, nullptr), "cairn_pool_populate");
  }
  [[nodiscard]] cairn_file* file() const { return file_; }
  uint64_t next() {
    others_.fill_caches();
    return last_ += slice;
  }
  [[nodiscard]] std::vector<Extent> target() {
    std::vector<Extent> extents = extents_of(file_, last_, slice);
    evict(extents);
    others_.fill_caches();
    return extents;
  }
  [[nodiscard]] uint64_t* words() const { return words_; }

 private:
  // One word for each piece of a slice, all of them in one contiguous run.
  static constexpr size_t words_size = slice / 256 * sizeof(uint64_t);
  size_t size_;
  std::string path_;
  OtherData others_;
  std::unique_ptr<DurablePool> pool_;
  cairn_file* file_ = nullptr;
  uint64_t last_ = 0;
  uint64_t* words_ = nullptr;
};

void add_row(Report& report, Row row, const std::string& group, size_t piece) {
  row.group = group;
  row.what = size_name(piece);
  report.add(std::move(row));
}

Bar bar_for(size_t piece) {
  return Bar::at_least(piece <= 256 ? 0.70 : piece <= 4096 ? 0.85 : 0.95);
}

}  // namespace

void durable_rows(const Settings& settings, const Medium& medium, Report& report) {
  const std::string fresh_group = "fresh write, durability=write, cache line";
  const std::string over_group = "overwrite, durability=write, cache line";
  if (!settings.wants(fresh_group) && !settings.wants(over_group)) return;
  if (!has_pmem()) {
    report.skip(fresh_group, "all", "built without libpmem");
    return;
  }
  const uint8_t* buffer = make_buffer(size_t{1} << 20);
  for (const size_t piece : settings.pieces) {
    if (!settings.wants(fresh_group)) break;
    FreshStage stage(settings, medium);
    Contest contest;
    contest.before_round([&](size_t round) {
      if (round != 0 && round % settings.slices() == 0) stage.make();
    });
    const size_t ours = contest.add("C API", [&](size_t) {
      const uint64_t at = stage.next();
      return cairn_write_pieces(stage.file(), buffer, piece, at, slice);
    });
    const size_t limit = contest.add("pmem_memcpy_persist, + a word", [&](size_t) {
      return persist_pieces(stage.target(), buffer, piece, stage.words());
    });
    add_row(report, contest.judge(settings, ours, {limit}, slice / piece, bar_for(piece)),
            fresh_group, piece);
  }
  if (!settings.wants(over_group)) return;
  const DurablePool pool(medium.path("pool"), settings.working_set);
  cairn_file* full = pool.full("full", settings.working_set);
  const std::vector<Extent> extents = extents_of(full, 0, settings.working_set);
  for (const size_t piece : settings.pieces) {
    Contest contest;
    const auto at = [&] { return contest.turn() % settings.slices() * slice; };
    const size_t ours = contest.add(
        "C API", [&](size_t) { return cairn_write_pieces(full, buffer, piece, at(), slice); });
    const size_t limit = contest.add("pmem_memcpy_persist", [&](size_t) {
      return persist_pieces(part_of(extents, at(), slice), buffer, piece, nullptr);
    });
    add_row(report, contest.judge(settings, ours, {limit}, slice / piece, bar_for(piece)),
            over_group, piece);
  }
}

}  // namespace cairn::bench
