#include "runs/full_pool.h"

#include <fmt/format.h>

#include "text/error.h"
#include "text/output.h"

namespace cairn::cli {
namespace {

// Names the commands that make room in a full pool.
std::string how_to_make_room(const Pool& pool) {
  std::string text;
  for (const CoverEntry& cover : list_covers(pool))
    if (!cover.all_drained)
      text += fmt::format("{}`cairn drain {}` makes room ({})", text.empty() ? "" : ", ",
                          cover.directory, undrained_text(cover));
  return text.empty() ? fmt::format("`cairn pool grow {}` gives it more", pool.path()) : text;
}

// Ends the cover of the directory if everything is drained and no process uses it. That frees
// blocks that eviction cannot free.
bool end_drained(const Pool& pool, const std::string& directory) {
  const auto cover = cover_of(pool, directory);
  return cover && cover->all_drained && !cover->in_use && Cover::join(pool, directory).end();
}

}  // namespace

Cover open_with_room(const Pool& pool, const std::string& directory, bool drains,
                     const std::function<Cover()>& open) {
  const auto drain = [](const Pool& full, const std::string& of) {
    if (!cover_of(full, of)) return false;
    drain_left(full, of);
    return true;
  };
  using Step = bool (*)(const Pool&, const std::string&);
  for (const Step step : {Step(drain), Step(end_drained)}) {
    try {
      return open();
    } catch (const PoolFull& error) {
      if (!drains || !step(pool, directory)) fail("{}; {}", error.what(), how_to_make_room(pool));
    }
  }
  return open();
}

bool is_left_full(const Pool& pool, const std::string& directory) {
  constexpr uint64_t least_share = 8;
  const cairn_pool_info info = pool.info();
  if (info.usable - info.used > info.usable / least_share) return false;
  const auto cover = cover_of(pool, directory);
  return cover && !cover->all_drained && !cover->in_use;
}

void drain_left(const Pool& pool, const std::string& directory) {
  const auto left = cover_of(pool, directory);
  if (!left || left->all_drained) return;
  tell("cairn run: {}: an earlier run has left the pool {} full: {}; draining it first\n",
       directory, pool.path(), undrained_text(*left));
  const Cover::DrainResult result = Cover::join(pool, directory).drain();
  if (result.code != 0)
    tell("cairn run: {}: {}; {}\n", directory, result.error, drain_text(directory, result));
}

}  // namespace cairn::cli
