// Lists, opens, drains and ends the covers of a pool (include/cairn/cover.h) for the commands.
#pragma once

#include <cairn/cover.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frame/config.h"
#include "pools/place_lock.h"
#include "pools/pool_handle.h"
#include "pools/pool_place.h"
#include "text/error.h"
#include "text/output.h"

namespace cairn::cli {

// An attribute of the root directory of a pool that `cairn run` made for itself. Such a pool is
// removed when nothing is left in it.
inline constexpr const char* made_by_run = "user.cairn.made_by_run";

struct CoverEntry {
  std::string directory;  // the covered directory's real path
  std::string job;
  // all_drained is false also if only a removal or an empty file is not drained, which has no
  // bytes.
  uint64_t undrained_bytes = 0;
  bool all_drained = false;
  uint64_t parts = 0;  // of files that several nodes write
  uint64_t undrained_files = 0;
  uint64_t drain_begun_ns = 0;  // of a drain that has not come to its end
  bool in_use = false;          // a run is under way, or processes are in it
  uint32_t modes = 0;           // as cairn_cover_info has them, and the next three
  std::string oldest;           // the undrained file that changed least recently, or ""
  uint64_t oldest_changed_ns = 0;
  uint64_t left_out = 0;       // files that stay out of the directory, by drain mode never
  uint64_t renamed_files = 0;  // that the directory has under their old names
  uint64_t kept_back = 0;      // as cairn_cover_info has them
  std::string kept_back_by = {};
  // A file or directory has a drain mode by which it is drained while the run goes on.
  [[nodiscard]] bool asks_for_keeper() const {
    return (modes & (1U << CAIRN_DRAIN_CLOSE | 1U << CAIRN_DRAIN_ASYNC)) != 0;
  }
  // A file or directory has a drain mode by which some drain writes it.
  [[nodiscard]] bool asks_for_drain() const {
    return asks_for_keeper() || (modes & 1U << CAIRN_DRAIN_EXIT) != 0;
  }
  [[nodiscard]] bool is_cut_short() const { return drain_begun_ns != 0 && !in_use; }
};
std::vector<CoverEntry> list_covers(const Pool& pool);
// The cover of a directory, if the pool has one.
std::optional<CoverEntry> cover_of(const Pool& pool, const std::string& directory);
// The number of a value of drain.mode.
cairn_drain_mode drain_mode_of(const std::string& name);
// A file of a cover that is not drained.
struct UndrainedFile {
  std::string path;  // below the directory
  uint64_t bytes = 0;
  bool is_older_there = false;  // the directory has something older under that name
};
std::vector<UndrainedFile> list_undrained(const Pool& pool, const std::string& directory,
                                          size_t most);
// Other pools that may hold something for it, on other hosts.
struct OtherPool {
  std::string host;
  std::string pool;
  std::string job;
};
std::vector<OtherPool> other_pools(const Pool& pool, const std::string& directory);
// "DIR: node HOST (pool POOL) may hold ...", with what to do about it.
std::string missing_text(const std::string& directory, const OtherPool& other);
// "1 file", "3 files"
std::string files_text(uint64_t files);
// "all drained", "3 MiB in 2 files not drained", "3 MiB in 2 files and 1 renamed file not drained",
// "names or attributes not drained"
std::string undrained_text(const CoverEntry& cover);
Json cover_json(const CoverEntry& cover);
// Seconds since the oldest undrained file changed.
double age_of_oldest(const CoverEntry& cover);
uint64_t undrained_bytes(const std::vector<CoverEntry>& covers);
bool all_drained(const std::vector<CoverEntry>& covers);

// Options of a run that begins anew: it discards what an earlier run left, if no process uses it.
struct Fresh {
  std::string launch;  // launch_id()
  // Called for each cover that an earlier run left, before the new one discards it. A cover in use
  // stays.
  std::function<void(const CoverEntry& left)> left;
};

// A pool in which nothing could be evicted has no room for the record of a cover.
struct PoolFull : Error {
  using Error::Error;
};

class Cover {
 public:
  Cover() = default;
  // Joins a cover that exists; throws otherwise.
  static Cover join(const Pool& pool, const std::string& directory);
  // Joins a cover whose directory may be gone, or be another one by now.
  static Cover join_kept(const Pool& pool, const std::string& directory);
  // Covers a directory, or joins its cover. Throws PoolFull, or Error(exit_usage) if DIR itself is
  // wrong. If another job has claimed DIR, looks again for `patience`: on another host the claim's
  // holder may be about to name the job that this run is part of. `fresh` may be null.
  static Cover open(const Pool& pool, const std::string& directory, bool keep,
                    const std::string& job, std::chrono::seconds patience,
                    const Fresh* fresh = nullptr);
  ~Cover() { cairn_cover_close(cover_); }
  Cover(Cover&& other) noexcept : cover_(std::exchange(other.cover_, nullptr)) {}
  Cover& operator=(Cover&& other) noexcept {
    std::swap(cover_, other.cover_);
    return *this;
  }
  Cover(const Cover&) = delete;
  Cover& operator=(const Cover&) = delete;

  // Keeps the claim of a cover valid: while the object lives, no process takes the claim for void.
  class Hold {
   public:
    explicit Hold(int descriptor) : descriptor_(descriptor) {}
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    int descriptor_;
  };
  [[nodiscard]] std::unique_ptr<Hold> hold() const;

  [[nodiscard]] std::string path() const { return cairn_cover_path(cover_); }
  // The directory of the pool that stands for it.
  [[nodiscard]] cairn_ino top() const { return cairn_cover_top(cover_); }

  struct DrainResult {
    int64_t code = 0;  // of cairn_cover_drain
    std::string error;
    cairn_drain_report report{};
    double seconds = 0;
    uint64_t left_out = 0;  // as CoverEntry has it, and the next two
    uint64_t kept_back = 0;
    std::string kept_back_by = {};
  };
  // Shows progress and prints each problem on stderr.
  DrainResult drain();
  // Drains the quiet files while programs run (cairn_cover_drain_while_running). `progress` is a
  // cairn_progress; `problem` gets each file's error.
  DrainResult drain_while_running(cairn_while_running* what, const cairn_progress& progress,
                                  const cairn_drain_problem& problem, void* context);
  // Drains to another directory. `report` receives the result.
  DrainResult drain_to(const std::string& elsewhere, cairn_drain_to_report* report);
  // Ends the cover. False while other processes are in it; the object is empty afterwards.
  bool discard();
  // Ends the cover once everything is drained; false also if something has changed since.
  bool end();

 private:
  cairn_cover* cover_ = nullptr;
};

// "3 files, 1.5 GiB drained to DIR in 2.1 s (730 MiB/s), 1 name removed"
std::string drain_text(const std::string& directory, const Cover::DrainResult& result);
// Names, at any log level, the files that a drain mode keeps out of the directory if the run has
// not set that mode.
void tell_kept_back(const std::string& directory, const Cover::DrainResult& result);
Json drain_json(const std::string& directory, const Cover::DrainResult& result);

// Alive processes other than this one that work under the cover of `directory`, or may do so.
std::vector<cairn_lane_info> processes_in_cover(const Pool& pool, const std::string& directory);

// Takes the start lock: runs start one at a time, and no process removes a pool meanwhile. A
// process that holds a cover's lock may wait for the start lock, but not the other way round.
PlaceLock lock_start(const std::string& pool);

// Removes a pool that a run made if it is empty and no process uses it. Returns true if the pool
// does not exist any more. The caller holds the start lock, under which runs make their covers: a
// run that has no cover yet then finds no pool and makes one.
bool remove_if_left_over(Pool& pool, const PlaceLock& start);
// Removes such a pool for a process that still holds the lock of the cover that it has ended.
bool leave_pool(Pool& pool, PlaceLock& cover);

// The pool that covers the real path of `directory`; std::nullopt if none of this user's does. For
// root, the claim in the directory may name another user's pool: the process then works with that
// user's rights from now on (pool_owner.h).
std::optional<std::string> find_cover(const Config& config, const std::string& directory);

// Says how to free a claim whose pool is not here, for messages.
std::string how_to_free(const std::string& directory);

// Says what to do if the path leads to a directory other than the covered one.
std::string how_to_rescue(const std::string& directory);

// The real path, or Error(exit_usage) if it is missing or no directory.
std::string real_directory(const std::string& directory);
// The path by which a pool of this user covers a directory, which may be gone.
std::string covered_directory(const Config& config, const std::string& directory);
// The name of the lock that runs of one covered directory share.
std::string cover_lock_name(const std::string& real_path);
// Takes that lock alone, without waiting, for a process that wants to end the cover: held() is
// false while a run is under way. `pool`: the path of the pool that covers the directory.
PlaceLock lock_cover_now(const std::string& pool, const std::string& real_path);

}  // namespace cairn::cli
