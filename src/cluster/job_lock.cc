#include "cluster/job_lock.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "pool/lock.h"

namespace cairn::cluster {
namespace {

using std::chrono::steady_clock;

Request request_of(Op op, uint64_t home, const Holder& process) {
  Request request = {};
  request.op = op;
  request.home = home;
  request.which = static_cast<uint32_t>(process.node);
  request.value = static_cast<int64_t>(process.process);
  return request;
}

// Nobody (process 0): it is the caller's.
Result<Holder> try_lock(const Job& job, uint32_t node, const Request& request) {
  uint8_t reply[sizeof(Reply) + detail_capacity];
  Question question = {node, &request, sizeof request, reply, sizeof reply, 0};
  CAIRN_TRY(job.ask(&question, 1));
  Reply head = {};
  std::memcpy(&head, reply, sizeof head);
  Holder holder = {};
  if (head.value != 0) return holder;
  if (head.size != sizeof holder)
    return fail(EIO, "node %s does not say who has a lock", job.host_of(node));
  std::memcpy(&holder, reply + sizeof head, sizeof holder);
  return holder;
}

Status unlock_for(const Job& job, uint32_t node, uint64_t home, const Holder& holder) {
  return job.ask(node, request_of(Op::unlock, home, holder)).status();
}

Status unlock_if_gone(const Job& job, uint32_t node, uint64_t home, const Holder& holder) {
  if (holder.node >= job.nodes()) return fail(EIO, "a lock is held by no node");
  CAIRN_TRY_ASSIGN(
      lives, job.ask(static_cast<uint32_t>(holder.node), request_of(Op::look_process, 0, holder)));
  return lives != 0 ? Status() : unlock_for(job, node, home, holder);
}

Holder this_process(const Job& job) { return {job.self(), process_number(job)}; }

}  // namespace

uint64_t process_number(const Job& job) {
  const pool::Pool& pool = job.fs().pool;
  const uint32_t lane = pool.held.front().number;
  return pool::make_lock_word(pool, lane, pool.lanes[lane].generation.load(), 0);
}

Status lock(const Job& job, uint32_t node, uint64_t home) {
  const Request request = request_of(Op::lock, home, this_process(job));
  constexpr auto longest = std::chrono::microseconds(1000);
  // Others have it for the time of a few messages.
  constexpr auto long_wait = std::chrono::milliseconds(100);
  auto ask_at = steady_clock::now() + long_wait;
  for (auto pause = std::chrono::microseconds(20);; pause = std::min(pause * 2, longest)) {
    CAIRN_TRY_ASSIGN(holder, try_lock(job, node, request));
    if (holder.process == 0) return Status();
    if (steady_clock::now() >= ask_at) {
      CAIRN_TRY(unlock_if_gone(job, node, home, holder));
      ask_at = steady_clock::now() + long_wait;
    }
    std::this_thread::sleep_for(pause);
  }
}

Status unlock(const Job& job, uint32_t node, uint64_t home) {
  return unlock_for(job, node, home, this_process(job));
}

}  // namespace cairn::cluster
