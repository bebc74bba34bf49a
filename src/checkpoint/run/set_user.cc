#include "checkpoint/run/set_user.h"

#include <cstring>

#include "checkpoint/run/run_words.h"
#include "pool/lanes/lock.h"
#include "pool/lanes/seats.h"

namespace cairn::checkpoint {

Result<std::optional<SetUser>> find_user(const SetFile& set) {
  if (!set.has_words()) return std::optional<SetUser>();  // no run can use it
  CAIRN_TRY_ASSIGN(words, RunWords::find(set));
  pool::Pool& pool = set.fs().pool;
  for (uint32_t rank = 0; rank < max_ranks_of_part; ++rank) {
    const uint64_t word = words.member(rank, RunWords::lane).load();
    if (word == 0 || pool::has_lost_owner(pool, word)) continue;
    const format::Lane& lane = pool.lanes[pool::lane_of(word)];
    char command[sizeof lane.command + 1] = "";
    for (size_t i = 0; i < std::size(lane.command); ++i) {
      const uint64_t part = lane.command[i].load();
      std::memcpy(command + i * sizeof part, &part, sizeof part);
    }
    return std::optional<SetUser>({lane.pid.load(), command});
  }
  return std::optional<SetUser>();
}

Result<SetState> describe_set(file::FileSystem& fs, const std::string& name) {
  SetState state;
  const auto set = SetFile::open(fs, name);
  if (set.code() == ENOENT) return set.status();
  if (!set.ok()) {
    state.why = last_detail();
    return state;
  }
  state.created_ns = (*set)->record().created;
  auto found = find_user(**set);
  if (found.ok() && *found) state.user = std::move(**found);
  return state;
}

Status check_unused(const SetFile& set) {
  CAIRN_TRY_ASSIGN(user, find_user(set));
  if (!user) return Status();
  return fail(EBUSY, "a run uses the set: process %llu (%s)",
              static_cast<unsigned long long>(user->pid), user->command.c_str());
}

Status with_set_lock(const SetFile& set, const std::function<Status()>& work) {
  if (!set.has_words()) {
    CAIRN_TRY(set.fs().pool.check_writable());
    return work();
  }
  CAIRN_TRY_ASSIGN(word, set.word(set_lock_offset));
  pool::Pool& pool = set.fs().pool;
  pool::SeatGuard seat(pool, pool::SeatGuard::OnlyLocks());
  if (!seat.ok()) return pool::no_seat(pool);
  const pool::LockGuard lock(pool, *seat, *word);
  return work();
}

}  // namespace cairn::checkpoint
