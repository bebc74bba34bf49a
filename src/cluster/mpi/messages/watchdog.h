// Watchdog guards one wait of a process for the others of a communicator. The process calls look()
// between two looks at what it waits for. look() asks after the ranks that this process would hear
// from, and ends the job when one of them is gone (collectives.h says when).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cluster/mpi/messages/rpc_client.h"
#include "cluster/mpi/messages/waiting.h"

namespace cairn::mpi {

class Watchdog {
 public:
  Watchdog(const Peers& peers, MPI_Comm comm, const char* phase);
  // Waits for answers that are under way.
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  void look();

 private:
  // A node that is asked after some of its ranks.
  struct Inquiry {
    uint32_t node;
    std::vector<int32_t> ranks;
    std::vector<char> states;
  };
  [[nodiscard]] std::vector<int> neighbours() const;
  void inquire();
  void take(uint32_t node, int rank, char state);
  void take_answers();
  [[noreturn]] void give_up(const std::string& who) const;

  const Peers& peers_;
  MPI_Comm comm_;
  const char* phase_;
  uint64_t began_ns_;
  Deadline due_;
  std::vector<Inquiry> inquiries_;
  std::vector<cairn_question> questions_;
  std::unique_ptr<Call> call_;
  std::vector<int> stopped_;      // ranks that stood still when they were last looked at
  std::vector<int> was_stopped_;  // and the time before
};

}  // namespace cairn::mpi
