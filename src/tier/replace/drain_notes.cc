#include "tier/replace/drain_notes.h"

#include <sys/stat.h>

#include "file/inode/attributes.h"
#include "tier/changes/changes.h"
#include "tier/record/locate.h"

namespace cairn::tier {

Status remember(DrainState& state, const DrainDirectory& where, const std::string& name,
                const file::Witness* witness) {
  if (where.map.inode->generation.load() != where.generation) return Status(ENOENT);
  return set_witness(state.fs, where.map, name, witness);
}

void announce_links(DrainState& state, const sys::FileStat& st) {
  constexpr uint64_t second = 1'000'000'000;
  if (S_ISDIR(st.st_mode) || st.st_nlink < 2 ||
      file::now_ns() + 5 * second < state.journal.links_until())
    return;
  // If this fails and the drain is killed, later removals are more careful than they need be.
  state.journal.announce_links(file::now_ns() + 10 * second).ignore();
}

void note_unknown_entry(DrainState& state, uint64_t directory) {
  climb(state.fs, directory, [&](uint64_t inode, uint64_t* newest) {
    state.dirs_with_unknown_entries.insert(inode);
    *newest = newest_unknown;
    return true;
  }).ignore();  // this drain removes no directory that was removed meanwhile
}

}  // namespace cairn::tier
