#include "runs/covers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <thread>

#include "machine/named_path.h"
#include "pools/pool_owner.h"
#include "runs/checkpoints.h"
#include "runs/cover_processes.h"
#include "runs/stale_claim.h"
#include "text/error.h"
#include "text/progress.h"
#include "text/units.h"

namespace cairn::cli {
namespace {

// The entry of a process that has loaded the library but has not attached the pool yet.
cairn_lane_info process_of(int pid) {
  cairn_lane_info process{};
  process.lane = not_attached;
  process.pid = pid;
  process.alive = 1;
  program_name_of(pid).copy(process.command, sizeof process.command - 1);
  return process;
}

struct DrainCalls {
  Progress progress{"drain"};
  static void problem(void* context, const char* text) {
    static_cast<DrainCalls*>(context)->progress.hide();
    tell("cairn: {}\n", text);
  }
  static int progressed(void* context, uint64_t done, uint64_t total) {
    return Progress::callback(&static_cast<DrainCalls*>(context)->progress, done, total);
  }
};

}  // namespace

std::string how_to_free(const std::string& directory) {
  const std::vector<std::string> hosts = claiming_hosts(directory);
  std::string of_several;
  if (hosts.size() > 1) {
    std::string names;
    for (const std::string& host : hosts)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", printable(host));
    of_several = fmt::format(
        "it belongs to a job on {} hosts ({}), each of which holds a share: start on all of them, "
        "or put the files together with `mpirun -n {} ... cairn drain {}`, one on each; ",
        hosts.size(), names, hosts.size(), directory);
  }
  return fmt::format(
      "{}if that pool is gone for good, `cairn discard --force {}` frees the directory", of_several,
      directory);
}

std::string how_to_rescue(const std::string& directory) {
  return fmt::format(
      "`cairn drain {} --to ELSEWHERE` writes that to another directory, `cairn discard {}` drops "
      "it",
      directory, directory);
}

namespace {

CoverEntry entry_of(const cairn_cover_info& info) {
  return {info.directory,
          info.job,
          info.undrained_bytes,
          info.all_drained != 0,
          info.parts,
          info.undrained_files,
          info.drain_begun_ns,
          info.in_use != 0,
          info.modes,
          info.oldest,
          info.oldest_changed_ns,
          info.left_out,
          info.renamed_files,
          info.kept_back,
          info.kept_back_by};
}

}  // namespace

std::vector<CoverEntry> list_covers(const Pool& pool) {
  std::vector<CoverEntry> covers;
  const auto visit = [](void* context, const cairn_cover_info* info) {
    static_cast<std::vector<CoverEntry>*>(context)->push_back(entry_of(*info));
  };
  check(cairn_cover_list(pool.get(), visit, &covers), pool.path());
  return covers;
}

std::optional<CoverEntry> cover_of(const Pool& pool, const std::string& directory) {
  for (CoverEntry& cover : list_covers(pool))
    if (cover.directory == directory) return std::move(cover);
  return std::nullopt;
}

cairn_drain_mode drain_mode_of(const std::string& name) {
  if (name == "close") return CAIRN_DRAIN_CLOSE;
  if (name == "async") return CAIRN_DRAIN_ASYNC;
  return name == "never" ? CAIRN_DRAIN_NEVER : CAIRN_DRAIN_EXIT;
}

std::vector<UndrainedFile> list_undrained(const Pool& pool, const std::string& directory,
                                          size_t most) {
  struct Listed {
    size_t most;
    std::vector<UndrainedFile> files = {};
  } listed{most};
  const auto visit = [](void* context, const char* path, uint64_t bytes, int is_older_there) {
    auto& into = *static_cast<Listed*>(context);
    if (into.files.size() < into.most) into.files.push_back({path, bytes, is_older_there != 0});
    return into.files.size() < into.most ? 0 : 1;
  };
  check(cairn_cover_undrained(pool.get(), directory.c_str(), visit, &listed), directory);
  return std::move(listed.files);
}

std::vector<OtherPool> other_pools(const Pool& pool, const std::string& directory) {
  std::vector<OtherPool> others;
  const auto visit = [](void* context, const cairn_cover_other* other) {
    static_cast<std::vector<OtherPool>*>(context)->push_back(
        {other->host, other->pool, other->job});
  };
  // If the directory is gone, this fails: there are no claims.
  cairn_cover_others(pool.get(), directory.c_str(), visit, &others);
  return others;
}

std::string missing_text(const std::string& directory, const OtherPool& other) {
  return fmt::format(
      "{}: node {} (pool {}) may hold files of {} that are not drained and are missing here: run "
      "`cairn drain {}` there",
      directory, printable(other.host), printable(other.pool),
      other.job.empty() ? "a run" : "job " + printable(other.job), directory);
}

double age_of_oldest(const CoverEntry& cover) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto changed = std::chrono::nanoseconds(cover.oldest_changed_ns);
  return std::max(0.0, std::chrono::duration<double>(now - changed).count());
}

// The oldest undrained file; null: every file is drained.
static Json oldest_json(const CoverEntry& cover) {
  if (cover.oldest.empty()) return nullptr;
  return {{"path", json_text(cover.oldest)}, {"age_seconds", age_of_oldest(cover)}};
}

Json cover_json(const CoverEntry& cover) {
  return {{"directory", json_text(cover.directory)},
          {"job", json_text(cover.job)},
          {"undrained_bytes", cover.undrained_bytes},
          {"undrained_files", cover.undrained_files},
          {"all_drained", cover.all_drained},
          {"parts", cover.parts},
          {"in_use", cover.in_use},
          {"drain_cut_short", cover.is_cut_short()},
          {"oldest_undrained", oldest_json(cover)},
          {"left_out_files", cover.left_out},
          {"renamed_files", cover.renamed_files}};
}

std::string files_text(uint64_t files) {
  return fmt::format("{} {}", files, files == 1 ? "file" : "files");
}

std::string undrained_text(const CoverEntry& cover) {
  if (cover.all_drained) return "all drained";
  const std::string renamed = cover.renamed_files == 0
                                  ? ""
                                  : fmt::format("{} renamed {}", cover.renamed_files,
                                                cover.renamed_files == 1 ? "file" : "files");
  if (cover.undrained_bytes == 0 && cover.parts == 0)
    return (renamed.empty() ? "names or attributes" : renamed) + " not drained";
  std::string text = fmt::format("{} in {}{}{} not drained", format_size(cover.undrained_bytes),
                                 files_text(cover.undrained_files + cover.parts),
                                 renamed.empty() ? "" : " and ", renamed);
  if (cover.parts != 0)
    text +=
        fmt::format(", including parts of {} that several nodes write", files_text(cover.parts));
  return text;
}

uint64_t undrained_bytes(const std::vector<CoverEntry>& covers) {
  uint64_t bytes = 0;
  for (const CoverEntry& cover : covers) bytes += cover.undrained_bytes;
  return bytes;
}

bool all_drained(const std::vector<CoverEntry>& covers) {
  return std::all_of(covers.begin(), covers.end(),
                     [](const CoverEntry& cover) { return cover.all_drained; });
}

Cover Cover::join(const Pool& pool, const std::string& directory) {
  Cover cover;
  check(cairn_cover_join(pool.get(), directory.c_str(), &cover.cover_), directory);
  return cover;
}

Cover Cover::join_kept(const Pool& pool, const std::string& directory) {
  Cover cover;
  check(cairn_cover_join_kept(pool.get(), directory.c_str(), &cover.cover_), directory);
  return cover;
}

Cover Cover::open(const Pool& pool, const std::string& directory, bool keep, const std::string& job,
                  std::chrono::seconds patience, const Fresh* fresh) {
  cairn_cover_options options{};
  options.struct_size = sizeof options;
  options.keep = keep ? 1 : 0;
  options.job = job.empty() ? nullptr : job.c_str();
  if (fresh != nullptr) {
    options.fresh = fresh->left ? 1 : 0;
    options.launch = fresh->launch.c_str();
    options.left = [](void* context, const cairn_cover_info* info) {
      static_cast<const Fresh*>(context)->left(entry_of(*info));
    };
    options.context = const_cast<Fresh*>(fresh);
  }
  options.notice = [](void*, const char* text) { tell("cairn run: {}\n", text); };
  Cover cover;
  const auto end = std::chrono::steady_clock::now() + patience;
  int result = 0;
  while ((result = cairn_cover_open(pool.get(), directory.c_str(), &options, &cover.cover_)) ==
             -EBUSY &&
         std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  if (result < 0) {
    const bool wrong = result == -ENOENT || result == -ENOTDIR || result == -ELOOP;
    std::string text = library_error(result);
    std::error_code ignored;
    if (text.find(directory) == std::string::npos) text = directory + ": " + text;
    // The claim names a pool at this path, which was made anew since.
    if (const Claimed claim = claim_of(directory);
        result == -EBUSY && !claim.pool.empty() &&
        (!claim.here || std::filesystem::equivalent(claim.pool, pool.path(), ignored)))
      text += "; " + how_to_free(directory);
    if (result == -ESTALE) text += "; " + how_to_rescue(directory);
    if (result == -ENOSPC) throw PoolFull(exit_failed, text);
    throw Error(wrong ? exit_usage : exit_failed, text);
  }
  return cover;
}

std::unique_ptr<Cover::Hold> Cover::hold() const {
  const int descriptor = cairn_cover_hold(cover_);
  check(descriptor, path());
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  return std::make_unique<Hold>(descriptor);
}

Cover::Hold::~Hold() { close(descriptor_); }

Cover::DrainResult Cover::drain() {
  DrainCalls calls;
  DrainResult result;
  result.code = cairn_cover_drain(cover_, DrainCalls::progressed, DrainCalls::problem, &calls,
                                  &result.report);
  if (result.code < 0) result.error = library_error(result.code);
  result.seconds = calls.progress.seconds();
  return result;
}

Cover::DrainResult Cover::drain_while_running(cairn_while_running* what,
                                              const cairn_progress& progress,
                                              const cairn_drain_problem& problem, void* context) {
  DrainResult result;
  what->struct_size = sizeof *what;
  result.code =
      cairn_cover_drain_while_running(cover_, what, progress, problem, context, &result.report);
  if (result.code < 0) result.error = library_error(result.code);
  return result;
}

Cover::DrainResult Cover::drain_to(const std::string& elsewhere, cairn_drain_to_report* report) {
  DrainCalls calls;
  DrainResult result;
  *report = {};
  report->struct_size = sizeof *report;
  result.code = cairn_cover_drain_to(cover_, elsewhere.c_str(), DrainCalls::progressed,
                                     DrainCalls::problem, &calls, report);
  if (result.code < 0) result.error = library_error(result.code);
  result.report = report->drained;
  result.seconds = calls.progress.seconds();
  return result;
}

bool Cover::discard() {
  const int result = cairn_cover_discard(cover_);
  if (result == -EBUSY) return false;
  check(result);
  cover_ = nullptr;
  return true;
}

bool Cover::end() {
  const int result = cairn_cover_end(cover_);
  if (result == -EBUSY || result == -EAGAIN) return false;
  check(result);
  cover_ = nullptr;
  return true;
}

std::string drain_text(const std::string& directory, const Cover::DrainResult& result) {
  const cairn_drain_report& report = result.report;
  std::string text =
      fmt::format("{}, {} drained to {} in {}", files_text(report.files), format_size(report.bytes),
                  directory, format_duration(result.seconds));
  if (report.bytes >= 1 << 20)
    text += fmt::format(" ({})", format_rate(report.bytes, result.seconds));
  if (report.directories != 0) text += fmt::format(", {} directories created", report.directories);
  if (report.removed != 0) text += fmt::format(", {} names removed", report.removed);
  if (report.conflicts != 0)
    text += fmt::format(", {} in conflict (changed in {} meanwhile; both are kept)",
                        report.conflicts, directory);
  if (report.waiting != 0)
    text += fmt::format(", {} {} without the parts of other nodes", report.waiting,
                        report.waiting == 1 ? "file" : "files");
  if (report.failed != 0) text += fmt::format(", {} failed (still in the pool)", report.failed);
  if (result.left_out != 0)
    text += fmt::format(", {} of drain mode never left out", files_text(result.left_out));
  return text;
}

void tell_kept_back(const std::string& directory, const Cover::DrainResult& result) {
  if (result.kept_back == 0) return;
  const std::string by =
      result.kept_back_by == "." ? directory : directory + "/" + result.kept_back_by;
  tell(
      "cairn: {}: {} {} not drained: {} had the drain mode never before the run; if they are to be "
      "drained, remove it with `setfattr -x user.cairn.drain {}` and start the run again\n",
      directory, result.kept_back, result.kept_back == 1 ? "name is" : "names are", by, by);
}

Json drain_json(const std::string& directory, const Cover::DrainResult& result) {
  const cairn_drain_report& report = result.report;
  Json json = {{"directory", json_text(directory)},
               {"ok", result.code == 0},
               {"files", report.files},
               {"bytes", report.bytes},
               {"directories", report.directories},
               {"removed", report.removed},
               {"conflicts", report.conflicts},
               {"failed", report.failed},
               {"waiting", report.waiting},
               {"left_out_files", result.left_out},
               {"kept_back", result.kept_back},
               {"kept_back_by", json_text(result.kept_back_by)},
               {"seconds", result.seconds}};
  if (result.code != 0) json["error"] = json_text(result.error);
  return json;
}

std::vector<cairn_lane_info> processes_in_cover(const Pool& pool, const std::string& directory) {
  std::vector<cairn_lane_info> found;
  const auto is_known = [&found](int pid) {
    return std::any_of(found.begin(), found.end(),
                       [pid](const cairn_lane_info& lane) { return lane.pid == pid; });
  };
  // A process may be attached twice, as a run sometimes is.
  for (const cairn_lane_info& lane : pool.lanes())
    if (lane.alive != 0 && lane.pid != getpid() && !is_known(lane.pid) &&
        may_use_cover(lane.pid, directory))
      found.push_back(lane);
  for (int pid : processes_that_may_attach(directory, pool.path()))
    if (!is_known(pid)) found.push_back(process_of(pid));
  return found;
}

PlaceLock lock_start(const std::string& pool) {
  return {lock_directory(pool), "start", PlaceLock::Mode::exclusive};
}

bool leave_pool(Pool& pool, PlaceLock& cover) {
  const PlaceLock start = lock_start(pool.path());
  cover.release();
  return remove_if_left_over(pool, start);
}

namespace {

bool is_left_over(const Pool& pool) {
  char value[8];
  if (cairn_getxattr(pool.get(), CAIRN_ROOT, 0, made_by_run, value, sizeof value) < 0) return false;
  if (!list_covers(pool).empty() || holds_checkpoints(pool)) return false;
  cairn_dirent entries[16];
  const int count = cairn_readdir(pool.get(), CAIRN_ROOT, 0, entries, 16);
  for (int i = 0; i < count; ++i)
    if (entries[i].name[0] != '.') return false;  // a user has put files there
  return count >= 0;
}

}  // namespace

bool remove_if_left_over(Pool& pool, const PlaceLock& /*start*/) {
  std::string path = pool.path();
  if (!is_left_over(pool)) return false;
  pool = Pool();
  // Users may put files into the pool until no process can attach it any more. So it is looked at
  // again then.
  const auto still = [](void* given) {
    try {
      return is_left_over(Pool(*static_cast<const std::string*>(given), look_only)) ? 1 : 0;
    } catch (const Error&) {
      return 0;
    }
  };
  // EBUSY: a process that has just ended may still be detaching. A process that waits for this lock
  // will try the same.
  constexpr int most_tries = 20;
  int result = cairn_pool_remove_if(path.c_str(), still, &path);
  for (int i = 0; i < most_tries && result == -EBUSY; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    result = cairn_pool_remove_if(path.c_str(), still, &path);
  }
  return result == 0;
}

namespace {

bool holds_cover(const std::string& pool, const std::string& directory) {
  try {
    for (const CoverEntry& cover : list_covers(Pool(pool, look_only)))
      if (cover.directory == directory) return true;
  } catch (const Error& error) {
    inform(fmt::format("pool not checked: {}", error.what()));
  }
  return false;
}

// The pool to which a claim leads root. Root's claims lead to any pool. Other users' claims lead
// only to pools of the claim's owner, and root uses these with that user's rights: a user can make
// a pool of root's, or of a third user, in an image of a file system.
struct ClaimForRoot {
  std::optional<PoolOwner> owner;  // whose rights are taken; none: root's
  bool is_wrong = false;           // it leads to a pool of somebody else
};
// Returns nothing if the owner of the pool cannot be found out: then the claim leads nowhere.
std::optional<ClaimForRoot> look_as_root(const Claimed& claim) {
  try {
    const auto owner = other_owner(claim.pool);
    return ClaimForRoot{owner, claim.owner != 0 && (!owner || owner->user != claim.owner)};
  } catch (const Error& error) {
    inform(error.what());
    return std::nullopt;
  }
}

[[noreturn]] void refuse_claim(const std::string& directory, const Claimed& claim,
                               const ClaimForRoot& looked) {
  fail(
      "{}/.cairn-claim: belongs to user {}, but the pool {} that it names belongs to user {}: root "
      "does not use that pool; if you trust it, repeat the command with CAIRN_POOL={}; if not, "
      "remove the claim",
      directory, claim.owner, claim.pool, looked.owner ? looked.owner->user : 0, claim.pool);
}

// Does another user own the pool? If that is unknown, no: opening the pool gives the error.
bool is_of_other_user(const std::string& pool) {
  try {
    return other_owner(pool).has_value();
  } catch (const Error&) {
    return false;
  }
}

// After root's own pools, because root's rights cannot be regained. `of_other`: a pool of another
// user among those of the configuration, or "".
std::optional<std::string> find_cover_as_root(const std::string& directory, const Claimed& claim,
                                              const std::string& of_other) {
  std::string path = of_other;
  const auto looked = claim.here ? look_as_root(claim) : std::nullopt;
  if (looked && looked->is_wrong && of_other.empty()) refuse_claim(directory, claim, *looked);
  if (looked && !looked->is_wrong) {
    path = claim.pool;
    if (looked->owner) work_as(path, *looked->owner);
  }
  if (path.empty()) return std::nullopt;
  if (pool_of_owner().empty()) work_as_owner(path);
  return holds_cover(path, directory) ? std::optional(path) : std::nullopt;
}

}  // namespace

std::optional<std::string> find_cover(const Config& config, const std::string& directory) {
  if (const std::string& pool = pool_of_owner(); !pool.empty())
    return holds_cover(pool, directory) ? std::optional(pool) : std::nullopt;
  std::vector<std::string> paths = list_pools(config);
  if (auto configured = configured_pool(config))
    paths.insert(paths.begin(), std::move(*configured));
  std::string of_other;
  for (const std::string& path : paths) {
    if (access(path.c_str(), F_OK) != 0) continue;
    if (is_of_other_user(path))
      of_other = path;
    else if (holds_cover(path, directory))
      return path;
  }
  const Claimed claim = claim_of(directory);
  if (geteuid() != 0)
    return claim.here && holds_cover(claim.pool, directory) ? std::optional(claim.pool)
                                                            : std::nullopt;
  return find_cover_as_root(directory, claim, of_other);
}

std::string real_directory(const std::string& directory) {
  const std::string path = named_path(directory);
  struct stat st {};
  if (stat(path.c_str(), &st) != 0) throw Error(exit_usage, system_error(directory, errno));
  if (!S_ISDIR(st.st_mode)) usage_error("{}: not a directory", directory);
  return path;
}

std::string covered_directory(const Config& config, const std::string& directory) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path path = fs::absolute(directory, error).lexically_normal();
  const fs::path last = path.has_filename() ? path : path.parent_path();
  if (fs::is_directory(directory, error) && !is_link_of_other(last.string())) {
    std::string real = real_directory(directory);
    if (find_cover(config, real)) return real;
  }
  // The path that was covered. The last component may be a symbolic link by now, so it is not
  // followed.
  const std::string spelled =
      (fs::path(named_path(last.parent_path().string())) / last.filename()).string();
  if (find_cover(config, spelled)) return spelled;
  return real_directory(directory);
}

std::string cover_lock_name(const std::string& real_path) {
  return fmt::format("cover-{:016x}", std::hash<std::string>{}(real_path));
}

PlaceLock lock_cover_now(const std::string& pool, const std::string& real_path) {
  return {lock_directory(pool), cover_lock_name(real_path), PlaceLock::Mode::exclusive, false};
}

}  // namespace cairn::cli
