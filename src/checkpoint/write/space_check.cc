#include "checkpoint/write/space_check.h"

#include <algorithm>
#include <cstdio>

#include "checkpoint/record/text.h"
#include "file/inode/reclaim.h"
#include "format/layout.h"
#include "pool/space/space.h"

namespace cairn::checkpoint {

uint64_t bytes_of_version(const Regions& regions, uint64_t block_bytes) {
  uint64_t bytes = 0;
  for (const uint64_t one : regions.bytes) bytes += bytes_with_list(one, block_bytes);
  return bytes;
}

namespace {

uint64_t bytes_of(const Definition& definition, uint32_t rank) {
  const bool is_stored = definition.distribution().stores(rank);
  // A box without a volume is refused when ranks agree.
  const uint64_t elements = is_stored ? volume(definition.box).value_or(0) : 0;
  uint64_t bytes = 0;
  return __builtin_mul_overflow(elements, definition.place.view.element_size(), &bytes) ? UINT64_MAX
                                                                                        : bytes;
}

}  // namespace

uint64_t bytes_of_rank(const Definitions& definitions, const std::string& name,
                       const Definition& added, uint32_t rank) {
  uint64_t sum = bytes_of(added, rank);
  for (const auto& [its_name, definition] : definitions.all())
    if (its_name != name && __builtin_add_overflow(sum, bytes_of(definition, rank), &sum))
      return UINT64_MAX;
  return sum;
}

uint64_t bytes_of_pool(const pool::Pool& pool) {
  pool.see_growth().ignore();  // a failure leaves the size that was seen before
  uint64_t blocks = 0;
  for (uint64_t i = 0; i < pool.segments.load(); ++i) blocks += pool.segment[i]->blocks;
  return blocks * format::block_size;
}

Status check_space(const pool::Pool& pool, uint64_t bytes, const std::string& what) {
  const uint64_t there = bytes_of_pool(pool);
  if (bytes <= there) return Status();
  return fail(ENOSPC, "%s: %s, and the pool %s has %s; make it larger (cairn pool grow)",
              what.c_str(), shown_bytes(bytes).c_str(), pool.path.c_str(),
              shown_bytes(there).c_str());
}

std::string shown_bytes(uint64_t bytes) {
  constexpr uint64_t step = 1024;
  const char* unit = "bytes";
  double value = static_cast<double>(bytes);
  for (const char* const next : {"KiB", "MiB", "GiB", "TiB", "PiB"}) {
    if (value < step) break;
    value /= step;
    unit = next;
  }
  char text[32];
  std::snprintf(text, sizeof text, bytes < step ? "%.0f %s" : "%.1f %s", value, unit);
  return text;
}

void warn_of_space(const pool::Pool& pool, const std::string& variable, const LoopNeeds& needs) {
  const uint32_t versions = needs.keep + (needs.copies_in_background ? 2 : 1);
  const uint64_t there = bytes_of_pool(pool);
  if (needs.bytes <= there / versions) return;
  fail(ENOSPC,
       "warning: variable '%s': a version takes %s of this host if its %u ranks define as much as "
       "this one; checkpoints in a loop need room for %u versions (options.keep is %u), and the "
       "pool %s has %s; make it larger (cairn pool grow), or keep fewer versions",
       shown_text(variable).c_str(), shown_bytes(needs.bytes).c_str(), needs.ranks, versions,
       needs.keep, pool.path.c_str(), shown_bytes(there).c_str())
      .ignore();
}

std::string shown_space(file::FileSystem& fs, uint64_t bytes, bool has_counted, uint32_t keep) {
  // Space that unlink and truncate left behind counts as free.
  if (!fs.pool.read_only) file::reclaim_withheld(fs);
  const pool::Usage usage = pool::usage(fs.pool);
  const uint64_t taken = usage.usable - std::min(usage.free, usage.usable);
  const uint64_t used = taken - std::min(file::count_withheld(fs), taken);
  return "a version takes " + shown_bytes(bytes) + " of this host's pool " + fs.pool.path +
         (has_counted ? ", and more for what each rank counts" : "") + "; it has " +
         shown_bytes(usage.usable * format::block_size) + ", " +
         shown_bytes((usage.usable - used) * format::block_size) +
         " of them free, and options.keep is " + std::to_string(keep) +
         ": make it larger (cairn pool grow), or keep fewer versions";
}

}  // namespace cairn::checkpoint
