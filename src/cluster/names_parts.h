// What changes of names on all nodes are made of (names.cc, made_files.cc, renamed.cc).
#pragma once

#include <functional>
#include <string>

#include "cluster/ask.h"
#include "cluster/elsewhere.h"
#include "cluster/job.h"
#include "cluster/name_change.h"
#include "cluster/spot.h"
#include "cluster/undertaking.h"

namespace cairn::cluster {

using Step = std::function<Status()>;

// One at a time in the job: call(), under the lock under which names change. What somebody who was
// killed with it had undertaken is finished before.
Status one_at_a_time(Job& job, const Undertaking& undertaking, const Step& call);
// Of what is one step.
Status one_at_a_time(Job& job, const std::string& path, const Step& call);
// Asks these nodes, of which this is none; those where something has changed go to `changed`.
Status change_on(const Job& job, const NodeNumbers& nodes, const NameChange& change,
                 NodeNumbers* changed);
// `change` on all nodes but this one.
Status on_others(const Job& job, const NameChange& change);
// here() first, then `there` on the others; where these cannot, `undo` takes it back.
Status everywhere_after(Job& job, const Step& here, const NameChange& there,
                        const NameChange& undo);
// The same where it is a change here as well.
Status everywhere(Job& job, const NameChange& here, const NameChange& there,
                  const NameChange& undo);
// Directories that were here before the job began need not be on the others: makes those above
// `path` there.
Status make_parents(Job& job, const std::string& path);
// Takes the lock: here() makes a name on this node, `there` on the others, with the directories
// above it.
Status make_everywhere(Job& job, const Step& here, const NameChange& there, NameOp removal);

// Has any of these nodes a file of the name?
Result<bool> has_file(const Job& job, const NodeNumbers& nodes, const std::string& path);
// Under the lock. EEXIST: a node has something of the name, or it is a shared file's.
Status check_free(Job& job, const std::string& path);
// The same; then rename() gives the name to a file of node *holder (`nodes()`: to a shared file),
// where nothing may have it, and back() takes it away again if another node has made it meanwhile.
Status rename_if_free(Job& job, const std::string& path, const uint32_t* holder, const Step& rename,
                      const Step& back);

// Other nodes' pools have the name too: what has no bytes, or what they know from the covered
// directory.
bool is_on_others(const Spot& spot);
// Under the lock: whether another node has a file of the name; 0 or 1.
Result<int> is_elsewhere(Job& job, const std::string& path);

}  // namespace cairn::cluster
