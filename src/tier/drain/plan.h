// Plan is the first walk of a drain, which changes nothing (drain.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "file/namespace/tree.h"
#include "tier/record/mode_of_lower.h"
#include "tier/replace/drain_state.h"
#include "tier/system/listing.h"

namespace cairn::tier {

// Plan lists what a drain would write.
struct Plan {
  struct PlannedFile {
    uint64_t size;
    uint64_t freed;                      // by what it replaces
    std::pair<uint64_t, uint64_t> name;  // as in DrainState::moved_from
    uint64_t inode;
    uint64_t changed;  // when
  };
  uint64_t bytes = 0;
  uint64_t count = 0;
  std::function<bool(const std::string& path, uint64_t bytes, bool is_older)> visit = {};
  std::vector<PlannedFile> files = {};  // only for a drain
  uint32_t modes = 0;                   // as Undrained has them
  std::string oldest = {};
  uint64_t oldest_time = 0;
  uint64_t left_out = 0;
  uint64_t renamed = 0;
  KeptBack kept_back = {};
};

// `state` null: for a caller that does not drain, and does not look in lower.
Status make_plan(file::FileSystem& fs, DrainState* state, const DrainDirectory& top, Plan* plan);
// If lower has too little room for what the plan would write, leaves out what does not fit
// (DrainState::without_room): the files that changed first have the room.
Status choose_what_fits(DrainState* state, Plan* plan);
// Checks that lower has room for so many bytes of a file, where it has not room for all. A drain
// while programs run tries each file again and again, and should not write so many bytes in vain.
Status check_room_for(const DrainState& state, uint64_t inode, uint64_t bytes, int directory,
                      const std::string& path);

DrainDirectory top_of(file::FileSystem& fs, const file::Map& map, const std::string& path);
// Does lower have a directory of the pool in its place?
bool has_place(const DrainDirectory& where, const file::Listed& listed, file::Inode* directory);
// Is there an undrained change below this directory of the pool?
Result<bool> has_undrained(file::FileSystem& fs, const DrainDirectory& top);

// Is there a name below `top` for which `found(where, listed, inode)` is true, or one that no drain
// can write? The inode is null if it is gone.
template <typename Found>
Result<bool> any_name(file::FileSystem& fs, const DrainDirectory& top, bool with_whiteouts,
                      Found found) {
  bool any = false;
  std::vector<DrainDirectory> directories = {top};
  file::Tree tree(fs, top.inode);
  while (!any && !directories.empty()) {
    const DrainDirectory where = std::move(directories.back());
    directories.pop_back();
    const auto visit = [&](const file::Listed& listed) -> Status {
      auto inode = file::live_inode(fs, listed.inode);
      file::Inode* at = inode.ok() ? *inode : nullptr;
      any = any || found(where, listed, at);
      if (at != nullptr && S_ISDIR(at->mode.load()) &&
          (at->flags.load() & format::flag_lazy) == 0) {
        CAIRN_TRY(tree.enter(where.map, listed));
        directories.push_back({listed.inode,
                               {at, listed.inode},
                               "",
                               false,
                               {},
                               drain_mode_in(fs, {at, listed.inode}, where.mode)});
      }
      return Status();
    };
    const Status status = for_each_name(fs, where.map, with_whiteouts, visit);
    if (status.code() == EUCLEAN)
      any = true;
    else
      CAIRN_TRY(status);
  }
  return any;
}

}  // namespace cairn::tier
