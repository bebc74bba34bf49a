#include "checkpoint/run/run.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/coarse_clock.h"
#include "base/saved_failure.h"
#include "checkpoint/run/spin_wait.h"
#include "pool/lanes/lock.h"

namespace cairn::checkpoint {
namespace {

RunState state_of(uint64_t word) { return static_cast<RunState>(word & 0xff); }
uint64_t word_of(RunState state, int error = 0) {
  return static_cast<uint64_t>(state) | static_cast<uint64_t>(error) << 8;
}

constexpr uint64_t ns_of_ms = 1'000'000;

}  // namespace

Status Run::locked(const std::function<Status()>& work) const {
  pool::SeatGuard seat(pool(), pool::SeatGuard::OnlyLocks());
  if (!seat.ok()) return pool::no_seat(pool());
  const pool::LockGuard lock(pool(), *seat, words_.lock());
  return work();
}

void Run::store_uuid(unsigned i, const Uuid& uuid) {
  for (unsigned k = 0; k < 2; ++k) {
    uint64_t half = 0;
    std::memcpy(&half, uuid.data() + size_t{8} * k, sizeof half);
    pool().store(words_.run(i + k), half);
  }
}

Uuid Run::uuid() const { return words_.run_uuid(); }

std::vector<uint32_t> Run::numbers() const {
  if (exchange() != nullptr) return member_.numbers;
  std::vector<uint32_t> numbers(ranks());
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

bool Run::is_gone(uint32_t rank) const {
  return pool::has_lost_owner(pool(), words_.member(rank, RunWords::lane).load());
}

Result<std::unique_ptr<Run>> Run::enter(SetFile& set, const RunMember& member,
                                        const Prepare& prepare) {
  if (member.ranks == 0 || member.ranks > max_ranks_of_part || member.rank >= member.ranks)
    return fail(EINVAL, "rank %u of %u: at most %u ranks on a node", member.rank, member.ranks,
                max_ranks_of_part);
  std::unique_ptr<Run> run(new Run(set, member, prepare));
  CAIRN_TRY_ASSIGN(words, RunWords::find(set));
  run->words_ = words;
  // Ranks of the run before, in the same processes, may be about to leave.
  SpinWait spin;
  const uint64_t until = coarse_monotonic_ns() + member.timeout_ms * ns_of_ms;
  for (;;) {
    const Status joined = run->locked([&] { return run->join(); });
    if (joined.ok()) return run;
    if (joined.code() != EAGAIN) return joined;
    if (coarse_monotonic_ns() > until) return Status(EBUSY);
    spin.pause();
  }
}

Result<std::unique_ptr<Run>> Run::begin(SetFile& set, const RunMember& member,
                                        const Prepare& prepare) {
  CAIRN_TRY_ASSIGN(run, enter(set, member, prepare));
  CAIRN_TRY(run->wait());
  return run;
}

Run::~Run() {
  // The others take a process that leaves without end() for a killed one.
  if (is_member_) pool().store(words_.member(member_.rank, RunWords::lane), 0);
}

// Checks for a run of other processes.
Status Run::check_others() const {
  const bool is_ours = words_.uuid_at(RunWords::key) == member_.key;
  for (uint32_t rank = 0; rank < max_ranks_of_part; ++rank) {
    const uint64_t word = words_.member(rank, RunWords::lane).load();
    if (word == 0 || pool::has_lost_owner(pool(), word)) continue;
    const format::Lane& lane = pool().lanes[pool::lane_of(word)];
    char command[sizeof lane.command + 1] = "";
    for (size_t i = 0; i < std::size(lane.command); ++i) {
      const uint64_t part = lane.command[i].load();
      std::memcpy(command + i * sizeof part, &part, sizeof part);
    }
    const auto pid = static_cast<unsigned long long>(lane.pid.load());
    if (!is_ours && pid == static_cast<unsigned long long>(getpid()))
      return fail(EBUSY, "this process (%llu) uses the set already; finalize that context first",
                  pid);
    if (!is_ours) return fail(EBUSY, "another run uses the set: process %llu (%s)", pid, command);
    if (rank == member_.rank)
      return fail(EAGAIN, "process %llu (%s) is rank %u already", pid, command, number());
  }
  if (is_ours && words_.run(RunWords::ranks).load() != member_.ranks)
    return fail(EINVAL, "rank %u: started with %u ranks; another rank with %llu", number(),
                member_.ranks, static_cast<unsigned long long>(words_.run(RunWords::ranks).load()));
  return Status();
}

// Clears the words, which mean nothing without members.
void Run::clear() {
  const auto clear_word = [this](persist::Word& word) {
    if (word.load() != 0) pool().store(word, 0);
  };
  constexpr uint64_t words = (set_answers_offset + 8 * set_answers - set_run_offset) / 8;
  for (unsigned i = 0; i < words; ++i) clear_word(words_.run(i));
  for (uint32_t rank = 0; rank < max_ranks_of_part; ++rank) {
    for (unsigned i = 0; i < 8; ++i)
      clear_word(words_.member(rank, static_cast<RunWords::OfMember>(i)));
  }
}

Status Run::join() {
  bool anybody = false;
  for (uint32_t rank = 0; rank < max_ranks_of_part && !anybody; ++rank) anybody = !is_gone(rank);
  if (!anybody) {
    CAIRN_TRY_ASSIGN(drawn, draw_uuid());
    clear();
    // All nodes of a run give it the same uuid.
    store_uuid(RunWords::uuid, exchange() == nullptr ? drawn : member_.key);
    store_uuid(RunWords::key, member_.key);
    pool().store(words_.run(RunWords::ranks), member_.ranks);
    pool().store(words_.run(RunWords::state), word_of(RunState::assembling));
  }
  CAIRN_TRY(check_others());
  if (state_of(words_.run(RunWords::state).load()) != RunState::assembling)
    return fail(EAGAIN, "the run has begun without rank %u", number());
  pool::SeatGuard seat(pool(), pool::SeatGuard::OnlyLocks());
  if (!seat.ok()) return pool::no_seat(pool());
  pool().store(words_.member(member_.rank, RunWords::launcher), member_.launcher);
  pool().store(words_.member(member_.rank, RunWords::lane), seat->lock_word);
  is_member_ = true;
  return prepare_if_complete();
}

// Starts the run when all ranks are there. Called under the lock.
Status Run::prepare_if_complete() {
  persist::Word& state = words_.run(RunWords::state);
  if (state_of(state.load()) != RunState::assembling) return Status();
  for (uint32_t rank = 0; rank < member_.ranks; ++rank)
    if (words_.member(rank, RunWords::lane).load() == 0 || is_gone(rank)) return Status();
  const auto last = prepare_();
  if (!last.ok()) {
    pool().store(state, word_of(RunState::failed, last.code()));
    return last.status();
  }
  pool().store(words_.run(RunWords::last_sequence), *last);
  pool().store(state, word_of(RunState::running));
  return Status();
}

// Returns the error with the ranks that are missing.
Status Run::missing(int error) const {
  std::string who;
  uint32_t count = 0;
  for (uint32_t rank = 0; rank < member_.ranks; ++rank) {
    if (!is_gone(rank)) continue;
    constexpr uint32_t shown = 8;
    if (++count <= shown) who += (count == 1 ? "" : ", ") + std::to_string(number_of(rank));
    if (count == shown + 1) who += ", ...";
  }
  return fail(error, "%u of %u ranks are not there: %s", count, member_.ranks, who.c_str());
}

Status Run::wait() {
  SpinWait spin;
  const uint64_t until = coarse_monotonic_ns() + member_.timeout_ms * ns_of_ms;
  for (;;) {
    const uint64_t word = words_.run(RunWords::state).load();
    if (state_of(word) == RunState::running) return Status();
    if (state_of(word) == RunState::failed)
      return fail(static_cast<int>(word >> 8), "another rank could not begin the run");
    if (!spin.pause()) continue;
    // The last rank to arrive may have been killed before it started the run.
    CAIRN_TRY(locked([&] { return prepare_if_complete(); }));
    if (coarse_monotonic_ns() > until &&
        state_of(words_.run(RunWords::state).load()) == RunState::assembling)
      return missing(ETIMEDOUT);
  }
}

int64_t Run::greatest() const {
  int64_t most = INT64_MIN;
  for (uint32_t rank = 0; rank < member_.ranks; ++rank) most = std::max(most, value_of(rank));
  return most;
}

// Returns why an absent rank will never come to this meeting; ok: it may come.
Status Run::look_at_absent(uint32_t rank, uint64_t arrived) const {
  Status status;
  if (words_.member(rank, RunWords::arrival).load() > arrived) {
    status = fail(EINVAL, "rank %u writes a version, and rank %u is in another collective call",
                  number_of(rank), number());
  } else if (is_gone(rank)) {
    status = fail(EOWNERDEAD, "rank %u was killed, or has left", number_of(rank));
  }
  // The rank may have come meanwhile, before it left or died.
  return words_.member(rank, RunWords::meeting).load() >> 8 >= meetings_ ? Status() : status;
}

// Checks whether all ranks are in this meeting, or never can be.
Status Run::look_at_meeting(Purpose purpose, uint64_t arrived, bool* all_here) const {
  *all_here = true;
  for (uint32_t rank = 0; rank < member_.ranks; ++rank) {
    const uint64_t word = words_.member(rank, RunWords::meeting).load();
    if (word >> 8 < meetings_) {
      *all_here = false;
      CAIRN_TRY(look_at_absent(rank, arrived));
      continue;
    }
    const bool is_same = word >> 8 == meetings_ && static_cast<Purpose>(word & 0xff) == purpose;
    if (!is_same && words_.meetings(RunWords::met).load() < meetings_)
      return fail(EINVAL, "ranks %u and %u are in different collective calls", number(),
                  number_of(rank));
  }
  return Status();
}

void Run::come_to_meeting(Purpose purpose, int64_t value) {
  ++meetings_;
  pool().store(words_.member(member_.rank, RunWords::said), static_cast<uint64_t>(value));
  pool().store(words_.member(member_.rank, RunWords::meeting),
               meetings_ << 8 | static_cast<uint64_t>(purpose));
}

Result<int64_t> Run::barrier_reduce(Purpose purpose, int64_t value, uint64_t arrived,
                                    const Evaluate& evaluate) {
  come_to_meeting(purpose, value);
  SpinWait spin;
  bool looks = true;
  for (;;) {
    persist::Word& met = words_.meetings(RunWords::met);
    if (met.load() >= meetings_)
      return static_cast<int64_t>(words_.meetings(RunWords::value).load());
    if (looks) {
      bool all_here = false;
      CAIRN_TRY(look_at_meeting(purpose, arrived, &all_here));
      if (all_here) {
        CAIRN_TRY(locked([&] {
          if (met.load() >= meetings_) return Status();
          pool().store(words_.meetings(RunWords::value), static_cast<uint64_t>(evaluate()));
          pool().store(met, meetings_);
          return Status();
        }));
        continue;
      }
    }
    looks = spin.pause();
  }
}

Result<int64_t> Run::barrier_max(Purpose purpose, int64_t value, uint64_t arrived) {
  if (exchange() != nullptr) return barrier_max_nodes(purpose, value, arrived);
  return barrier_reduce(purpose, value, arrived, [this] { return greatest(); });
}

namespace {

// A leader's message to the others about a meeting.
struct NodeSays {
  int64_t value;
  uint64_t meeting;
  uint32_t purpose;
  int32_t fault;  // errno that keeps this node's ranks from meeting
};

constexpr unsigned fault_node_shift = 32;

}  // namespace

// Meets with other nodes: the leader waits for the ranks of its node, then for the other leaders,
// and stores the result.
Result<int64_t> Run::barrier_max_nodes(Purpose purpose, int64_t value, uint64_t arrived) {
  come_to_meeting(purpose, value);
  persist::Word& met = words_.meetings(RunWords::met);
  SpinWait spin;
  for (bool looks = true;;) {
    if (met.load() >= meetings_) return result_of_nodes();
    if (looks) {
      bool all_here = false;
      const Status status = look_at_meeting(purpose, arrived, &all_here);
      if (is_leader() && (all_here || !status.ok())) {
        const SavedFailure saved(status);
        CAIRN_TRY(tell_nodes(purpose, status));
        if (!status.ok()) return saved.restored();
        continue;
      }
      if (!status.ok() && met.load() < meetings_) return status;
    }
    if (is_leader()) exchange()->progress();
    looks = spin.pause() || is_leader();
  }
}

Status Run::tell_nodes(Purpose purpose, const Status& own) {
  const NodeSays says = {greatest(), meetings_, static_cast<uint32_t>(purpose), own.code()};
  std::vector<NodeSays> all(nodes());
  CAIRN_TRY(gather(exchange(), Exchange::Channel::commit, &says, sizeof says, all.data()));
  int64_t value = INT64_MIN;
  uint64_t fault = 0;
  for (uint32_t node = 0; node < nodes(); ++node) {
    const NodeSays& one = all[node];
    const bool differs = one.meeting != meetings_ || one.purpose != says.purpose;
    if (fault == 0 && (one.fault != 0 || differs))
      fault = static_cast<uint64_t>(one.fault != 0 ? one.fault : EINVAL) | uint64_t{node}
                                                                               << fault_node_shift;
    value = std::max(value, one.value);
  }
  pool().store(words_.meetings(RunWords::fault), fault);
  pool().store(words_.meetings(RunWords::value), static_cast<uint64_t>(value));
  pool().store(words_.meetings(RunWords::met), meetings_);
  return Status();
}

Result<int64_t> Run::result_of_nodes() {
  const uint64_t fault = words_.meetings(RunWords::fault).load();
  if (fault == 0) return static_cast<int64_t>(words_.meetings(RunWords::value).load());
  const auto error = static_cast<int>(fault & 0xffff);
  const std::string where = exchange()->name_of(static_cast<uint32_t>(fault >> fault_node_shift));
  return fail(error, "%s: %s", where.c_str(),
              error == EOWNERDEAD ? "a rank was killed, or has left"
                                  : "its ranks are in another collective call");
}

Status Run::end(const std::function<Status()>& clean) {
  return locked([&] {
    pool().store(words_.member(member_.rank, RunWords::lane), 0);
    is_member_ = false;
    for (uint32_t rank = 0; rank < member_.ranks; ++rank)
      if (!is_gone(rank)) return Status();
    pool().store(words_.run(RunWords::state), word_of(RunState::ended));
    return clean();
  });
}

}  // namespace cairn::checkpoint
