// The checkpoint loop: a program writes one checkpoint after the other, each in place of the last
// one. It runs through the adapter in a pool that `cairn run` made, and is compared with itself on
// plain tmpfs and with copying into a warm mapping.
//
// Each contender is a program of its own. The wall clock times it, and its processor time is that
// of all its processes, so that work that is left to another thread or process counts.
#include <algorithm>

#include "core/rows.h"
#include "harness/contest.h"
#include "harness/fresh_place.h"
#include "harness/worker_program.h"
#include "loop/checkpoint_loop.h"
#include "loop/checkpoint_ways.h"
#include "loop/checkpoint_worker.h"

namespace cairn::bench {
namespace {

struct Shape {
  size_t size;  // bytes of one process's checkpoint
  size_t piece;
  size_t processes;
  bool judged;       // otherwise measured with --full only
  bool first_round;  // the first checkpoint in a fresh pool is measured, too
};

constexpr size_t kib = 1024;
constexpr size_t mib = 1024 * kib;
constexpr size_t gib = 1024 * mib;

std::vector<Shape> shapes(const Settings& settings) {
  std::vector<Shape> all;
  for (const size_t processes : {1, 2}) {
    const auto add = [&, processes](size_t size, size_t piece, bool judged, bool first_round) {
      if (judged || settings.full) all.push_back({size, piece, processes, judged, first_round});
    };
    if (settings.quick) {
      add(16 * mib, 32 * kib, true, true);
      continue;
    }
    add(4 * mib, 4 * kib, false, true);
    add(4 * mib, 32 * kib, false, true);
    add(4 * mib, mib, false, true);
    add(64 * mib, 4 * kib, false, true);
    add(64 * mib, 32 * kib, true, true);
    add(64 * mib, mib, true, true);
    add(gib, 4 * kib, false, false);
    add(gib, 32 * kib, false, false);
    // Fifteen fresh pools for two processes take longer than all other first rounds together.
    add(gib, mib, true, processes == 1 || settings.full);
  }
  return all;
}

std::string text_of(const Shape& shape) {
  return size_name(shape.size) + " in pieces of " + size_name(shape.piece) +
         (shape.processes == 1 ? ", one process" : ", two processes");
}

// A program with one kind of work in a contest, and the times of its rounds.
class Contender {
 public:
  Contender(const char* name, WorkerProgram& program, std::string work)
      : program_(program), work_(std::move(work)) {
    times_.name = name;
  }
  // Before anything is measured, or after.
  void work() { program_.run(work_); }
  // Adds itself to the contest; lives longer than that.
  void join(Contest& contest) {
    number_ = contest.add(times_.name, [this](size_t) {
      const WorkerProgram::Took took = program_.run(work_);
      times_.processor.push_back(took.processor_ns);
      return took.wall_ns;
    });
  }
  [[nodiscard]] LoopTimes times(const Contest& contest) const {
    LoopTimes times = times_;
    times.wall = contest.times(number_);
    return times;
  }

 private:
  WorkerProgram& program_;
  std::string work_;
  LoopTimes times_;
  size_t number_ = 0;
};

std::vector<std::string> worker_words(const FreshPlace& place, const Shape& shape) {
  return checkpoint_worker_words({place.directory(), shape.size, shape.piece, shape.processes});
}

size_t mapped_bytes(const Shape& shape) {
  return std::min(shape.size, largest_mapping) * shape.processes;
}

// Enough for a median and its interval; a checkpoint is longer than what pairs are counted for.
size_t rounds_of(const Settings& settings, const Shape& shape) {
  if (settings.quick) return 3;
  return std::max<size_t>(6, shape.size >= gib ? settings.pairs / 8 : settings.pairs / 4);
}

std::vector<Row> run_steady(Contest& contest, size_t rounds, const Contender& ours,
                            const Contender& plain, const std::vector<const Contender*>& copying,
                            LoopResult result, const LoopBars& bars) {
  contest.run(rounds);
  result.ours = ours.times(contest);
  result.plain = {plain.times(contest)};
  for (const Contender* one : copying) result.copying.push_back(one->times(contest));
  return steady_rows(result, bars);
}

void steady_state(const Settings& settings, const LoopMedium& on, const Shape& shape, Way way,
                  const std::string& group, Report& report) {
  const FreshPlace covered(*on.medium);
  const FreshPlace plain(*on.medium);
  WorkerProgram in_pool(covered.covered(worker_words(covered, shape)));
  WorkerProgram on_tmpfs(worker_words(plain, shape));
  WorkerProgram copier(worker_words(plain, shape));
  Contender ours("Cairn", in_pool, word_of(way));
  Contender theirs("plain tmpfs", on_tmpfs, word_of(way));
  Contender copied("memcpy, warm mapping", copier, "copy");
  Contender streamed("non-temporal copy, warm mapping", copier, "stream");
  Contest contest;
  for (Contender* contender : {&ours, &theirs, &copied, &streamed}) {
    for (size_t i = 0; i < warm_rounds; ++i) contender->work();
    contender->join(contest);
  }
  const LoopBars& bars = shape.judged ? on.bars : no_bars;
  const LoopResult result{.group = group,
                          .what = name_of(way),
                          .bytes = shape.size * shape.processes,
                          .calls = shape.size / shape.piece};
  const size_t rounds = rounds_of(settings, shape);
  std::vector<Row> rows =
      run_steady(contest, rounds, ours, theirs, {&copied, &streamed}, result, bars);
  size_t written = warm_rounds + contest.rounds();
  // Writing this many for each row would take minutes; the other rows are read after the
  // checkpoints that were measured.
  if ((shape.size < gib && shape.piece == mib) || settings.full)
    for (; written < checkpoints_until_held; ++written) ours.work();
  rows.push_back(held_row(result, covered.held_by_pool(), written, bars));
  for (Row& row : rows) report.add(std::move(row));
}

// Each round has new places and new programs.
void first_round(const Settings& settings, const LoopMedium& on, const Shape& shape,
                 const std::string& group, Report& report) {
  const auto write_first = [&](bool is_covered) {
    const FreshPlace place(*on.medium);
    const std::vector<std::string> words = worker_words(place, shape);
    WorkerProgram program(is_covered ? place.covered(words) : words);
    return program.run(word_of(Way::truncate)).wall_ns;
  };
  Contest contest;
  const size_t ours = contest.add("Cairn", [&](size_t) { return write_first(true); });
  const size_t plain = contest.add("plain tmpfs", [&](size_t) { return write_first(false); });
  const size_t again =
      contest.add("plain tmpfs, again", [&](size_t) { return write_first(false); });
  const size_t rounds = settings.quick ? 2 : std::max(least_first_rounds, settings.pairs / 3);
  LoopResult result{.group = group,
                    .what = "first checkpoint",
                    .bytes = shape.size * shape.processes,
                    .calls = shape.size / shape.piece};
  const auto times = [&](size_t number) {
    return LoopTimes{contest.name(number), contest.times(number), {}};
  };
  contest.run(rounds);
  result.ours = times(ours);
  result.plain = {times(plain)};
  for (Row& row : first_rows(result, times(again), shape.judged ? on.bars : no_bars))
    report.add(std::move(row));
}

size_t small_files(const Settings& settings) { return settings.quick ? 500 : 10000; }

void small_file_rows(const Settings& settings, const LoopMedium& on, const std::string& group,
                     Report& report) {
  const size_t count = small_files(settings);
  const Shape shape{small_file_size, small_file_size, 1, true, false};
  LoopBars bars = no_bars;
  bars.times_plain = on.bars.small_files;
  for (const bool at_end : {false, true}) {
    // tmpfs with large pages takes one for each file: 20 GiB for ten thousand.
    if (at_end && on.medium->has_large_pages()) continue;
    const FreshPlace covered(*on.medium);
    const FreshPlace plain(*on.medium);
    WorkerProgram in_pool(covered.covered(worker_words(covered, shape)));
    WorkerProgram on_tmpfs(worker_words(plain, shape));
    const std::string work = (at_end ? "batch " : "files ") + std::to_string(count);
    Contender ours("Cairn", in_pool, work);
    Contender theirs("plain tmpfs", on_tmpfs, work);
    Contest contest;
    for (Contender* contender : {&ours, &theirs}) {
      contender->work();
      contender->join(contest);
    }
    const LoopResult result{
        .group = group, .what = at_end ? "in a batch" : "one by one", .calls = count};
    const size_t rounds = settings.quick ? 3 : std::max<size_t>(8, settings.pairs / 4);
    for (Row& row : run_steady(contest, rounds, ours, theirs, {}, result, bars))
      report.add(std::move(row));
  }
}

}  // namespace

void checkpoint_rows(const Settings& settings, const Medium& huge, const Medium& shm,
                     Report& report) {
  const std::vector<LoopMedium> media = loop_media(settings, huge, shm);
  std::vector<LoopGroup> groups;
  for (const LoopMedium& on : media) {
    const std::string begin = std::string(checkpoint_loop) + ", " + on.name + ", ";
    for (const Shape& shape : shapes(settings)) {
      groups.push_back({begin + text_of(shape), [&, shape](const std::string& group) {
                          const std::string missing = why_no_room(
                              *on.medium, shape.size * shape.processes, mapped_bytes(shape));
                          if (!missing.empty()) return report.skip(group, "all", missing);
                          for (const Way way : all_ways)
                            steady_state(settings, on, shape, way, group, report);
                          if (shape.first_round) first_round(settings, on, shape, group, report);
                        }});
    }
    groups.push_back(
        {begin + std::to_string(small_files(settings)) + " small files",
         [&](const std::string& group) { small_file_rows(settings, on, group, report); }});
  }
  measure_loop(settings, huge, groups, report);
}

}  // namespace cairn::bench
