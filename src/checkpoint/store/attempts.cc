#include "checkpoint/store/attempts.h"

#include <algorithm>

#include "base/crc32c_bulk.h"

namespace cairn::checkpoint {
namespace {

constexpr uint64_t count_mask = 0xffff;
constexpr uint64_t ended_from_outside = uint64_t{1} << 16;
constexpr uint64_t ended_by_itself = uint64_t{1} << 17;
constexpr unsigned run_shift = 32;

}  // namespace

uint32_t name_of_run(const Uuid& run) { return crc32c_bulk(0, run.data(), run.size()); }

bool has_counted(uint64_t word, uint32_t run) {
  return (word & count_mask) != 0 && word >> run_shift == run;
}

uint32_t attempts_in(uint64_t word) {
  const auto all = static_cast<uint32_t>(word & count_mask);
  const bool is_excused = (word & ended_from_outside) != 0 && (word & ended_by_itself) == 0;
  return all != 0 && is_excused ? all - 1 : all;
}

uint32_t attempts_before(uint64_t word, uint32_t run) {
  return has_counted(word, run) ? static_cast<uint32_t>(word & count_mask) - 1 : attempts_in(word);
}

void count_attempt(pool::Pool& pool, persist::Word* word, uint32_t run) {
  uint64_t held = word->load();
  uint64_t next = 0;
  do {
    if (has_counted(held, run)) return;
    next = uint64_t{run} << run_shift | std::min(uint64_t{attempts_in(held)} + 1, count_mask);
  } while (!pool.compare_exchange(*word, held, next));
  pool.flush(word, sizeof *word);
}

void note_end(pool::Pool& pool, persist::Word* word, uint32_t run, RunEnd end) {
  uint64_t held = word->load();
  const uint64_t bit = end == RunEnd::from_outside ? ended_from_outside : ended_by_itself;
  do {
    if (!has_counted(held, run) || (held & bit) != 0) return;
  } while (!pool.compare_exchange(*word, held, held | bit));
  pool.flush(word, sizeof *word);
}

}  // namespace cairn::checkpoint
