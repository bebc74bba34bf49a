#include "checkpoint/session/level_observer.h"

#include <vector>

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
      untold_(writer->sequence()) {}

void LevelObserver::set(Callback callback) {
  tell();
  callback_ = std::move(callback);
}

void LevelObserver::tell_about(uint64_t sequence, bool is_decided) {
  const Outcome* const outcome = writer_.outcome(sequence);
  if (outcome == nullptr || !callback_) return;
  const LevelProgress progress = progress_of_(sequence, is_decided);
  if (progress.level == VersionLevel::global) {
    const auto& versions = view_.catalogue()->versions();  // not empty: it has this one
    told_global_.erase(told_global_.begin(),
                       told_global_.lower_bound(versions.front().version.sequence));
    told_global_.insert(sequence);
  }
  callback_(sequence, outcome->number, progress);
}

void LevelObserver::tell() {
  if (!callback_) {
    staged_ = decided_ = untold_ = writer_.sequence();
    return;
  }
  while (staged_ < writer_.sequence()) tell_about(++staged_, false);
  while (decided_ < writer_.sequence()) {
    const auto is_decided = writer_.test(decided_ + 1);
    if (is_decided.ok() && !*is_decided) break;
    tell_about(++decided_, true);
  }
  if (copies_in_background_) tell_of_background();
}

// Tells of the copies that the thread has made since the last call, the oldest version first.
void LevelObserver::tell_of_background() {
  std::vector<uint64_t> made;
  for (const KnownVersion& known : view_.catalogue()->versions()) {
    const uint64_t sequence = known.version.sequence;
    if (sequence <= untold_ || sequence > decided_ || told_global_.contains(sequence)) continue;
    if (levels_.is_global(sequence)) made.push_back(sequence);
  }
  for (const uint64_t sequence : made) tell_about(sequence, true);
}

void LevelObserver::tell_of_partners(uint64_t sequence) { tell_about(sequence, true); }

void LevelObserver::tell_of_global(uint64_t sequence) {
  if (!told_global_.contains(sequence)) tell_about(sequence, true);
}

}  // namespace cairn::checkpoint
