// LowerDirectory is a directory of lower in which a drain works.
#pragma once

#include <optional>
#include <vector>

#include "file/inode/attributes.h"
#include "tier/record/attributes.h"
#include "tier/replace/drain_state.h"

namespace cairn::tier {

// The directory is opened when something is to be done in it.
class LowerDirectory {
 public:
  LowerDirectory(DrainState& state, const DrainDirectory& where) : state_(state), where_(where) {}
  // Returns the descriptor or -errno. -ESTALE: another directory has its place.
  int64_t fd();
  // Called before names in it change. The pool then remembers that the directory's own times are to
  // be set again, and that changes in it during the next seconds are the drain's. The owner may
  // write to it then. Returns the descriptor or -errno.
  int64_t touch();
  // The access list of new files. Another user's default list counts only if the pool noted it when
  // it listed the directory: a later one would let others in.
  const NewFileList& list_of_new();
  // Makes the changes durable.
  Status sync();
  // Notes a file that was marked as drained before its name was durable. A volatile pool may do
  // that, because a power loss takes the mark as well. If sync() fails, it removes the mark.
  void note_marked(const file::Map& map) { marked_.push_back(map); }
  [[nodiscard]] bool touched() const { return touched_; }

 private:
  DrainState& state_;
  const DrainDirectory& where_;
  sys::Descriptor fd_;
  bool touched_ = false;
  std::optional<NewFileList> list_of_new_;
  uint64_t ours_until_ = 0;
  std::vector<file::Map> marked_;
};

// A name of the pool that a drain works on, and where it belongs in lower.
struct DrainName {
  DrainState& state;
  const DrainDirectory& where;
  LowerDirectory& lower;
  const file::Listed& listed;
  const file::Map& map;
};

// If the pool has given a directory another owner, does so in lower, and removes the access lists
// that the former owner may have set: new files would get them.
void take_over(DrainState& state, const DrainDirectory& where, int directory);
// Computes the rights that a directory in lower (`st`) gets by the end of the drain. False: there
// is no seat.
bool wanted_rights(DrainState& state, const DrainDirectory& where, const sys::FileStat& st,
                   file::Attributes* wanted);

}  // namespace cairn::tier
