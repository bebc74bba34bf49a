// Fresh writes (into holes below a size that is set) and appends, volatile, against copying into
// the pages that were filled last, their lines taken out of the caches before; each begins with
// caches that are full of other data. Into the pages of another file would be simpler, but pages
// differ: a virtual machine's are small ones of its host in some places and large ones in others,
// which halves the speed of whole parts of a pool.
//
// Two states of the free space: blocks of a populated pool that nobody has used yet, which are
// known to hold zeros, and blocks that another file gave back, which are not.
#include <fcntl.h>

#include <memory>

#include "core/rows.h"
#include "harness/contest.h"
#include "harness/copy_limits.h"
#include "harness/pools.h"

namespace cairn::bench {
namespace {

constexpr size_t slice = Settings::slice;

enum class Space { unused, recycled };

// A pool with a file that is filled slice by slice, then made anew.
class FreshStage {
 public:
  FreshStage(const Settings& settings, const Medium& medium, Space space, int flags)
      : settings_(settings),
        path_(medium.path("pool")),
        space_(space),
        flags_(flags),
        others_(settings.cache),
        buffer_(make_buffer(size_t{1} << 20)) {
    make_pool();
    if (space == Space::recycled) {
      fill_file(fresh_, file_size());
      empty();
    }
  }
  FreshStage(const FreshStage&) = delete;
  FreshStage& operator=(const FreshStage&) = delete;

  void before_round(size_t round) {
    if (round == 0 || round % settings_.slices() != 0) return;
    if (space_ == Space::unused)
      make_pool();
    else
      empty();
  }
  // The file, and the part of it that is filled next.
  [[nodiscard]] cairn_file* fresh() const { return fresh_; }
  uint64_t next() {
    others_.fill_caches();
    return last_ += slice;
  }
  // The extents that the limits copy to.
  [[nodiscard]] std::vector<Extent> target() {
    std::vector<Extent> extents = extents_of(fresh_, last_, slice);
    evict(extents);
    others_.fill_caches();
    return extents;
  }
  [[nodiscard]] const uint8_t* buffer() const { return buffer_; }

 private:
  // A slice more than is measured in a lap: the one that the first limit may have before anything
  // is measured.
  [[nodiscard]] size_t file_size() const { return settings_.working_set + slice; }

  void make_pool() {
    attached_.reset();
    own_.reset();
    own_ = std::make_unique<OwnPool>(path_, PoolShape{.size = file_size() + (size_t{64} << 20)});
    attached_ = std::make_unique<Attached>(own_->path());
    fresh_ = attached_->open("fresh", flags_);
    must(cairn_pool_populate(attached_->pool(), nullptr, nullptr), "cairn_pool_populate");
    begin_lap();
  }

  void empty() {
    must(cairn_ftruncate(fresh_, 0), "cairn_ftruncate");
    begin_lap();
  }

  void begin_lap() {
    fill_file(fresh_, slice);
    if ((flags_ & O_APPEND) == 0) must(cairn_ftruncate(fresh_, file_size()), "cairn_ftruncate");
    last_ = 0;
  }

  const Settings& settings_;
  std::string path_;
  Space space_;
  int flags_;
  OtherData others_;
  const uint8_t* buffer_;
  std::unique_ptr<OwnPool> own_;
  std::unique_ptr<Attached> attached_;
  cairn_file* fresh_ = nullptr;
  uint64_t last_ = 0;
};

double append_pieces(cairn_file* file, const uint8_t* source, size_t piece) {
  const double begin = now_ns();
  for (size_t done = 0; done < slice; done += piece) {
    if (cairn_write(file, source, piece) != static_cast<ssize_t>(piece)) [[unlikely]]
      must(-EIO, "cairn_write");
  }
  return now_ns() - begin;
}

using BarOf = Bar (*)(size_t piece);

Bar unused_bar(size_t piece) {
  return Bar::at_least(piece <= 256 ? 0.35 : piece <= 4096 ? 0.90 : 0.95);
}

// Blocks that another file gave back hold its bytes, and a small piece clears the rest of its
// block. The bars leave room below what is measured: they guard against a loss, and promise no
// gain.
Bar recycled_bar(size_t piece) {
  return Bar::at_least(piece <= 256 ? 0.25 : piece <= 4096 ? 0.60 : piece <= 32768 ? 0.80 : 0.85);
}

Bar no_bar(size_t) { return {}; }

void rows(const Settings& settings, const Medium& medium, Report& report, const std::string& group,
          Space space, bool append, BarOf bar_of) {
  if (!settings.wants(group)) return;
  for (const size_t piece : settings.pieces) {
    FreshStage stage(settings, medium, space, append ? O_APPEND : 0);
    Contest contest;
    contest.before_round([&](size_t round) { stage.before_round(round); });
    const size_t ours = contest.add("C API", [&](size_t) {
      const uint64_t at = stage.next();
      return append ? append_pieces(stage.fresh(), stage.buffer(), piece)
                    : cairn_write_pieces(stage.fresh(), stage.buffer(), piece, at, slice);
    });
    const size_t copied = contest.add(
        "memcpy", [&](size_t) { return copy_pieces(stage.target(), stage.buffer(), piece); });
    const size_t streamed = contest.add("non-temporal copy + sfence", [&](size_t) {
      return stream_pieces(stage.target(), stage.buffer(), piece);
    });
    Row row = contest.judge(settings, ours, {copied, streamed}, slice / piece, bar_of(piece));
    row.group = group;
    row.what = size_name(piece);
    report.add(std::move(row));
  }
}

}  // namespace

void fresh_rows(const Settings& settings, const Medium& medium, Report& report) {
  rows(settings, medium, report, "fresh write, volatile", Space::unused, false, unused_bar);
  rows(settings, medium, report, "fresh write into recycled blocks, volatile", Space::recycled,
       false, recycled_bar);
}

void append_rows(const Settings& settings, const Medium& medium, Report& report) {
  rows(settings, medium, report, "append, volatile", Space::unused, true, no_bar);
}

}  // namespace cairn::bench
