#include "checkpoint/session/level_observer.h"

#include <algorithm>

namespace cairn::checkpoint {

LevelObserver::LevelObserver(Writer* writer, SetView* view, VersionLevels* levels,
                             bool copies_in_background, ProgressOf progress_of)
    : writer_(*writer),
      view_(*view),
      levels_(*levels),
      copies_in_background_(copies_in_background),
      progress_of_(std::move(progress_of)),
      staged_(writer->sequence()),
      decided_(writer->sequence()),
      global_(writer->sequence()) {}

void LevelObserver::set(Callback callback) {
  tell();
  callback_ = std::move(callback);
}

void LevelObserver::tell_about(uint64_t sequence, bool is_decided) {
  const Outcome* const outcome = writer_.outcome(sequence);
  if (outcome != nullptr && callback_)
    callback_(sequence, outcome->number, progress_of_(sequence, is_decided));
}

void LevelObserver::tell() {
  if (!callback_) {
    staged_ = decided_ = global_ = writer_.sequence();
    return;
  }
  while (staged_ < writer_.sequence()) tell_about(++staged_, false);
  while (decided_ < writer_.sequence()) {
    const auto is_decided = writer_.test(decided_ + 1);
    if (is_decided.ok() && !*is_decided) return;
    tell_about(++decided_, true);
    if (levels_.is_global(decided_)) global_ = decided_;  // that was told with it
  }
  if (!copies_in_background_) return;
  const auto& versions = view_.catalogue()->versions();
  for (auto known = versions.rbegin(); known != versions.rend(); ++known) {
    const uint64_t sequence = known->version.sequence;
    if (sequence <= global_) return;
    if (!levels_.is_global(sequence)) continue;
    global_ = sequence;
    tell_about(sequence, true);
  }
}

void LevelObserver::tell_of_partners(uint64_t sequence) { tell_about(sequence, true); }

void LevelObserver::tell_of_global(uint64_t sequence) {
  if (!callback_ || writer_.outcome(sequence) == nullptr) return;
  tell_about(sequence, true);
  global_ = std::max(global_, sequence);
}

}  // namespace cairn::checkpoint
