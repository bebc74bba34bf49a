// Which processes a context belongs to, as the program's MPI or the options say it.
#pragma once

#include <memory>

#include "cairn/checkpoint.h"
#include "capi/context/transport_exchange.h"
#include "checkpoint/run/run.h"

namespace cairn::capi {

class Membership {
 public:
  // Collective. `own`: what this process has met so far; if it is not ok, all fail. With MPI all
  // ranks get the same errors, as EINVAL if they name different sets. `pool`: this process's, or
  // null if it has none.
  static Result<std::unique_ptr<Membership>> join(const std::string& set, int communicator,
                                                  const cairn_checkpoint_options& options,
                                                  cairn_pool* pool, Status own);
  ~Membership();
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  [[nodiscard]] const checkpoint::RunMember& member() const { return member_; }
  // What a run on several nodes needs from now on; null: it has one.
  [[nodiscard]] TransportExchange* nodes() const {
    return member_.exchange == nullptr ? nullptr : transport_.get();
  }
  std::unique_ptr<TransportExchange> take_nodes();
  // Collective with MPI: an error of any rank is one of all.
  Status agree(Status own);

 private:
  Membership() = default;
  Status join_nodes();
  Status join_mpi(const std::string& set, int communicator, cairn_pool* pool, Status own);
  Status read_options(const cairn_checkpoint_options& options);

  std::unique_ptr<TransportExchange> transport_;
  checkpoint::RunMember member_;
};

}  // namespace cairn::capi
