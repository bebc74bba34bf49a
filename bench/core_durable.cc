// durability=write on a medium that is treated as one of cache-line granularity: each write is flushed
// and fenced as on persistent memory, against libpmem doing the same to the same pages.
#include <memory>

#include "contest.h"
#include "copy_limits.h"
#include "core_rows.h"
#include "pools.h"

namespace cairn::bench {
namespace {

constexpr size_t slice = Settings::slice;
constexpr uint32_t cache_line = 3;  // cairn_pool_options::granularity

class DurableStage {
 public:
  DurableStage(const Settings& settings, const Medium& medium)
      : settings_(settings), path_(medium.path("pool")), buffer_(make_buffer(size_t{1} << 20)) {
    make();
  }
  void make() {
    attached_.reset();
    own_.reset();
    own_ = std::make_unique<OwnPool>(
        path_, PoolShape{.size = settings_.working_set + full_size() + (size_t{96} << 20),
                         .granularity = cache_line});
    attached_ = std::make_unique<Attached>(own_->path());
    must(cairn_pool_set_durability(attached_->pool(), CAIRN_DURABILITY_WRITE), "durability");
    full_ = attached_->open("full");
    fill_file(full_, full_size());
    cairn_file* words = attached_->open("words");
    fill_file(words, words_size);
    fresh_ = attached_->open("fresh");
    must(cairn_ftruncate(fresh_, settings_.working_set), "cairn_ftruncate");
    must(cairn_pool_populate(attached_->pool(), nullptr, nullptr), "cairn_pool_populate");
    extents_ = extents_of(full_, 0, full_size());
    words_ = reinterpret_cast<uint64_t*>(extents_of(words, 0, words_size)[0].data);
  }
  [[nodiscard]] std::vector<Extent> target(size_t turn) const {
    return part_of(extents_, overwritten(turn), slice);
  }
  [[nodiscard]] uint64_t overwritten(size_t turn) const {
    return turn % (full_size() / slice) * slice;
  }
  [[nodiscard]] uint64_t filled(size_t round) const { return round % settings_.slices() * slice; }

  const Settings& settings_;
  std::string path_;
  const uint8_t* buffer_;
  std::unique_ptr<OwnPool> own_;
  std::unique_ptr<Attached> attached_;
  cairn_file* full_ = nullptr;
  cairn_file* fresh_ = nullptr;
  uint64_t* words_ = nullptr;

 private:
  // One word for each piece of a slice, all of them in one contiguous run.
  static constexpr size_t words_size = slice / 256 * sizeof(uint64_t);
  [[nodiscard]] size_t full_size() const { return settings_.working_set / 2; }
  std::vector<Extent> extents_;
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
  for (const size_t piece : settings.pieces) {
    if (!settings.wants(fresh_group)) break;
    DurableStage stage(settings, medium);
    Contest contest;
    contest.before_round([&](size_t round) {
      if (round != 0 && round % settings.slices() == 0) stage.make();
    });
    const size_t ours = contest.add("C API", [&](size_t round) {
      return cairn_write_pieces(stage.fresh_, stage.buffer_, piece, stage.filled(round), slice);
    });
    const size_t limit = contest.add("pmem_memcpy_persist, + a word", [&](size_t) {
      return persist_pieces(stage.target(contest.turn()), stage.buffer_, piece, stage.words_);
    });
    add_row(
        report,
        contest.judge(settings, ours, {limit}, static_cast<double>(slice / piece), bar_for(piece)),
        fresh_group, piece);
  }
  if (!settings.wants(over_group)) return;
  DurableStage stage(settings, medium);
  for (const size_t piece : settings.pieces) {
    Contest contest;
    const size_t ours = contest.add("C API", [&](size_t) {
      return cairn_write_pieces(stage.full_, stage.buffer_, piece,
                                stage.overwritten(contest.turn()), slice);
    });
    const size_t limit = contest.add("pmem_memcpy_persist", [&](size_t) {
      return persist_pieces(stage.target(contest.turn()), stage.buffer_, piece, nullptr);
    });
    add_row(
        report,
        contest.judge(settings, ours, {limit}, static_cast<double>(slice / piece), bar_for(piece)),
        over_group, piece);
  }
}

}  // namespace cairn::bench
