// Intent says what a process does with names while it holds the lock under which names change. The
// lock's keeper knows it. If that process is killed, another one finishes the change: then all
// nodes have it, or none.
//
// Finishing a change twice, or one that was not begun, does no harm. The process's own node makes
// the change first, so its pool tells whether it was begun.
#pragma once

#include <string>

#include "cluster/local/local_entry.h"
#include "cluster/local/name_op.h"

namespace cairn::cluster {

enum class IntentKind : uint32_t {
  nothing,
  making,              // of what has no bytes
  setting_attributes,  // of that
  removing_directory,
  removing,     // of anything else that all nodes know
  claiming,     // names.h
  renaming,     // of what has no bytes (rename_intent.h)
  moving_file,  // of the process's own node to another name
};
struct Intent {
  IntentKind doing = IntentKind::nothing;
  NameChange change = {};  // on that process's node
  uint32_t node = 0;       // which that is
  file::Seen seen = {};    // removing, moving_file: what had the name
  Uuid renaming = {};      // the note
};

std::string packed(const Intent& intent);
// The lock is held, which was that process's. A failure: names must not change before this is
// finished. What cannot be finished otherwise stays as it is.
Status finish(Job& job, const std::string& packed_intent);

}  // namespace cairn::cluster
