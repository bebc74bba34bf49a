// SessionRun: a run of a program between init and finalize. It writes versions, restarts from them
// and copies them; each collective step of the ranks begins here.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/define/shared_contents.h"
#include "checkpoint/run/due_vote.h"
#include "checkpoint/session/collected_version.h"
#include "checkpoint/session/continuation.h"
#include "checkpoint/session/exit_watch.h"
#include "checkpoint/session/joined_run.h"
#include "checkpoint/session/level_observer.h"
#include "checkpoint/session/lower_copies.h"
#include "checkpoint/session/partner_copies.h"
#include "checkpoint/session/version_levels.h"
#include "checkpoint/session/version_reader.h"

namespace cairn::checkpoint {

struct SessionOptions {
  MemberOptions member;
  ExitWatch::Options exit;
  LowerOptions lower;
  Retention retention;
  std::string code_version;     // stored with each version
  uint64_t interval_ns = 0;     // a checkpoint is due so long after the last one began; 0: never
  uint32_t max_attempts = 5;    // restarts after which the latest version is skipped
  uint32_t block_bytes = 0;     // of checksums; 0: the default
  bool is_fresh = false;        // begins anew
  bool wants_partners = false;  // copies on other nodes
  bool is_cyclic = false;       // all reads may be cyclic
};

class SessionRun {
 public:
  // The objects stay where they are.
  SessionRun(const SessionOptions& options, const ExitWatch& exit_watch, SetView* view,
             VersionLevels* levels, VersionReader* reader, SharedContents* contents);
  ~SessionRun();
  SessionRun(const SessionRun&) = delete;
  SessionRun& operator=(const SessionRun&) = delete;

  // Opens the set `name` and begins the run, as JoinedRun::open(). Collective.
  Status open(file::FileSystem* fs, const std::string& name,
              std::unique_ptr<RunTransport> transport, Status own);
  // Decides and copies the last version, and ends the run. Collective.
  Status close();

  // Defines a variable, or with `in_collected` one of the version that was begun. ENOSPC: the
  // arrays of this rank are more than the pool can ever hold, and there is no version to read. If
  // the pool has no room for a loop, the text of the last error is a warning afterwards.
  Status define(const std::string& name, Definition definition, bool in_collected);
  // Sets the attributes of versions to come, in the form of records.
  void set_attributes(std::vector<uint8_t> attributes) { attributes_ = std::move(attributes); }

  // Returns true if a checkpoint is due at this step.
  Result<bool> need(int64_t step);
  // Describes whether the run should end soon; the reason is the same on all ranks. Collective.
  Result<ExitOutlook> look_ahead();

  // Stages this rank's bytes of a version. Returns the error of this rank; `sequence` names the
  // version, unless it is 0.
  Status stage(int64_t number, uint64_t* sequence);
  // Writes a version and waits until it is committed, and has its copies on other nodes.
  Status write(int64_t number);
  // Begins a version with variables of its own, and writes it. EINVAL: none was begun.
  void begin_collecting(int64_t number) { collected_.begin(number); }
  [[nodiscard]] Status check_collecting() const;
  Status commit_collected();

  // Returns true if the version has reached the level. `progress` has a value once it is known.
  Result<bool> test(uint64_t sequence, VersionLevel level, std::optional<LevelProgress>* progress);
  // Waits until the version has reached the level. Collective for PARTNER and GLOBAL. `timeout_ns`:
  // for LOCAL; 0: without end.
  Status wait(uint64_t sequence, VersionLevel level, uint64_t timeout_ns);
  void observe(LevelObserver::Callback callback) { observer_->set(std::move(callback)); }

  // Tells whether a version can be read; no value: there is none. Collective.
  Result<std::optional<RestartReport>> test_restart(const VersionNumber& number);
  // Restarts from a version. Collective.
  Result<RestartReport> restart(const VersionNumber& number,
                                const Continuation::ReadOptions& options);

  // On several nodes a rank that reads parts of other nodes asks their leaders, which answer in
  // calls of their own: the first one waits for all ranks before such a read, and the second one
  // after it. The second one returns `own`, or the failure to meet.
  Status begin_reading();
  Status end_reading(Status own);

  // Drops a version. All ranks drop it, or none. `is_single`: the program has asked for nothing
  // else. Collective.
  Status drop(const VersionNumber& number, bool is_single);
  // Returns the sequences that the run has used, for a drain by this process alone.
  [[nodiscard]] UsedSequences used() const { return lower_copies_->used(); }
  [[nodiscard]] bool has_nodes() const { return joined_.has_nodes(); }

 private:
  [[nodiscard]] Run& run() const { return *joined_.run(); }
  void begin_writing(SkippedVersions in_lower);
  Status agree_on_contents();
  Status decide_on_nodes();
  Status copy_newest_to_lower(bool is_fine);
  Status check_level(VersionLevel level) const;
  Result<uint64_t> stage_version(int64_t number);
  Status finish(Status status);
  Status result_of(uint64_t sequence);
  [[nodiscard]] std::string shown_room() const;
  LevelProgress progress_of(uint64_t sequence, bool is_decided);
  Result<uint64_t> find_to_drop(const VersionNumber& number, bool is_single);
  Result<int64_t> meet_on_drop(int64_t value);

  const SessionOptions options_;
  const ExitWatch exit_watch_;
  SetView& view_;
  VersionLevels& levels_;
  VersionReader& reader_;
  SharedContents& contents_;
  CollectedVersion collected_;
  std::vector<uint8_t> attributes_;
  std::optional<int64_t> step_;  // of the last need()
  uint64_t told_sequence_ = 0;   // the greatest whose result the program knows
  JoinedRun joined_;
  // These have values once the run has begun. Each uses the ones before it.
  std::optional<Writer> writer_;
  std::optional<DueVote> due_vote_;
  std::optional<Continuation> continuation_;
  std::optional<LevelObserver> observer_;
  std::optional<PartnerCopies> partner_copies_;
  std::optional<LowerCopies> lower_copies_;
};

}  // namespace cairn::checkpoint
