// Run: the processes from one init to their end, on this node. A process is a member of it from
// begin() on, until end() or its death.
#pragma once

#include <functional>
#include <memory>

#include "checkpoint/version/run_words.h"
#include "pool/seats.h"

namespace cairn::checkpoint {

// Who begins a run.
struct RunMember {
  Uuid key{};  // the same for all ranks of this run, and for nobody else now
  uint32_t rank = 0;
  uint32_t ranks = 1;
  uint32_t timeout_ms = 60'000;  // for the others to come
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
  [[nodiscard]] SetFile& set() const { return set_; }
  [[nodiscard]] const RunWords& words() const { return words_; }
  [[nodiscard]] Uuid uuid() const;
  [[nodiscard]] uint64_t last_sequence() const {
    return words_.run(RunWords::last_sequence).load();
  }

  // Has the rank left or died? Its lane is recovered then.
  [[nodiscard]] bool is_gone(uint32_t rank) const;
  // Does `work` under the lock of the set, which is void with its owner.
  Status locked(const std::function<Status()>& work) const;

  // What all ranks do together.
  enum class Purpose : uint8_t { agree = 1, restart = 2, leave = 3 };
  // The values of all ranks are there: what they come to. Called once, under the lock, by whichever
  // rank comes last.
  using Evaluate = std::function<int64_t()>;
  // Waits until all ranks have met for this purpose and returns what `evaluate` said. `arrived`:
  // the sequence at which this rank last arrived. EINVAL: another rank does something else.
  // EOWNERDEAD.
  Result<int64_t> meet(Purpose purpose, int64_t value, uint64_t arrived, const Evaluate& evaluate);
  // The greatest value of all ranks, as an evaluation.
  [[nodiscard]] int64_t greatest() const;
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
  [[nodiscard]] Status look_at_absent(uint32_t rank, uint64_t arrived) const;
  [[nodiscard]] Status look_at_meeting(Purpose purpose, uint64_t arrived, bool* all_here) const;
  [[nodiscard]] pool::Pool& pool() const { return set_.fs().pool; }
  [[nodiscard]] Uuid uuid_at(unsigned i) const;
  void store_uuid(unsigned i, const Uuid& uuid);

  SetFile& set_;
  RunWords words_;
  RunMember member_;
  Settle settle_;
  uint64_t meetings_ = 0;
  bool is_member_ = false;
};

}  // namespace cairn::checkpoint
