// Run: the processes from one init to their end. A process is a member of it from begin() on, until
// end() or its death. The words that it uses are those of this node's processes; where the run has
// several nodes, the leaders of the nodes exchange what these come to.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>

#include "checkpoint/run/exchange.h"
#include "checkpoint/run/run_words.h"
#include "pool/lanes/seats.h"

namespace cairn::checkpoint {

// Who begins a run.
struct RunMember {
  Uuid key{};                    // the same for all ranks of this run, and for nobody else now
  uint32_t rank = 0;             // among those of this node
  uint32_t ranks = 1;            // of this node
  uint32_t timeout_ms = 60'000;  // for the others to come
  uint64_t launcher = 0;         // launcher_of() its `cairn run`
  // Of a run on several nodes. `numbers`: the ranks of this node in the job, ascending.
  Exchange* exchange = nullptr;
  std::vector<uint32_t> numbers;
  uint32_t all_ranks = 0;
};

class Run {
 public:
  // Does what is due between two runs, under the lock of the set, and returns the greatest sequence
  // that was ever used.
  using Settle = std::function<Result<uint64_t>()>;

  // Waits until all ranks are there. EBUSY: another run uses the set. ETIMEDOUT, EOWNERDEAD: ranks
  // did not come, or were killed meanwhile. What `settle` fails with, all ranks get.
  static Result<std::unique_ptr<Run>> begin(SetFile& set, const RunMember& member,
                                            const Settle& settle);
  // The first half: enters this process. Then wait() until the run is running.
  static Result<std::unique_ptr<Run>> enter(SetFile& set, const RunMember& member,
                                            const Settle& settle);
  Status wait();

  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  [[nodiscard]] uint32_t rank() const { return member_.rank; }
  [[nodiscard]] uint32_t ranks() const { return member_.ranks; }
  // In the job.
  [[nodiscard]] uint32_t number_of(uint32_t rank) const {
    return exchange() == nullptr ? rank : member_.numbers[rank];
  }
  [[nodiscard]] uint32_t number() const { return number_of(rank()); }
  // Is a rank of the job one of this node?
  [[nodiscard]] bool is_here(uint32_t number) const {
    return exchange() == nullptr ||
           std::binary_search(member_.numbers.begin(), member_.numbers.end(), number);
  }
  [[nodiscard]] uint32_t all_ranks() const {
    return exchange() == nullptr ? ranks() : member_.all_ranks;
  }
  // The numbers of this node's ranks.
  [[nodiscard]] std::vector<uint32_t> numbers() const;
  // Null: the run has one node.
  [[nodiscard]] Exchange* exchange() const { return member_.exchange; }
  [[nodiscard]] bool is_leader() const { return rank() == 0; }
  [[nodiscard]] uint32_t node() const { return exchange() == nullptr ? 0 : exchange()->node(); }
  [[nodiscard]] uint32_t nodes() const { return exchange() == nullptr ? 1 : exchange()->nodes(); }
  [[nodiscard]] SetFile& set() const { return set_; }
  [[nodiscard]] const RunWords& words() const { return words_; }
  [[nodiscard]] Uuid uuid() const;
  // The greatest sequence that was used before this run.
  [[nodiscard]] uint64_t last_sequence() const {
    const uint64_t here = exchange() == nullptr ? words_.run(RunWords::last_sequence).load() : 0;
    return std::max(here, last_sequence_);
  }
  // Of all nodes, and of lower; on all ranks.
  void set_last_sequence(uint64_t sequence) { last_sequence_ = sequence; }

  // Has the rank left or died? Its lane is recovered then.
  [[nodiscard]] bool is_gone(uint32_t rank) const;
  // Does `work` under the lock of the set, which is void with its owner.
  Status locked(const std::function<Status()>& work) const;

  // What all ranks do together.
  enum class Purpose : uint8_t { agree = 1, restart = 2, leave = 3, exit = 4, copy = 5, drop = 6 };
  // The values of all ranks are there: what they come to. Called once, under the lock, by whichever
  // rank comes last.
  using Evaluate = std::function<int64_t()>;
  // Waits until all ranks have met for this purpose and returns what `evaluate` said. `arrived`:
  // the sequence at which this rank last arrived. EINVAL: another rank does something else.
  // EOWNERDEAD.
  Result<int64_t> meet(Purpose purpose, int64_t value, uint64_t arrived, const Evaluate& evaluate);
  // All ranks of all nodes: the greatest of their values. With several nodes no version is being
  // decided meanwhile.
  Result<int64_t> meet_all(Purpose purpose, int64_t value, uint64_t arrived);
  // The greatest value of all ranks of this node, as an evaluation.
  [[nodiscard]] int64_t greatest() const;
  // That this rank has come to; the same on all ranks between two of them.
  [[nodiscard]] uint64_t meetings() const { return meetings_; }
  // A rank's value of the meeting in progress.
  [[nodiscard]] int64_t value_of(uint32_t rank) const {
    return static_cast<int64_t>(words_.member(rank, RunWords::said).load());
  }

  // Leaves. `clean` is called under the lock if this was the last member.
  Status end(const std::function<Status()>& clean);

 private:
  Run(SetFile& set, const RunMember& member, const Settle& settle)
      : set_(set), member_(member), settle_(settle) {}
  Status join();
  Status settle_if_complete();
  Status check_others() const;
  void clear();
  Status missing(int error) const;
  void come_to_meeting(Purpose purpose, int64_t value);
  Result<int64_t> meet_nodes(Purpose purpose, int64_t value, uint64_t arrived);
  Status tell_nodes(Purpose purpose, const Status& own);
  Result<int64_t> result_of_nodes();
  [[nodiscard]] Status look_at_absent(uint32_t rank, uint64_t arrived) const;
  [[nodiscard]] Status look_at_meeting(Purpose purpose, uint64_t arrived, bool* all_here) const;
  [[nodiscard]] pool::Pool& pool() const { return set_.fs().pool; }
  void store_uuid(unsigned i, const Uuid& uuid);

  SetFile& set_;
  RunWords words_;
  RunMember member_;
  Settle settle_;
  uint64_t meetings_ = 0;
  uint64_t last_sequence_ = 0;
  bool is_member_ = false;
};

}  // namespace cairn::checkpoint
