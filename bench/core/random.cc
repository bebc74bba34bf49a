// Random order over the whole working set: shown, not judged.
#include <random>

#include "core/rows.h"
#include "harness/contest.h"
#include "harness/copy_limits.h"
#include "harness/pools.h"

namespace cairn::bench {
namespace {

constexpr size_t block = 4096;

// The targets of a round's calls: offsets for the C API, addresses for the limits.
struct Plan {
  std::vector<uint64_t> offsets;
  std::vector<uint8_t*> addresses;

  // Draws places whose piece lies in one run of blocks; false if such places are rare.
  [[nodiscard]] bool draw(std::mt19937_64& random, size_t calls, size_t size, size_t piece,
                          const std::vector<uint8_t*>& blocks) {
    offsets.clear();
    addresses.clear();
    for (size_t tries = 0; offsets.size() < calls && tries < 100 * calls + 1000; ++tries) {
      const uint64_t at = random() % (size / piece) * piece;
      uint8_t* const first = blocks[at / block];
      const size_t last = (at + piece - 1) / block;
      if (blocks[last] != first + (last - at / block) * block) continue;
      offsets.push_back(at);
      addresses.push_back(first + at % block);
    }
    return offsets.size() == calls;
  }
};

double write_at_offsets(cairn_file* file, const uint8_t* source, size_t piece, const Plan& plan) {
  const double begin = now_ns();
  for (const uint64_t at : plan.offsets)
    must(cairn_pwrite(file, source, piece, at), "cairn_pwrite");
  return now_ns() - begin;
}

double read_at_offsets(cairn_file* file, uint8_t* to, size_t piece, const Plan& plan) {
  const double begin = now_ns();
  for (const uint64_t at : plan.offsets) must(cairn_pread(file, to, piece, at), "cairn_pread");
  return now_ns() - begin;
}

// The address of each block of a file.
std::vector<uint8_t*> blocks_of(const std::vector<Extent>& extents) {
  std::vector<uint8_t*> blocks;
  for (const Extent& extent : extents) {
    for (size_t at = 0; at < extent.size; at += block) blocks.push_back(extent.data + at);
  }
  return blocks;
}

}  // namespace

void random_rows(const Settings& settings, const Medium& medium, Report& report) {
  const std::string group = "random order, volatile";
  if (!settings.wants(group)) return;
  const OwnPool own(medium.path("pool"), {.size = settings.working_set + (size_t{64} << 20)});
  const Attached attached(own.path());
  cairn_file* file = attached.open("file");
  uint8_t* buffer = make_buffer(size_t{1} << 20);
  fill_file(file, settings.working_set);
  must(cairn_pool_populate(attached.pool(), nullptr, nullptr), "cairn_pool_populate");
  const std::vector<uint8_t*> blocks = blocks_of(extents_of(file, 0, settings.working_set));
  std::mt19937_64 random(7);
  for (const bool writing : {true, false}) {
    for (const size_t piece : settings.pieces) {
      const size_t calls = Settings::slice / 2 / piece;
      Plan ours_plan;
      Plan copy_plan;
      Plan stream_plan;
      Contest contest;
      bool drawn = true;
      contest.before_round([&](size_t) {
        for (Plan* plan : {&ours_plan, &copy_plan, &stream_plan})
          drawn = plan->draw(random, calls, settings.working_set, piece, blocks) && drawn;
      });
      const size_t ours = contest.add("C API", [&](size_t) {
        return writing ? write_at_offsets(file, buffer, piece, ours_plan)
                       : read_at_offsets(file, buffer, piece, ours_plan);
      });
      std::vector<size_t> limits{contest.add("memcpy", [&](size_t) {
        return writing ? copy_at(copy_plan.addresses, buffer, piece)
                       : read_at(copy_plan.addresses, buffer, piece);
      })};
      if (writing) {
        limits.push_back(contest.add("non-temporal copy + sfence", [&](size_t) {
          return stream_at(stream_plan.addresses, buffer, piece);
        }));
      }
      Row row = contest.judge(settings, ours, limits, calls, Bar());
      if (!drawn) {
        report.skip(group, size_name(piece), "the file's blocks are scattered");
        continue;
      }
      row.group = group;
      row.what = std::string(writing ? "overwrite " : "read ") + size_name(piece);
      report.add(std::move(row));
    }
  }
}

}  // namespace cairn::bench
