// Membership: finds out which processes a run has, from the program's transport or from options.
#pragma once

#include <memory>
#include <string>

#include "checkpoint/run/run.h"
#include "checkpoint/run/run_transport.h"

namespace cairn::checkpoint {

// The options of a program without a transport, whose ranks are processes of one node.
struct MemberOptions {
  uint32_t rank = 0;
  uint32_t ranks = 0;       // 0 and 1: this process alone
  std::string job;          // a text that these ranks have and no others now
  uint32_t timeout_ms = 0;  // time for the other ranks to arrive; 0: 60 s
};

class Membership {
 public:
  // Joins the ranks that use the set. Collective. `transport`: null if the program has none. `own`:
  // the failure of this process so far; all ranks fail if one of them has failed. With a transport
  // all ranks get the same errors. EINVAL: they name different sets.
  static Result<std::unique_ptr<Membership>> join(const std::string& set,
                                                  std::unique_ptr<RunTransport> transport,
                                                  const MemberOptions& options, Status own);
  // Leaves the transport, unless take_nodes() has taken it. Collective.
  ~Membership();
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  [[nodiscard]] const RunMember& member() const { return member_; }
  // Returns the transport of a run on several nodes; null: it has one node.
  [[nodiscard]] RunTransport* nodes() const {
    return member_.exchange == nullptr ? nullptr : transport_.get();
  }
  // Hands over what nodes() returns.
  std::unique_ptr<RunTransport> take_nodes();
  // Makes an error of any rank one of all ranks. Collective with a transport.
  Status agree(Status own);

 private:
  Membership() = default;
  Status join_nodes();
  Status join_transport(const std::string& set, Status own);
  Status read_options(const MemberOptions& options);

  std::unique_ptr<RunTransport> transport_;
  RunMember member_;
};

}  // namespace cairn::checkpoint
