// What a cairn_checkpoint is.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cairn/checkpoint.h"
#include "capi/context/attributes.h"
#include "capi/context/excused_restart.h"
#include "capi/context/exit_watch.h"
#include "capi/context/membership.h"
#include "capi/context/transport_exchange.h"
#include "capi/core/handles.h"
#include "checkpoint/define/agreement.h"
#include "checkpoint/redundancy/background_drain.h"
#include "checkpoint/restart/counted_line.h"
#include "checkpoint/restart/restart.h"
#include "checkpoint/run/due_vote.h"
#include "checkpoint/sources/lower_line.h"
#include "checkpoint/sources/lower_set.h"
#include "checkpoint/versions/merged_inventory.h"
#include "checkpoint/versions/part_questions.h"
#include "checkpoint/versions/skipped.h"
#include "checkpoint/write/writer.h"

struct cairn_checkpoint {
 public:
  cairn_checkpoint() = default;
  ~cairn_checkpoint();
  cairn_checkpoint(const cairn_checkpoint&) = delete;
  cairn_checkpoint& operator=(const cairn_checkpoint&) = delete;

  // Opens the set and begins the run.
  cairn::Status open(const std::string& name, int communicator);
  // The last version is decided, on several nodes for all of them: a node that does not know yet
  // could not answer for its part.
  cairn::Status settle_on_nodes();
  // All ranks of several nodes are done with a step that reads parts of other nodes.
  cairn::Status barrier_max_nodes(cairn::Status own);
  cairn::Status close();
  // EFAULT; EINVAL: it only looks.
  [[nodiscard]] static cairn::Status check_runs(const cairn_checkpoint* checkpoint);

  // Contents that all ranks agree on; compared anew after definitions were changed. Waits for all
  // ranks then.
  cairn::Status agree_on_contents();
  [[nodiscard]] cairn::checkpoint::Restart restart();
  // The version of a number, or the latest, as the options want it.
  [[nodiscard]] cairn::checkpoint::RestartRequest request(int64_t version) const;
  // A version that this process reads by itself, valid until done_reading(). A context that looks
  // finds abandoned ones too.
  cairn::Result<cairn::checkpoint::StoredVersion*> begin_reading(int64_t version);
  // A context that looks keeps the version from being retired until it reads another one.
  void done_reading() {
    if (run) forget_reading();
  }
  void forget_reading() {
    line.reset();
    reading.reset();
  }
  // Waits until the last version is decided.
  cairn::Status settle_last();
  // The run goes on from what was read.
  void continue_from(const cairn::checkpoint::RestartReport& report);
  // EEXIST: there is a version that this run has neither read nor been told to leave.
  [[nodiscard]] cairn::Status check_may_write() const;
  [[nodiscard]] uint32_t survives() const;
  // ENOSPC: with this variable the arrays of this rank alone are more than the pool can ever hold.
  // Where there is a version to read, a program may want no more than that.
  [[nodiscard]] cairn::Status check_space(const char* name,
                                          const cairn::checkpoint::Definition& added) const;
  // Leaves a warning as the text of the last error where the pool has no room for all versions that
  // a loop needs, if the other ranks of this node define as much.
  void warn_of_room(const char* name, const cairn::checkpoint::Definition& added) const;
  // What a version takes of this node's pool and what that has, for the text of ENOSPC.
  [[nodiscard]] std::string shown_room() const;
  // 0, or the error of a version that is decided.
  cairn::Status told(uint64_t sequence);

  // What it knows of the set is read again.
  cairn::Status look_again();

  cairn_checkpoint_options options{};
  std::string code_version;
  cairn_pool* pool = nullptr;
  bool owns_pool = false;
  // Of a run on several nodes.
  std::unique_ptr<cairn::capi::TransportExchange> nodes;
  std::optional<cairn::checkpoint::PartServer> server;
  std::unique_ptr<cairn::checkpoint::SetFile> set;
  std::optional<cairn::checkpoint::SlotCache> slot_cache;
  std::unique_ptr<cairn::checkpoint::Run> run;
  cairn::checkpoint::Catalogue catalogue;
  std::optional<cairn::checkpoint::Writer> writer;
  std::optional<cairn::checkpoint::DueVote> due_vote;
  cairn::checkpoint::Definitions definitions;
  cairn::checkpoint::Agreed agreed;
  uint64_t agreed_changes = 0;  // of the definitions
  bool has_agreed = false;
  bool may_write = false;
  // The latest version is not in (continued, passed_to]: the run has gone back behind these, or
  // begins anew.
  uint64_t continued = 0;
  uint64_t passed_to = 0;
  std::optional<int64_t> step;           // of the last need()
  std::vector<uint8_t> attributes;       // of versions to come
  cairn::capi::AttributeList described;  // of the version that a caller was told of last
  std::optional<cairn::checkpoint::StoredVersion> reading;
  std::unique_ptr<cairn::checkpoint::CountedLine> line;  // of a variable of that
  std::optional<int64_t> collecting;                     // the number of the version that was begun
  // What stood under the names of its own variables.
  std::map<std::string, std::optional<cairn::checkpoint::Definition>> collected;
  cairn_checkpoint_observer observer = nullptr;
  void* observer_context = nullptr;
  uint64_t observed_staged = 0;  // sequences that it was told of
  uint64_t observed_decided = 0;
  uint64_t observed_global = 0;
  std::string lower;
  // What init found damaged there, newer than what it got back.
  cairn::checkpoint::SkippedVersions in_lower;
  // The greatest sequence that the run takes for its own of those before it: that of the pools, or
  // of lower as well if it begins anew.
  uint64_t last_of_pools = 0;
  std::optional<cairn::capi::ExitWatch> exit_watch;
  cairn::capi::ExcusedRestart excused;
  uint64_t told_sequence = 0;
  // On the leader of a node; ends before what it uses.
  std::unique_ptr<cairn::checkpoint::BackgroundDrain> background;

  // Versions that were begun and have variables of their own (begin, write_var, commit).
  void end_collecting();
  // Tells the observer what is known by now.
  void tell_observer();
  cairn_checkpoint_progress progress_of(uint64_t sequence, bool is_decided);
  // Has the version a copy in lower?
  [[nodiscard]] bool is_global(uint64_t sequence);
  // When it was copied, since 1970; 0: it was not.
  [[nodiscard]] uint64_t global_ns(uint64_t sequence);
  // Rank 0 copies it there, or on several nodes the leader of each. Collective.
  cairn::Status wait_for_global(uint64_t sequence);
  cairn::Status meet_in_lower(uint64_t sequence);
  // What rank 0 or a leader does for it.
  cairn::Status drain_to_lower(uint64_t sequence);
  [[nodiscard]] cairn::checkpoint::UsedSequences used_sequences() const;
  // From now on SIGTERM keeps the restart from counting, where signals are watched.
  void excuse_restart(uint32_t slot);
  // A version is damaged: adds the command that gets the data back.
  [[nodiscard]] cairn::Status with_way_back(const cairn::Status& status) const;
  [[nodiscard]] std::string name_of_set() const;
  [[nodiscard]] cairn::Status lower_failure(const cairn::Status& status) const;
  [[nodiscard]] cairn::checkpoint::LowerRetention kept_in_lower() const {
    return {options.lower_keep == 0 ? 2 : options.lower_keep, drops_copies()};
  }
  // Are copies of earlier lines in lower not wanted any more?
  [[nodiscard]] bool drops_copies() const {
    return (options.flags & CAIRN_CHECKPOINT_DROP_COPIES) != 0;
  }

  // Copies behind the program's back (checkpoint/background.cc).
  void begin_background();
  // The version that this rank has just handed over, on one node, or that all nodes have committed.
  void copy_when_committed(int64_t number);
  void copy_committed(const cairn::checkpoint::KnownVersion& known);
  [[nodiscard]] bool is_to_be_copied(int64_t number) const;
  // Why the thread could not copy the version; 0: that is unknown.
  [[nodiscard]] int error_of_copy(uint64_t sequence) const;
  [[nodiscard]] cairn::Status told_of_copy(uint64_t sequence) const;
  cairn::Result<bool> was_copied(uint64_t sequence);

  // The newest one is there when the run ends. All ranks.
  cairn::Status drain_newest();
  // On one node all ranks get the error of the rank that copies. `is_fine`: this rank has no other
  // error.
  cairn::Status drain_at_end(bool is_fine);
  // The uuid of the set whose versions are in lower, for which the pool has room then; nothing:
  // there are none.
  cairn::Result<std::optional<cairn::checkpoint::Uuid>> set_of_lower(const std::string& name);

  // Copies on other nodes (checkpoint/partner.cc).
  [[nodiscard]] bool wants_partners() const {
    return (options.flags & CAIRN_CHECKPOINT_PARTNER) != 0;
  }
  [[nodiscard]] bool can_have_partners() const {
    return writer && !writer->partners().holders.empty();
  }
  // EINVAL: nobody asked for copies. EOPNOTSUPP: there is no node that could hold them; the text
  // says why.
  [[nodiscard]] cairn::Status check_partners() const;
  // Are all parts there twice, as far as this process knows?
  [[nodiscard]] bool has_partners(uint64_t sequence);
  // All nodes copy what they are to hold of the version. Collective.
  cairn::Status wait_for_partners(uint64_t sequence);
  // The same for the newest version that this run has committed, if there is one.
  cairn::Status copy_last();
  // Which node holds whose copies. Collective over all ranks of several nodes.
  cairn::Result<cairn::checkpoint::Partners> find_partners(cairn::capi::Membership* members) const;
  // The set's copies in options.lower. ENOENT: it has none.
  [[nodiscard]] cairn::Result<cairn::checkpoint::LowerSet> open_lower() const;
  // Gets a version back if the pools have none that is as new, after the nodes have joined their
  // inventories. Collective.
  cairn::Status begin_beside_lower();
  // How long a checkpoint takes; 0: unknown.
  [[nodiscard]] uint64_t cost_ns() const;
  // The greatest of all ranks' reasons.
  cairn::Result<int64_t> meet_on_exit(int64_t reason);
  cairn::Result<int64_t> meet_on_drop(int64_t value);

  // Of the line first. Null: there is none.
  [[nodiscard]] const cairn::checkpoint::KnownVersion* look_for(int64_t version) const;
  // All ranks drop a version, or none. Collective.
  cairn::Status drop_in_run(int64_t version, uint32_t flags);

 private:
  cairn::Status open_to_look(const std::string& name, int communicator);
};

namespace cairn::capi {

// A structure of the caller's: what lies beyond its size counts as zero.
template <typename T>
Result<T> copy_in(const T* from, const char* what) {
  T copy{};
  if (from == nullptr) return copy;
  if (from->struct_size < sizeof from->struct_size)
    return fail(EINVAL, "%s: struct_size is not set", what);
  std::memcpy(static_cast<void*>(&copy), from, std::min<size_t>(from->struct_size, sizeof copy));
  return copy;
}
// Into one of the caller's, as far as it reaches.
template <typename T>
void copy_out(T value, T* to) {
  if (to == nullptr) return;
  value.struct_size = to->struct_size;
  std::memcpy(static_cast<void*>(to), &value, std::min<size_t>(to->struct_size, sizeof value));
}

Result<checkpoint::ArrayShape> shape_of(const cairn_array& array,
                                        const cairn_distribution* distribution);

}  // namespace cairn::capi
