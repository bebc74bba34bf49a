#include "tier/drain.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <vector>

#include "file/inode/attributes.h"
#include "file/namespace/moved.h"
#include "file/namespace/tree.h"
#include "pool/lanes/lock.h"
#include "tier/at_home.h"
#include "tier/claim.h"
#include "tier/claim_aside.h"
#include "tier/drain_state.h"
#include "tier/listing.h"
#include "tier/record.h"

namespace cairn::tier {

int64_t LowerDirectory::fd() {
  if (fd_.ok()) return fd_.get();
  const file::LowerIdentity* identity = where_.identity ? &*where_.identity : nullptr;
  const bool may_be_any = where_.inode == state_.top.inode;
  if (identity == nullptr && !may_be_any) return -ESTALE;
  int64_t opened = open_directory(state_.beneath, where_.path, state_.known, identity);
  if (opened == -EACCES) {
    set_drained(state_.fs, where_.map, 0);  // it gets its mode back
    opened = open_own_directory(state_.beneath, where_.path, state_.known, identity);
  }
  if (opened >= 0) fd_ = sys::Descriptor(static_cast<int>(opened));
  return opened;
}

int64_t LowerDirectory::touch() {
  const int64_t opened = fd();
  if (opened < 0) return opened;
  constexpr uint64_t margin = 5'000'000'000;
  if (file::now_ns() + margin > ours_until_) {
    // What changed here now would be taken for somebody else's when its old place is removed.
    if (state_.has_moved(where_)) return -ESTALE;
    const uint64_t until = announce(state_.fs, where_.inode);
    if (until == 0) return -ESTALE;
    ours_until_ = until;
  }
  if (touched_) return opened;
  touched_ = true;
  // Whatever ends this drain, the next one will look at the directory's times again.
  set_drained(state_.fs, where_.map, 0);
  struct stat st = {};
  constexpr uint32_t needed = S_IRUSR | S_IWUSR | S_IXUSR;
  if (geteuid() != 0 && sys::fstat(fd_.get(), &st) == 0 && (st.st_mode & needed) != needed)
    sys::fchmod(fd_.get(), (st.st_mode & 07777) | needed);  // refused: the first file will tell
  return opened;
}

// The file counts as changed again. With its lock, because an eviction looks at the mark under it.
static void unmark(DrainState& state, const file::Map& map) {
  file::FileSystem& fs = state.fs;
  {
    const pool::SeatGuard seat(fs.pool);
    std::optional<pool::LockGuard> lock;
    if (seat.ok()) lock.emplace(fs.pool, *seat, map.inode->lock);
    set_drained(fs, map, 0);
    file::forget_move(fs.pool, *map.inode);
  }
  // If it was evicted since, the pool must have the bytes that lower may lose.
  state.lower.stage(map.number).ignore();
}

Status LowerDirectory::sync() {
  if (!touched_) return Status();
  const int64_t result = sys::fsync_directory(fd_.get());
  if (result < 0) {
    for (const file::Map& map : marked_) unmark(state_, map);
  }
  marked_.clear();
  return result < 0 ? sys::failed(result, "fsync", where_.path) : Status();
}

void DrainState::failed(const std::string& path, Status status) {
  // A directory was removed while it was listed. One that is damaged is so for the next drain, too.
  if (status.code() == EUCLEAN && calls.while_running && have_names_changed()) return;
  ++report.failed;
  if (status.code() == ENOSPC || status.code() == EDQUOT) out_of_space = true;
  const std::string detail = last_detail();
  const std::string text = detail.find(path) == std::string::npos ? path + ": " + detail : detail;
  if (calls.problem) calls.problem(text.c_str());
}

bool DrainState::has_moved(const Where& where) const {
  if (!have_names_changed()) return false;
  const auto home = home_of_directory(fs, where.inode);
  return !home || top.path + *home != where.path;
}

void DrainState::conflict(const Where& where, const std::string& path, const char* what) {
  if (has_moved(where)) {
    waiting.insert(where.inode);
    return;
  }
  ++report.conflicts;
  note_foreign(*this, where.inode);
  const std::string text = path + ": " + what;
  if (calls.problem) calls.problem(text.c_str());
}

void DrainState::not_opened(const Where& where, const std::string& path, int64_t result) {
  if (result == -ESTALE)
    return conflict(where, path, "its directory was replaced outside Cairn; the pool keeps it");
  if (has_moved(where)) {
    waiting.insert(where.inode);
    return;
  }
  failed(path, sys::failed(result, "open", where.path));
}

bool DrainState::advance(uint64_t bytes) {
  done += bytes;
  if (calls.progress && !calls.progress(done, std::max(done, total))) cancelled = true;
  return !cancelled;
}

namespace {

// What a drain would write.
struct Plan {
  struct File {
    uint64_t size;
    uint64_t freed;                      // by what it replaces
    std::pair<uint64_t, uint64_t> name;  // as in DrainState::moved_from
  };
  uint64_t bytes = 0;
  uint64_t count = 0;
  VisitUndrained visit = {};
  std::vector<File> files = {};  // only for who is going to drain
  uint32_t modes = 0;            // as Undrained has them
  std::string oldest = {};
  uint64_t oldest_time = 0;
  uint64_t left_out = 0;
  uint64_t renamed = 0;
};

// The most that lower has more than before while the files are written, old and new ones lying
// beside each other.
uint64_t most_room(const DrainState& state, const Plan& plan) {
  uint64_t running = 0;
  uint64_t peak = 0;
  uint64_t small = 0;  // what replaces others together with more such, later than one by one
  for (const Plan::File& file : plan.files) {
    running += file.size;
    peak = std::max(peak, running);
    if (state.moved_from.count(file.name) == 0) running -= std::min(running, file.freed);
    if (file.freed != 0 && file.size <= Together::largest) small += file.size;
  }
  return peak + std::min(small, Together::most_bytes);
}

bool is_there_already(const DrainState* state, const Where& where, const file::Listed& listed) {
  if (state == nullptr || !listed.has_lower) return false;
  const int64_t opened =
      state->beneath.open(where.path + "/" + name_of(listed), O_PATH | O_NOFOLLOW);
  if (opened < 0) return false;
  const sys::Descriptor fd(static_cast<int>(opened));
  return check_file(fd.get(), state->known, listed.lower) == 0;
}

void note_age(file::FileSystem& fs, const Where& where, const file::Listed& listed,
              const file::Map& map, Plan* plan) {
  const uint64_t changed = change_time(fs, map);
  if (plan->oldest_time != 0 && changed >= plan->oldest_time) return;
  plan->oldest_time = changed;
  plan->oldest = (where.path + "/" + name_of(listed)).substr(1);
}

// Lower has the name in a directory that a drain has made there and not finished, as far as the
// pool knows: for a caller that does not ask lower.
bool is_told_as_drained(file::FileSystem& fs, const Where& where, const file::Listed& listed,
                        const file::Map& map) {
  return where.fresh && !where.is_moved && is_at_home(where, listed, map) &&
         change_time(fs, map) == map.inode->drained.load();
}

void plan_file(file::FileSystem& fs, DrainState* state, const Where& where,
               const file::Listed& listed, const file::Map& map, Plan* plan) {
  if (!S_ISREG(map.inode->mode.load()) || is_drained(fs, where, listed, map)) return;
  if ((map.inode->flags.load() & format::flag_lazy) != 0) return;
  if (is_left_out(fs, where, listed, map)) {
    ++plan->left_out;
    return;
  }
  if (where.fresh && change_time(fs, map) == map.inode->drained.load() &&
      is_there_already(state, where, listed))
    return;
  if (state == nullptr && is_told_as_drained(fs, where, listed, map)) return;
  uint64_t size = 0;
  {
    pool::SeatGuard seat(fs.pool);
    if (!seat.ok()) return;
    const file::Attributes attributes = file::attributes_of(fs, map);
    size = std::min(attributes.size, attributes.blocks * format::block_size);
  }
  if (file::has_only_moved(*map.inode) ||
      has_only_moved_with_directory(where, listed, map)) {  // it gets a link (drain_moved.cc)
    if (state == nullptr) {
      ++plan->renamed;
      return;
    }
    size = 0;
  }
  plan->bytes += size;
  ++plan->count;
  if (state == nullptr) note_age(fs, where, listed, map, plan);
  if (plan->visit && !plan->visit((where.path + "/" + name_of(listed)).substr(1), size,
                                  listed.has_lower && !where.fresh))
    plan->visit = {};
  if (state == nullptr) return;
  plan->files.push_back({size,
                         listed.has_lower && !where.fresh ? listed.lower.size : 0,
                         {where.inode, unit_of(listed) + 1}});
  if (map.inode->lower_parent.load() != 0 && !is_at_home(where, listed, map))
    state->moved_from.insert({map.inode->lower_parent.load(), map.inode->lower_unit.load()});
}

// A directory holds something that no drain can carry, such as an unsound name. Somebody who drains
// is told by create().
void plan_unsound(const DrainState* state, const Where& where, Plan* plan) {
  ++plan->count;
  if (state == nullptr && plan->visit && !plan->visit("." + where.path + "/", 0, false))
    plan->visit = {};
}

// `state` null: nobody is going to drain, nor to ask lower.
Status make_plan(file::FileSystem& fs, DrainState* state, const Where& top, Plan* plan) {
  std::vector<Where> directories = {top};
  const auto note_mode = [plan](DrainMode own) {
    if (own != DrainMode::inherit) plan->modes |= 1U << static_cast<unsigned>(own);
  };
  note_mode(top.mode);
  file::Tree tree(fs, top.inode);
  while (!directories.empty()) {
    const Where where = std::move(directories.back());
    directories.pop_back();
    const auto visit = [&](const file::Listed& listed) -> Status {
      if (state != nullptr && !state->is_asked_for(listed.inode)) return Status();
      auto inode = file::live_inode(fs, listed.inode);
      if (!inode.ok()) return Status();
      const file::Map map{*inode, listed.inode};
      note_mode(own_drain_mode(fs, map));
      if (!S_ISDIR((*inode)->mode.load())) {
        plan_file(fs, state, where, listed, map, plan);
        // Names of the file that lower does not have yet become links to this one.
        if (state != nullptr && (*inode)->links.load() > 1 && is_drained(fs, where, listed, map) &&
            still_names(fs, where, listed, map))
          note_linked(*state, where, listed, map, listed.lower, (*inode)->drained.load());
      } else if (((*inode)->flags.load() & format::flag_lazy) == 0) {
        if (!tree.enter(where.map, listed).ok()) {
          plan_unsound(state, where, plan);
          return Status();
        }
        if (state != nullptr) look_for_foreign(*state, where, listed, map);
        bool is_moved = where.is_moved || !is_at_home(where, listed, map);
        const bool fresh = where.fresh || is_new_in_lower(map) || is_moved;
        if (state != nullptr && is_moved) {
          note_old_path(*state, where, listed, map);
          is_moved = state->old_paths.count(listed.inode) != 0;
        }
        directories.push_back({listed.inode, map, where.path + "/" + name_of(listed), fresh,
                               remembered_of(listed), drain_mode_in(fs, map, where.mode),
                               is_moved});
      }
      return Status();
    };
    const Status status = for_each_name(fs, where.map, false, visit);
    if (status.code() == EUCLEAN)
      plan_unsound(state, where, plan);
    else
      CAIRN_TRY(status);
  }
  return Status();
}

Status check_room(const DrainState& state, const Plan& plan) {
  struct statfs st = {};
  if (const int64_t result = sys::fstatfs(state.beneath.fd(), &st); result < 0)
    return sys::failed(result, "statfs", state.cover.path);
  const uint64_t free = static_cast<uint64_t>(st.f_bavail) * static_cast<uint64_t>(st.f_bsize);
  const uint64_t needed = most_room(state, plan);
  if (needed <= free) return Status();
  return fail(ENOSPC, "%s: draining needs %llu bytes there, %llu are free; nothing was copied",
              state.cover.path.c_str(), static_cast<unsigned long long>(needed),
              static_cast<unsigned long long>(free));
}

// Is there a name below `top` of which `found(where, listed, inode)` holds, or one that no drain
// can carry? The inode is null if it is gone.
template <typename Found>
Result<bool> any_name(file::FileSystem& fs, const Where& top, bool with_whiteouts, Found found) {
  bool any = false;
  std::vector<Where> directories = {top};
  file::Tree tree(fs, top.inode);
  while (!any && !directories.empty()) {
    const Where where = std::move(directories.back());
    directories.pop_back();
    const auto visit = [&](const file::Listed& listed) -> Status {
      auto inode = file::live_inode(fs, listed.inode);
      file::Inode* at = inode.ok() ? *inode : nullptr;
      any = any || found(where, listed, at);
      if (at != nullptr && S_ISDIR(at->mode.load()) &&
          (at->flags.load() & format::flag_lazy) == 0) {
        CAIRN_TRY(tree.enter(where.map, listed));
        directories.push_back({listed.inode,
                               {at, listed.inode},
                               "",
                               false,
                               {},
                               drain_mode_in(fs, {at, listed.inode}, where.mode)});
      }
      return Status();
    };
    const Status status = for_each_name(fs, where.map, with_whiteouts, visit);
    if (status.code() == EUCLEAN)
      any = true;
    else
      CAIRN_TRY(status);
  }
  return any;
}

Where top_of(file::FileSystem& fs, const file::Map& map, const std::string& path) {
  return {map.number, map, path, false, {}, own_drain_mode(fs, map)};
}

bool has_place(const Where& where, const file::Listed& listed, file::Inode* directory) {
  const file::Map map{directory, listed.inode};
  return is_at_home(where, listed, map) && !is_new_in_lower(map);
}

// There is something below this directory of the pool that lower is to get.
Result<bool> has_undrained(file::FileSystem& fs, const Where& top) {
  return any_name(
      fs, top, false, [&](const Where& where, const file::Listed& listed, file::Inode* inode) {
        if (inode == nullptr || is_left_out(fs, where, listed, {inode, listed.inode})) return false;
        return S_ISDIR(inode->mode.load()) ? !has_place(where, listed, inode)
                                           : !is_drained(fs, where, listed, {inode, listed.inode});
      });
}

// There is something below this directory of the pool that this drain may write while a run goes
// on, and that is no directory.
Result<bool> has_work(DrainState& state, const Where& top) {
  return any_name(state.fs, top, false,
                  [&](const Where& where, const file::Listed& listed, file::Inode* inode) {
                    if (inode == nullptr || S_ISDIR(inode->mode.load())) return false;
                    const file::Map map{inode, listed.inode};
                    return !is_left_out(state.fs, where, listed, map) &&
                           !state.is_left_to_later(drain_mode_in(state.fs, map, where.mode)) &&
                           !is_drained(state.fs, where, listed, map);
                  });
}

// Whether a directory that lower does not have needs no place there, because nothing below it is to
// be written: now, or at all. Else lower would get the empty skeleton of a tree.
bool needs_no_place(DrainState& state, const Where& where, const file::Listed& listed,
                    const file::Map& map) {
  const DrainMode mode = drain_mode_in(state.fs, map, where.mode);
  const Where below{listed.inode, map, "", false, {}, mode};
  if (state.is_left_to_later(mode)) {
    auto work = has_work(state, below);
    if (!work.ok() || *work) return false;  // what cannot be listed is told by the walk
    state.postponed.insert(listed.inode);
    state.waiting.insert(where.inode);
    return true;
  }
  if (listed.has_lower || !is_left_out(state.fs, where, listed, map)) return false;
  auto undrained = has_undrained(state.fs, below);
  return undrained.ok() && !*undrained;
}

// A directory that is about to be looked through. What somebody has removed in lower is made again
// if something is to be written there, as a file is that was changed here; else it stays removed.
// False: nothing is to be done in it.
bool make_again(DrainState& state, const Where& where, LowerDirectory& lower,
                const file::Listed& listed, const file::Map& map,
                std::optional<file::LowerIdentity>* identity) {
  auto needed = has_undrained(
      state.fs, {listed.inode, map, "", false, {}, drain_mode_in(state.fs, map, where.mode)});
  if (!needed.ok()) {
    state.failed(where.path + "/" + name_of(listed), needed.status());
    return false;
  }
  return *needed && drain_directory(state, where, lower, listed, map, identity);
}

void create_in(DrainState& state, const Where& where, file::Tree* tree,
               std::vector<Where>* directories) {
  LowerDirectory lower(state, where);
  Together together(state, where, lower);
  const Status status =
      for_each_name(state.fs, where.map, false, [&](const file::Listed& listed) -> Status {
        if (state.cancelled) return Status(ECANCELED);
        if (!state.is_asked_for(listed.inode)) return Status();
        auto inode = file::live_inode(state.fs, listed.inode);
        if (!inode.ok()) return Status();  // removed meanwhile
        const file::Map map{*inode, listed.inode};
        const bool at_top = where.inode == state.top.inode;
        if (at_top ? is_hidden_at_top(name_of(listed)) : is_hidden(name_of(listed))) {
          state.failed(where.path + "/" + name_of(listed),
                       fail(EINVAL, "the name is reserved for Cairn"));
          return Status();
        }
        if (!S_ISDIR((*inode)->mode.load())) {
          if (is_left_out(state.fs, where, listed, map) || is_postponed(state, where, listed, map))
            return Status();
          if (Together::suits(state.fs, where, listed, map))
            together.add(listed, map);
          else
            drain_name(state, where, lower, listed, map);
          return Status();
        }
        if (const Status entered = tree->enter(where.map, listed); !entered.ok()) {
          state.failed(where.path + "/" + name_of(listed), entered);
          return Status();
        }
        const bool fresh = where.fresh || is_new_in_lower(map) || !is_at_home(where, listed, map);
        std::optional<file::LowerIdentity> identity = remembered_of(listed);
        // It has come here since the plan was made. Once it has its place, nobody knows the old
        // one.
        if ((where.is_moved || !is_at_home(where, listed, map)) &&
            state.old_paths.count(listed.inode) == 0)
          note_old_path(state, where, listed, map);
        if (fresh && needs_no_place(state, where, listed, map)) {
          state.skipped.insert(listed.inode);
          return Status();
        }
        if (fresh && !drain_directory(state, where, lower, listed, map, &identity)) {
          state.skipped.insert(listed.inode);
          return Status();
        }
        if (state.gone.count(listed.inode) != 0 &&
            !make_again(state, where, lower, listed, map, &identity))
          return Status();
        // Nothing was changed below a directory that was never entered.
        if (((*inode)->flags.load() & format::flag_lazy) == 0)
          directories->push_back({listed.inode, map, where.path + "/" + name_of(listed), fresh,
                                  identity, drain_mode_in(state.fs, map, where.mode),
                                  state.old_paths.count(listed.inode) != 0});
        return Status();
      });
  if (!status.ok() && !state.cancelled) state.failed(where.path, status);
  together.drain();
  if (Status synced = lower.sync(); !synced.ok()) {
    for (auto& [number, linked] : state.linked) linked.is_complete = false;
    state.failed(where.path, synced);
  }
}

void create(DrainState& state, const Where& top) {
  std::vector<Where> directories = {top};
  file::Tree tree(state.fs, top.inode);
  while (!directories.empty() && !state.cancelled) {
    const Where where = std::move(directories.back());
    directories.pop_back();
    create_in(state, where, &tree, &directories);
  }
}

// A name that no other drain of the same directory has, with the host so that leftovers have an
// owner.
std::string aside_name(const file::FileSystem& fs) {
  return std::string(drain_prefix) + cover_name(own_claim(fs, "").host).substr(0, 8) + "-" +
         sys::random_name();
}

}  // namespace

Status drain(Cover& cover, const DrainCalls& calls, DrainReport* report) {
  file::FileSystem& fs = *cover.fs;
  auto lock = lock_drain(fs, cover.name);
  if (!lock.ok()) return lock.status();
  auto known = lower_of(fs).cover_of_top(cover.top);
  if (!known.ok()) return known.status();
  if (*known == nullptr) return fail(ENOENT, "%s is not covered any more", cover.path.c_str());
  auto inode = file::live_inode(fs, cover.top);
  if (!inode.ok()) return inode.status();
  const Where top = top_of(fs, {*inode, cover.top}, cover.path);
  DrainState state(cover, top, **known, calls, *report);
  CAIRN_TRY_ASSIGN(covered, open_covered(cover));
  if (!covered.directory.ok()) return Status();  // it is gone, and nothing is to be drained
  state.owner = covered.owner;
  state.beneath = Beneath(std::move(covered.directory), cover.path);
  remove_claims_left(state.beneath.fd());
  state.aside = aside_name(fs);
  CAIRN_TRY(state.journal.open(fs, cover.covers, cover.name));
  state.links_until = state.journal.links_until();
  CAIRN_TRY(recover_journal(state));
  note_open_files(state);
  Plan plan;
  CAIRN_TRY(make_plan(fs, &state, top, &plan));
  // While programs run, each file is looked at by itself, and what fits goes (drain_file.cc).
  if (!calls.while_running || calls.while_running->at_end) CAIRN_TRY(check_room(state, plan));
  state.total = plan.bytes;
  CAIRN_TRY(state.journal.begin_drain(state.begun));
  create(state, top);
  if (!state.cancelled) {
    finish_links(state);
    finish(state, top);
  }
  CAIRN_TRY(state.journal.clear());
  if (state.cancelled) return fail(ECANCELED, "draining %s was stopped", cover.path.c_str());
  if (state.clean_so_far()) return Status();
  return fail(state.out_of_space ? ENOSPC : EIO,
              "%s: %llu files could not be drained, %llu changed there outside Cairn",
              cover.path.c_str(), static_cast<unsigned long long>(report->failed),
              static_cast<unsigned long long>(report->conflicts));
}

Result<bool> is_all_drained(file::FileSystem& fs, uint64_t number) {
  auto top = file::live_inode(fs, number);
  if (!top.ok()) return top.status();
  auto left =
      any_name(fs, top_of(fs, {*top, number}, ""), true,
               [&](const Where& where, const file::Listed& listed, file::Inode* inode) {
                 if (listed.whiteout || inode == nullptr) return true;
                 const file::Map map{inode, listed.inode};
                 const bool is_directory = S_ISDIR(inode->mode.load());
                 if (is_left_out(fs, where, listed, map) && !(is_directory && listed.has_lower))
                   return false;
                 return !is_drained(fs, where, listed, map) ||
                        (is_directory && !has_place(where, listed, inode));
               });
  if (!left.ok()) return left.status();
  return !*left;
}

Status end_drain(const Cover& cover) {
  auto lock = try_lock_drain(*cover.fs, cover.name);
  if (lock.code() == EAGAIN) return Status();  // another drain has begun, and ends by itself
  if (!lock.ok()) return lock.status();
  auto begun = Journal::drain_begun(*cover.fs, cover.covers, cover.name);
  if (!begun.ok() || *begun == 0) return begun.status();
  Journal journal;
  CAIRN_TRY(journal.open(*cover.fs, cover.covers, cover.name));
  return journal.end_drain();
}

Status for_each_undrained(file::FileSystem& fs, uint64_t number, const VisitUndrained& visit) {
  auto inode = file::live_inode(fs, number);
  if (!inode.ok()) return inode.status();
  Plan plan;
  plan.visit = visit;
  return make_plan(fs, nullptr, top_of(fs, {*inode, number}, ""), &plan);
}

Result<Undrained> undrained_data(file::FileSystem& fs, uint64_t number) {
  auto inode = file::live_inode(fs, number);
  if (!inode.ok()) return inode.status();
  Plan plan;
  CAIRN_TRY(make_plan(fs, nullptr, top_of(fs, {*inode, number}, ""), &plan));
  return Undrained{plan.count,       plan.bytes,    plan.modes,  plan.oldest,
                   plan.oldest_time, plan.left_out, plan.renamed};
}

}  // namespace cairn::tier
