// Writer: performs a rank's steps of a version: opens it with the others, stages its bytes,
// arrives, and learns the decision.
//
// Only wait() waits for a rank that is less than one version behind.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "checkpoint/define/agreement.h"
#include "checkpoint/versions/catalogue.h"
#include "checkpoint/write/commit_nodes.h"
#include "checkpoint/write/manifest_writer.h"
#include "checkpoint/write/retirement.h"
#include "checkpoint/write/version_words.h"

namespace cairn::checkpoint {

struct Outcome {
  bool is_committed = false;
  int error = 0;      // why it was aborted
  uint32_t rank = 0;  // the rank that the error belongs to
  std::string text;   // that rank's text, if this node knows it
  int64_t number = 0;
  uint64_t bytes = 0;  // of the node; of all nodes once decided
  uint64_t begun_ns = 0;
  uint64_t staged_ns = 0;  // monotonic; 0: not yet
  uint64_t local_ns = 0;
  uint64_t partner_ns = 0;
  int partner_error = 0;  // why it has no copies on other nodes
};

class Writer {
 public:
  // The objects `run`, `slot_cache` and `catalogue` stay where they are.
  Writer(Run* run, SlotCache* slot_cache, Catalogue* catalogue, Retention retention)
      : run_(*run),
        slot_cache_(*slot_cache),
        catalogue_(*catalogue),
        words_(*run),
        retirement_(run, slot_cache, catalogue, retention),
        sequence_(run->last_sequence()),
        decided_(run->last_sequence()),
        nodes_(run->exchange()) {}

  // Sets the lineage of the versions from now on.
  void continue_from(const Lineage& lineage) { lineage_ = lineage; }
  // Sets the nodes that hold the copies of parts, for versions from now on.
  void copy_to(Partners partners) { partners_ = std::move(partners); }
  [[nodiscard]] const Partners& partners() const { return partners_; }
  // Records, on all ranks, that all nodes hold their copies of the version, or `error`. `copies`:
  // of this node. Retires the versions that had copies before.
  void note_copies(uint64_t sequence, const std::vector<HeldCopy>& copies, int error);
  // Returns EPERM if the version stays, because a restart could need it: the newest one, the one
  // that the next continues, or the newest with copies on other nodes. All ranks get the same
  // result.
  [[nodiscard]] Status check_drop(uint64_t sequence) const;
  // Asks the leaders of several nodes whether their node still copies a version to lower. If none
  // does, `begin` receives the version that is committed then, on all leaders.
  struct Copying {
    std::function<bool()> is_busy;
    std::function<void(const KnownVersion&)> begin;
  };
  void copy_in_background(Copying copying) { copying_ = std::move(copying); }
  // Returns the object that retires versions and frees their slots.
  Retirement& retirement() { return retirement_; }

  // Stages this rank's bytes and arrives. Returns the sequence, also when this rank failed: see
  // status(). Waits for ranks that have not yet arrived at the version before.
  uint64_t write(const Agreed& agreed, const Definitions& definitions, const VersionFacts& facts);
  // Returns the error of this rank in the last write().
  [[nodiscard]] Status status() const { return status_; }
  [[nodiscard]] const std::string& text() const { return text_; }

  // Returns true if the version is decided. ENOENT: this run has no such version.
  Result<bool> test(uint64_t sequence);
  // Waits until the version is decided. ETIMEDOUT. A timeout of 0 means without end.
  Status wait(uint64_t sequence, uint64_t timeout_ns);
  // Waits until the last version of this run is decided, if it has one.
  Status wait_for_last();
  // Returns true if any rank has decided on the version. Any thread may ask.
  [[nodiscard]] bool is_over(uint64_t sequence) const { return words_.is_over(sequence); }
  // Returns null if the version is not decided, or not known any more.
  [[nodiscard]] const Outcome* outcome(uint64_t sequence) const;
  // Returns the longest time that one of the last three versions took to be committed; 0: unknown.
  [[nodiscard]] uint64_t recent_cost_ns() const;
  // Returns why the version was aborted, or "".
  [[nodiscard]] static std::string shown(const Outcome& outcome);

  // Returns the slot of the version at which this rank last arrived. ENOENT: it has none.
  Result<SlotIds> opened() const;
  // Returns the sequence at which this rank last arrived.
  [[nodiscard]] uint64_t sequence() const { return sequence_; }
  // Continues a version that several nodes are about to decide on, without waiting.
  Status advance();

 private:
  Status open(const Agreed& agreed, const VersionFacts& facts, Slot** slot);
  Status open_first(const Agreed& agreed, const VersionFacts& facts);
  Status take_slot(const Agreed& agreed, const VersionFacts& facts, Opening* opening);
  void arrive();
  Status decide(uint64_t sequence);
  Status commit(uint64_t sequence);
  void abort(uint64_t sequence, int error);
  [[nodiscard]] NodePrepared prepare(uint64_t sequence);
  Status prepare_own(uint64_t sequence, NodePrepared* prepared);
  void publish(uint64_t sequence, const NodesVerdict& verdict);
  void look_after_leader(uint64_t sequence);
  void give_up(const Status& why);
  // Learns the decision. `is_decider`: this rank decided, for its node.
  void learn(uint64_t sequence, bool is_decider);
  void learn_failure(uint64_t sequence, Outcome* outcome) const;

  Run& run_;
  SlotCache& slot_cache_;
  Catalogue& catalogue_;
  VersionWords words_;
  Retirement retirement_;
  Lineage lineage_;
  Partners partners_;
  uint64_t sequence_;
  Status status_;
  std::string text_;
  std::map<uint64_t, Outcome> outcomes_;
  uint64_t decided_;  // the last sequence whose result this rank knows
  CommitNodes nodes_;
  int lost_ = 0;              // errno that keeps this rank from learning of any version from now on
  uint32_t opened_slot_ = 0;  // of the version at which it last arrived; 0: none
  Copying copying_;
};

}  // namespace cairn::checkpoint
