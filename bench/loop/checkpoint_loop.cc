#include "loop/checkpoint_loop.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <cstdio>

#include "harness/free_memory.h"
#include "harness/pools.h"

namespace cairn::bench {
namespace {

constexpr const char* large_pages = "2 MiB pages";

// Ratios to the fastest of `limits`, one for each round.
Row ratio_row(const LoopResult& result, const std::vector<LoopTimes>& limits,
              std::vector<double> LoopTimes::* times, double bar, Unit unit) {
  const auto fastest = std::min_element(
      limits.begin(), limits.end(), [times](const LoopTimes& a, const LoopTimes& b) {
        return median_of(a.*times) < median_of(b.*times);
      });
  const std::vector<double>& ours = result.ours.*times;
  const std::vector<double>& limit = (*fastest).*times;
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(ours.size(), limit.size()); ++i)
    ratios.push_back(limit[i] / ours[i]);
  Row row;
  row.group = result.group;
  row.what = result.what;
  row.against = fastest->name;
  row.measured = bootstrap_median(ratios);
  if (bar > 0) row.bar = Bar::at_least(bar);
  row.unit = unit;
  const auto calls = static_cast<double>(result.calls);
  row.ours_ns = median_of(ours) / calls;
  row.limit_ns = median_of(limit) / calls;
  row.pairs = ratios.size();
  return row;
}

double gib_per_second(size_t bytes, double nanoseconds) {
  return static_cast<double>(bytes) / (1 << 30) / (nanoseconds / 1e9);
}

// The row's times per call as GiB/s; nothing for rows that are not about bytes.
std::string speeds(const LoopResult& result, const Row& row) {
  if (result.bytes == 0) return {};
  const auto calls = static_cast<double>(result.calls);
  char text[64];
  std::snprintf(text, sizeof text, "%.2f against %.2f GiB/s",
                gib_per_second(result.bytes, row.ours_ns * calls),
                gib_per_second(result.bytes, row.limit_ns * calls));
  return text;
}

}  // namespace

std::vector<LoopMedium> loop_media(const Settings& settings, const Medium& huge,
                                   const Medium& shm) {
  std::vector<LoopMedium> media;
  if (huge.ok() && huge.has_large_pages()) media.push_back({&huge, large_pages, large_page_bars});
  if (settings.medium != "huge") media.push_back({&shm, "/dev/shm", small_page_bars});
  return media;
}

void measure_loop(const Settings& settings, const Medium& huge,
                  const std::vector<LoopGroup>& groups, Report& report) {
  std::vector<const LoopGroup*> wanted;
  for (const LoopGroup& group : groups)
    if (settings.wants(group.name)) wanted.push_back(&group);
  if (wanted.empty()) return;
  if (!huge.ok())
    report.skip(std::string(checkpoint_loop) + ", " + large_pages, "all", huge.why());
  if (!settings.quick) report.fact("free memory that was touched before", touch_free_memory());
  for (const LoopGroup* group : wanted) group->measure(group->name);
}

std::string why_no_room(const Medium& medium, size_t bytes, size_t mapped) {
  struct statvfs file_system = {};
  must_posix(statvfs(medium.directory().c_str(), &file_system), medium.directory().c_str());
  // `cairn run` makes a pool of half of what is free. Two checkpoints must fit into it, and two
  // into the plain files: the last one is there until the next one is renamed over it.
  const size_t slack = bytes / 5 + (size_t{64} << 20);
  const size_t needed = 4 * bytes + 2 * mapped + slack;
  const size_t free =
      std::min(static_cast<size_t>(file_system.f_bavail) * file_system.f_bsize, available_memory());
  if (free >= needed) return {};
  return std::to_string(needed >> 20) + " MiB of memory are needed, " + std::to_string(free >> 20) +
         " MiB are free";
}

std::vector<Row> steady_rows(const LoopResult& result, const LoopBars& bars) {
  std::vector<Row> rows;
  if (!result.copying.empty()) {
    rows.push_back(
        ratio_row(result, result.copying, &LoopTimes::wall, bars.of_copying, Unit::percent));
    rows.back().note = speeds(result, rows.back());
  }
  rows.push_back(ratio_row(result, result.plain, &LoopTimes::wall, bars.times_plain, Unit::times));
  rows.back().note = speeds(result, rows.back());
  rows.push_back(ratio_row(result, result.plain, &LoopTimes::processor, 0, Unit::times));
  rows.back().what += ", CPU";
  rows.back().note = "processor time of all processes";
  return rows;
}

Row held_row(const LoopResult& result, uint64_t held, size_t checkpoints, const LoopBars& bars) {
  const double share = static_cast<double>(held) / static_cast<double>(result.bytes);
  Row row;
  row.group = result.group;
  row.what = result.what + ", memory";
  row.against = "one checkpoint";
  row.measured = {share, share, share};
  if (bars.most_held > 0) row.bar = Bar::at_most(bars.most_held);
  row.unit = Unit::times;
  row.pairs = 1;
  row.note = "held by the pool's files after " + std::to_string(checkpoints) + " checkpoints";
  return row;
}

std::vector<Row> first_rows(const LoopResult& result, const LoopTimes& again,
                            const LoopBars& bars) {
  std::vector<Row> rows{
      ratio_row(result, result.plain, &LoopTimes::wall, bars.first_of_plain, Unit::percent)};
  rows.back().note = speeds(result, rows.back());
  LoopResult same = result;
  same.ours = result.plain.front();
  same.what += ", A/A";
  rows.push_back(ratio_row(same, {again}, &LoopTimes::wall, 0, Unit::percent));
  rows.back().note = "plain tmpfs against itself";
  return rows;
}

}  // namespace cairn::bench
