// Restart: finds the version to continue, verifies the bytes that this rank needs of it, and copies
// them into its arrays. All ranks of all nodes restore the same version, or none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "checkpoint/restart/counted.h"
#include "checkpoint/restart/match.h"
#include "checkpoint/restart/stored_version.h"
#include "checkpoint/run/run.h"
#include "checkpoint/versions/catalogue.h"
#include "checkpoint/versions/skipped.h"

namespace cairn::checkpoint {

struct RestartRequest {
  std::optional<int64_t> number;  // the user's; nothing: the latest
  bool fills_halo = false;
  bool is_cyclic = false;     // arrays may be larger than what is stored (cyclic.h)
  bool verifies_all = false;  // also variables that are not defined
  uint32_t max_attempts = 5;
  std::string way_back;  // for texts: how to get damaged versions back
  // A restart from the latest version skips sequences in (continued, passed_to]. The run continues
  // the version `continued`, whose attempts do not count then; 0: the run continues none.
  uint64_t continued = 0;
  uint64_t passed_to = 0;
  std::string lower;        // the directory of copies; empty: there is none
  SkippedVersions skipped;  // versions that were damaged in lower when the run began

  [[nodiscard]] bool passes(uint64_t sequence) const {
    return !number && sequence > continued && sequence <= passed_to;
  }
  // Returns true if the run begins anew: versions of other runs are skipped.
  [[nodiscard]] bool is_anew() const { return !number && continued == 0 && passed_to != 0; }
};

struct RestartReport {
  KnownVersion known;
  uint32_t attempts = 0;
  uint64_t bytes = 0;
  std::string attributes;    // of the version
  uint32_t skipped = 0;      // newer versions that could not be read
  std::string why;           // reason of the newest of them
  bool has_damage = false;   // one of them is damaged or incomplete
  uint32_t missing = 0;      // optional variables
  uint32_t from_copies = 0;  // parts that were read from copies
  std::string why_copies;    // reason for one of them
  SkippedVersions all_skipped;
};

class Restart {
 public:
  Restart(Run* run, SlotCache* slot_cache, const Catalogue* catalogue,
          const Definitions* definitions)
      : run_(*run), slot_cache_(*slot_cache), catalogue_(*catalogue), definitions_(*definitions) {}

  // Both test() and read() wait for all ranks, which get the same result. `arrived`: as for
  // Run::barrier_reduce(). ENOENT: there is no such version; the text has the reason. EEXIST: there
  // are versions, and none of them is available; the text has the reason. EHOSTDOWN: the run lacks
  // the pool of a node, which the text names. ENODATA, EINVAL: as match(). EPROTONOSUPPORT.
  //
  // test() reads only records.
  Result<RestartReport> test(const RestartRequest& request, uint64_t arrived);
  // Fills the arrays. EIO: the requested version is damaged. Every other error occurs before an
  // array is touched.
  Result<RestartReport> read(const RestartRequest& request, uint64_t arrived);

  // Finds the newest version of this number in the line; without a number the newest whose attempts
  // are below the limit. Called by one process alone. ENOENT, EEXIST.
  Result<StoredVersion> find(const RestartRequest& request);

 private:
  struct Read {
    bool is_open = false;     // the version's records are sound
    bool has_places = false;  // and fit what is defined
    StoredVersion stored;
    Matches matches;
    std::vector<ArrayPlace> places;  // of matches.found
    std::optional<Counted> counted;
    std::vector<ArrayPlace> unset;  // of matches.missing
  };
  // The finding of one rank: 0, or the worst of all ranks wins.
  enum class Finding : int64_t { right = 0, damaged = 1, failed = 2 };

  Result<std::vector<KnownVersion>> candidates(const RestartRequest& request,
                                               RestartReport* report);
  Status open_lower(const RestartRequest& request);
  Result<std::vector<KnownVersion>> candidates_in_lower(const RestartRequest& request,
                                                        uint64_t arrived, RestartReport* report);
  Result<std::vector<KnownVersion>> look_in_lower(const RestartRequest& request,
                                                  RestartReport* report) const;
  Status finish(const Read& read, bool reads, uint64_t arrived, RestartReport* report);
  Result<RestartReport> go_through(const RestartRequest& request, uint64_t arrived, bool reads);
  Status look(const KnownVersion& known, const RestartRequest& request, bool reads, Read* read);
  Status find_places(Read* read);
  Status verify(const RestartRequest& request, Read* read);
  Status verify_all(StoredVersion* stored) const;
  Status find_counted_places(Read* read);
  Status copy(const RestartRequest& request, Read* read);
  [[nodiscard]] Stores stores() const {
    return {&run_.set(), &slot_cache_, run_.exchange(), lower_ ? &*lower_ : nullptr};
  }
  Result<int64_t> combine(const Status& status, bool is_damage, uint64_t arrived,
                          const std::function<Status()>& then);
  Status count_attempt(Slot* slot) const;
  static void tell_for(uint32_t rank, int error, const std::string& shared);
  [[nodiscard]] int64_t encode(const Status& status, bool is_damage) const;
  // Returns the attempts without this run's own.
  uint32_t attempts_of(const KnownVersion& known);
  Status report_copies(const StoredVersion& stored, bool reads, uint64_t arrived,
                       RestartReport* report);
  [[nodiscard]] Status nothing(const RestartRequest& request, const RestartReport& report) const;

  std::optional<LowerSet> lower_;
  bool lacks_node_ = false;    // a version of the last candidates() is on a node that is not here
  bool has_versions_ = false;  // there were versions, available or not

  Run& run_;
  SlotCache& slot_cache_;
  const Catalogue& catalogue_;
  const Definitions& definitions_;
};

}  // namespace cairn::checkpoint
