// Two processes at once: writing one file against both copying; one file against a file each, which
// would differ if overwriting or reading stored to a line that the other process uses.
#include <memory>

#include "core/rows.h"
#include "harness/contest.h"
#include "harness/copy_limits.h"
#include "harness/workers.h"

namespace cairn::bench {
namespace {

constexpr size_t slice = Settings::slice / 2;
constexpr size_t processes = 2;

enum Kind : size_t { write_shared, copy, stream, write_own, read_shared, read_own, kinds };

// Each process has half of the shared file, and a file of its own.
struct Plan {
  size_t half;  // bytes of the shared file that are one process's
  [[nodiscard]] size_t slices() const { return half / slice; }
  [[nodiscard]] uint64_t at(size_t turn) const { return turn % slices() * slice; }
};

Workers::Task make_worker(const std::string& path, Plan plan, size_t worker,
                          const std::vector<size_t>& pieces) {
  auto attached = std::make_shared<Attached>(path);
  cairn_file* shared = attached->open("shared");
  cairn_file* own = attached->open(worker == 0 ? "own0" : "own1");
  uint8_t* buffer = make_buffer(size_t{1} << 20);
  must(cairn_pool_populate(attached->pool(), nullptr, nullptr), "cairn_pool_populate");
  const uint64_t base = worker * plan.half;
  auto extents = extents_of(shared, base, plan.half);
  read_pieces(extents, buffer, size_t{1} << 20);
  // The attachment lives as long as the task.
  return [=, keep = attached](size_t task, size_t turn) {
    const size_t piece = pieces[task / kinds];
    switch (static_cast<Kind>(task % kinds)) {
      case write_shared:
        return cairn_write_pieces(shared, buffer, piece, base + plan.at(turn), slice);
      case copy:
        return copy_pieces(part_of(extents, plan.at(turn), slice), buffer, piece);
      case stream:
        return stream_pieces(part_of(extents, plan.at(turn), slice), buffer, piece);
      case write_own:
        return cairn_write_pieces(own, buffer, piece, plan.at(turn), slice);
      case read_shared:
        return cairn_read_pieces(shared, buffer, piece, base + plan.at(turn), slice);
      case read_own:
        return cairn_read_pieces(own, buffer, piece, plan.at(turn), slice);
      case kinds:
        break;
    }
    return 0.0;
  };
}

}  // namespace

void process_rows(const Settings& settings, const Medium& medium, Report& report) {
  const std::string copying = "two processes writing one file";
  const std::string apart = "two processes: one file against two";
  if (!settings.wants(copying) && !settings.wants(apart)) return;
  const Plan plan{settings.working_set / 2 / slice * slice};
  const OwnPool own(medium.path("pool"), {.size = 4 * plan.half + (size_t{96} << 20)});
  {
    const Attached attached(own.path());
    fill_file(attached.open("shared"), 2 * plan.half);
    fill_file(attached.open("own0"), plan.half);
    fill_file(attached.open("own1"), plan.half);
  }
  Workers workers(processes, [&](size_t worker) {
    return make_worker(own.path(), plan, worker, settings.pieces);
  });
  const auto work = [&](const Contest& contest, size_t i, Kind kind) {
    return [&workers, &contest, i, kind](size_t) {
      return workers.run(i * kinds + kind, contest.turn());
    };
  };
  const auto add = [&](Row row, const std::string& group, const std::string& what) {
    row.group = group;
    row.what = what;
    report.add(std::move(row));
  };
  for (size_t i = 0; i < settings.pieces.size() && settings.wants(copying); ++i) {
    const size_t piece = settings.pieces[i];
    Contest contest;
    const size_t ours = contest.add("C API", work(contest, i, write_shared));
    const size_t copied = contest.add("two processes, memcpy", work(contest, i, copy));
    const size_t streamed = contest.add("two processes, non-temporal", work(contest, i, stream));
    // 256 B has a lower bar of its own in one process; it is shown.
    add(contest.judge(settings, ours, {copied, streamed}, slice / piece,
                      piece <= 256 ? Bar() : Bar::at_least(0.90)),
        copying, size_name(piece));
  }
  if (!settings.wants(apart)) return;
  for (size_t i = 0; i < settings.pieces.size(); ++i) {
    const size_t piece = settings.pieces[i];
    for (const bool writing : {true, false}) {
      Contest contest;
      const size_t one =
          contest.add("one file", work(contest, i, writing ? write_shared : read_shared));
      const size_t two =
          contest.add("a file each", work(contest, i, writing ? write_own : read_own));
      // "As fast as": less than 5 % apart.
      add(contest.judge(settings, one, {two}, slice / piece, Bar::at_least(0.95)), apart,
          (writing ? "overwrite " : "read ") + size_name(piece));
    }
  }
}

}  // namespace cairn::bench
