// PartnerCopies: the copies of a run's versions in the pools of other nodes, for level PARTNER.
#pragma once

#include <optional>
#include <string>

#include "checkpoint/run/membership.h"
#include "checkpoint/session/level_observer.h"
#include "checkpoint/versions/set_view.h"
#include "checkpoint/write/partners.h"
#include "checkpoint/write/writer.h"

namespace cairn::checkpoint {

// The copies that a program asks for; the same on all ranks of a run.
struct CopyWishes {
  bool wants_partners = false;
  std::string lower;  // the directory of copies and the rules of copying to it, as one text
};

// Finds out which node holds whose copies. Collective over all ranks of several nodes. The failure
// domain of a node is its setting checkpoint.domain, or else its host. EINVAL: ranks differ in what
// they wish.
Result<Partners> agree_on_partners(Membership* members, const CopyWishes& wishes);

class PartnerCopies {
 public:
  // `is_wanted`: the program has asked for copies. The objects stay where they are.
  PartnerCopies(Run* run, SetView* view, Writer* writer, LevelObserver* observer, bool is_wanted)
      : run_(*run), view_(*view), writer_(*writer), observer_(*observer), is_wanted_(is_wanted) {}

  // Returns true if each version is to get copies, and nodes hold them.
  [[nodiscard]] bool are_made() const { return is_wanted_ && has_holders(); }
  // Returns EINVAL if the program has not asked for copies. EOPNOTSUPP: no node can hold them; the
  // text says why.
  [[nodiscard]] Status check() const;
  // Returns the error that keeps a committed version from having copies; 0: none.
  [[nodiscard]] int error_of(const Outcome& outcome) const;

  // Makes all nodes copy what they are to hold of the version. Collective.
  Status copy(uint64_t sequence);
  // Does the same for the newest version that this run has committed, if there is one.
  Status copy_last();

 private:
  [[nodiscard]] bool has_holders() const { return !writer_.partners().holders.empty(); }

  Run& run_;
  SetView& view_;
  Writer& writer_;
  LevelObserver& observer_;
  const bool is_wanted_;
};

}  // namespace cairn::checkpoint
