// JoinedRun: a run with all of its processes. It joins them, on several nodes makes their pools use
// one set, and reads which versions they have together.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "checkpoint/run/membership.h"
#include "checkpoint/session/partner_copies.h"
#include "checkpoint/versions/part_questions.h"
#include "checkpoint/versions/set_view.h"

namespace cairn::checkpoint {

struct JoinOrder {
  std::string set;
  file::FileSystem* fs = nullptr;  // null: this process has no pool
  MemberOptions member;
  std::string lower;  // the directory of copies; empty: there is none
  CopyWishes copies;
};

class JoinedRun {
 public:
  // `view` stays where it is.
  explicit JoinedRun(SetView* view) : view_(*view) {}
  // Leaves the transport, unless keep() was called. A transport that keep() has kept and end() has
  // not left stays until the program's MPI ends, and answers that nothing is there.
  ~JoinedRun();
  JoinedRun(const JoinedRun&) = delete;
  JoinedRun& operator=(const JoinedRun&) = delete;

  // Joins the run and opens the view. Collective. `transport`: null if the program has none. `own`:
  // the failure of this process so far. Afterwards the view has the versions of all nodes.
  Status open(const JoinOrder& order, std::unique_ptr<RunTransport> transport, Status own);
  // Keeps the transport of several nodes for the whole run.
  void keep();
  // Ends the run; the last process removes what the set no longer uses. `leaves`: all ranks call
  // this, so that they can leave the transport.
  Status end(bool leaves);

  // These are valid once the run is open.
  [[nodiscard]] Run* run() const { return run_.get(); }
  [[nodiscard]] bool has_nodes() const { return run_->exchange() != nullptr; }
  // Returns the nodes that hold the copies of versions.
  [[nodiscard]] const Partners& partners() const { return partners_; }

 private:
  Status agree_on_nodes(const JoinOrder& order, Uuid* uuid);
  Status enter(const JoinOrder& order, Uuid uuid);
  Status read_versions();

  SetView& view_;
  std::unique_ptr<Membership> membership_;  // null: the run has begun, or has not been joined
  std::unique_ptr<RunTransport> transport_;
  std::optional<PartServer> server_;
  std::unique_ptr<Run> run_;
  Partners partners_;
};

}  // namespace cairn::checkpoint
