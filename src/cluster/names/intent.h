// Undertaking: what a process does with names under the lock under which they change. The lock's
// keeper knows it, so that somebody else can finish it if that process is killed: then it is done
// on all nodes, or on none.
//
// Finishing does no harm where it was finished before, or had not been begun: each is done by its
// process's own node first, which tells whether it was.
#pragma once

#include <string>

#include "cluster/local/local_entry.h"
#include "cluster/local/name_op.h"

namespace cairn::cluster {

enum class UndertakingKind : uint32_t {
  nothing,
  making,              // of what has no bytes
  setting_attributes,  // of that
  removing_directory,
  removing,     // of anything else that all nodes know
  claiming,     // names.h
  renaming,     // of what has no bytes (rename_intent.h)
  moving_file,  // of the process's own node to another name
};
struct Undertaking {
  UndertakingKind doing = UndertakingKind::nothing;
  NameChange change = {};  // on that process's node
  uint32_t node = 0;       // which that is
  file::Seen seen = {};    // removing, moving_file: what had the name
  Uuid renaming = {};      // the note
};

std::string packed(const Undertaking& undertaking);
// The lock is held, which was that process's. A failure: names must not change before this is
// finished. What cannot be finished otherwise stays as it is.
Status finish(Job& job, const std::string& packed_undertaking);

}  // namespace cairn::cluster
