// Continuation: which version a run goes on from. The run restarts from versions, and may write
// once it has read one, or if it begins anew, or if there is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "checkpoint/restart/restart.h"
#include "checkpoint/run/excused_restart.h"
#include "checkpoint/versions/set_view.h"
#include "checkpoint/write/writer.h"

namespace cairn::checkpoint {

class Continuation {
 public:
  struct RestartOptions {
    bool is_fresh = false;         // the run begins anew
    bool is_cyclic = false;        // all reads may be cyclic
    bool excuses_signals = false;  // SIGTERM keeps a restart from counting as an attempt
    uint32_t max_attempts = 5;     // restarts after which the latest version is skipped
    std::string lower;             // the directory of copies; empty: there is none
  };
  // `in_lower`: versions that were damaged in lower when the run began. The objects stay where they
  // are.
  Continuation(Run* run, SetView* view, Writer* writer, const Definitions* definitions,
               RestartOptions options, SkippedVersions in_lower);

  // Returns EEXIST if there is a version that the run has neither read nor been told to leave.
  [[nodiscard]] Status check_may_write() const;

  // Finds a version for this process alone. ENOENT, EEXIST; see Restart.
  Result<StoredVersion> find(const VersionNumber& number);
  // Tells whether a version can be read; no value: there is none. Collective; see Restart.
  Result<std::optional<RestartReport>> test(const VersionNumber& number);
  struct ReadOptions {
    bool fills_halo = false;
    bool is_cyclic = false;
    bool verifies_all = false;
  };
  // Reads a version, from which the run goes on. Collective; see Restart.
  Result<RestartReport> read(const VersionNumber& number, const ReadOptions& options);

 private:
  Restart restart();
  [[nodiscard]] RestartRequest request(const VersionNumber& number) const;
  void excuse_restart(uint32_t slot);

  Run& run_;
  SetView& view_;
  Writer& writer_;
  const Definitions& definitions_;
  const RestartOptions options_;
  const SkippedVersions in_lower_;
  bool may_write_;
  // The run has left the versions in (continued_, passed_to_].
  uint64_t continued_ = 0;
  uint64_t passed_to_;
  ExcusedRestart excused_;
};

}  // namespace cairn::checkpoint
