// Run: the processes between a common init and their end. A process is a member from begin() until
// end() or its death. Ranks of one node share words; if the run has several nodes, their leaders
// exchange the results.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>

#include "checkpoint/run/exchange.h"
#include "checkpoint/run/run_words.h"
#include "pool/lanes/seats.h"

namespace cairn::checkpoint {

// The parameters of a process that begins a run.
struct RunMember {
  Uuid key{};                    // the same for all ranks of this run, and for no other run now
  uint32_t rank = 0;             // among those of this node
  uint32_t ranks = 1;            // of this node
  uint32_t timeout_ms = 60'000;  // time for the others to arrive
  uint64_t launcher = 0;         // launcher_of() its `cairn run`
  // These describe a run on several nodes. `numbers`: the ranks of this node in the job, ascending.
  Exchange* exchange = nullptr;
  std::vector<uint32_t> numbers;
  uint32_t all_ranks = 0;
};

class Run {
 public:
  // Performs the steps that are due between two runs, under the lock of the set, and returns the
  // greatest sequence ever used.
  using Prepare = std::function<Result<uint64_t>()>;

  // Waits until all ranks are there. EBUSY: another run uses the set. ETIMEDOUT, EOWNERDEAD: ranks
  // did not come, or were killed meanwhile. All ranks get the error with which `prepare` fails.
  static Result<std::unique_ptr<Run>> begin(SetFile& set, const RunMember& member,
                                            const Prepare& prepare);
  // The first half of begin(): enters this process. The caller then calls wait() until the run is
  // running.
  static Result<std::unique_ptr<Run>> enter(SetFile& set, const RunMember& member,
                                            const Prepare& prepare);
  Status wait();

  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  [[nodiscard]] uint32_t rank() const { return member_.rank; }
  [[nodiscard]] uint32_t ranks() const { return member_.ranks; }
  // Returns the rank's number in the job.
  [[nodiscard]] uint32_t number_of(uint32_t rank) const {
    return exchange() == nullptr ? rank : member_.numbers[rank];
  }
  [[nodiscard]] uint32_t number() const { return number_of(rank()); }
  // Returns true if a rank of the job is one of this node.
  [[nodiscard]] bool is_here(uint32_t number) const {
    return exchange() == nullptr ||
           std::binary_search(member_.numbers.begin(), member_.numbers.end(), number);
  }
  [[nodiscard]] uint32_t all_ranks() const {
    return exchange() == nullptr ? ranks() : member_.all_ranks;
  }
  // Returns the numbers of this node's ranks.
  [[nodiscard]] std::vector<uint32_t> numbers() const;
  // Returns null if the run has one node.
  [[nodiscard]] Exchange* exchange() const { return member_.exchange; }
  [[nodiscard]] bool is_leader() const { return rank() == 0; }
  [[nodiscard]] uint32_t node() const { return exchange() == nullptr ? 0 : exchange()->node(); }
  [[nodiscard]] uint32_t nodes() const { return exchange() == nullptr ? 1 : exchange()->nodes(); }
  [[nodiscard]] SetFile& set() const { return set_; }
  [[nodiscard]] const RunWords& words() const { return words_; }
  [[nodiscard]] Uuid uuid() const;
  // Returns the greatest sequence that was used before this run.
  [[nodiscard]] uint64_t last_sequence() const {
    const uint64_t here = exchange() == nullptr ? words_.run(RunWords::last_sequence).load() : 0;
    return std::max(here, last_sequence_);
  }
  // Sets the greatest sequence of all nodes, and of lower; called on all ranks.
  void set_last_sequence(uint64_t sequence) { last_sequence_ = sequence; }

  // Returns true if the rank has left or died; its lane is recovered then.
  [[nodiscard]] bool is_gone(uint32_t rank) const;
  // Runs `work` under the lock of the set. The lock is void when its owner dies.
  Status locked(const std::function<Status()>& work) const;

  // The occasions on which all ranks meet.
  enum class Purpose : uint8_t { agree = 1, restart = 2, leave = 3, exit = 4, copy = 5, drop = 6 };
  // Evaluates the values of all ranks. The last rank to arrive calls it once, under the lock.
  using Evaluate = std::function<int64_t()>;
  // Waits until all ranks have met for this purpose and returns the result of `evaluate`.
  // `arrived`: the sequence at which this rank last arrived. EINVAL: another rank meets for another
  // purpose. EOWNERDEAD.
  Result<int64_t> barrier_reduce(Purpose purpose, int64_t value, uint64_t arrived,
                                 const Evaluate& evaluate);
  // All ranks of all nodes: returns the greatest of their values. With several nodes, no version is
  // being decided meanwhile.
  Result<int64_t> barrier_max(Purpose purpose, int64_t value, uint64_t arrived);
  // Evaluates to the greatest value of all ranks of this node.
  [[nodiscard]] int64_t greatest() const;
  // Number of meetings this rank has entered. Equal on all ranks outside a meeting.
  [[nodiscard]] uint64_t meetings() const { return meetings_; }
  // Returns a rank's value in the meeting in progress.
  [[nodiscard]] int64_t value_of(uint32_t rank) const {
    return static_cast<int64_t>(words_.member(rank, RunWords::said).load());
  }

  // Leaves the run. The last member calls `clean` under the lock.
  Status end(const std::function<Status()>& clean);

 private:
  Run(SetFile& set, const RunMember& member, const Prepare& prepare)
      : set_(set), member_(member), prepare_(prepare) {}
  Status join();
  Status prepare_if_complete();
  Status check_others() const;
  void clear();
  Status missing(int error) const;
  void come_to_meeting(Purpose purpose, int64_t value);
  Result<int64_t> barrier_max_nodes(Purpose purpose, int64_t value, uint64_t arrived);
  Status tell_nodes(Purpose purpose, const Status& own);
  Result<int64_t> result_of_nodes();
  [[nodiscard]] Status look_at_absent(uint32_t rank, uint64_t arrived) const;
  [[nodiscard]] Status look_at_meeting(Purpose purpose, uint64_t arrived, bool* all_here) const;
  [[nodiscard]] pool::Pool& pool() const { return set_.fs().pool; }
  void store_uuid(unsigned i, const Uuid& uuid);

  SetFile& set_;
  RunWords words_;
  RunMember member_;
  Prepare prepare_;
  uint64_t meetings_ = 0;
  uint64_t last_sequence_ = 0;
  bool is_member_ = false;
};

}  // namespace cairn::checkpoint
