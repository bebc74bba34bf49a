// LevelObserver: tells the program when a version of this run reaches a level on this rank, or has
// failed. It tells each of them once, inside calls of the program.
#pragma once

#include <functional>
#include <set>

#include "checkpoint/session/version_levels.h"

namespace cairn::checkpoint {

class LevelObserver {
 public:
  using Callback =
      std::function<void(uint64_t sequence, int64_t number, const LevelProgress& progress)>;
  using ProgressOf = std::function<LevelProgress(uint64_t sequence, bool is_decided)>;

  // Versions that exist are not told. `copies_in_background`: a version may reach GLOBAL between
  // two calls. The objects stay where they are.
  LevelObserver(Writer* writer, SetView* view, VersionLevels* levels, bool copies_in_background,
                ProgressOf progress_of);

  // Sets the callback in place of the one before; empty: none.
  void set(Callback callback);
  // Tells what has become known since the last call.
  void tell();
  // Tells that the version has been copied to other nodes, or could not be.
  void tell_of_partners(uint64_t sequence);
  // Tells that the version has been copied to lower, unless it has told so.
  void tell_of_global(uint64_t sequence);

 private:
  void tell_about(uint64_t sequence, bool is_decided);
  void tell_of_background();

  Writer& writer_;
  SetView& view_;
  VersionLevels& levels_;
  const bool copies_in_background_;
  const ProgressOf progress_of_;
  Callback callback_;
  // The greatest sequences that were told.
  uint64_t staged_;
  uint64_t decided_;
  uint64_t untold_;  // copies of versions up to this one are not looked for
  std::set<uint64_t> told_global_;
};

}  // namespace cairn::checkpoint
