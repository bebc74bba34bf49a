#include "cluster/rpc/job_lock.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "cluster/record/codec.h"
#include "pool/lanes/lock.h"

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

// The holder of the lock; process 0: it is the caller's. `gone`: was found dead with it.
Result<Holder> try_lock(const Job& job, uint32_t node, Request request, const Holder& gone,
                        Told* told) {
  const std::string text = told == nullptr ? "" : told->intent;
  request.text = text.size();
  std::memcpy(request.uuid.data(), &gone, sizeof gone);
  std::vector<uint8_t> asked(sizeof request + text.size());
  std::memcpy(asked.data(), &request, sizeof request);
  std::memcpy(asked.data() + sizeof request, text.data(), text.size());
  constexpr size_t most_left = 10 * longest_intent;
  const size_t capacity = sizeof(Reply) + (told == nullptr ? detail_capacity : most_left);
  const auto reply = std::make_unique_for_overwrite<uint8_t[]>(capacity);
  Question question = {node, asked.data(), asked.size(), reply.get(), capacity, 0};
  CAIRN_TRY(job.ask(&question, 1));
  Reply head = {};
  std::memcpy(&head, reply.get(), sizeof head);
  Holder holder = {};
  if (head.value != 0) {
    Unpacker left(reply.get() + sizeof head, head.size);
    while (told != nullptr && left.left() != 0 && left.ok()) told->left.push_back(left.text());
    return holder;
  }
  if (head.size != sizeof holder)
    return fail(EIO, "node %s: invalid reply about the holder of a lock", job.host_of(node));
  std::memcpy(&holder, reply.get() + sizeof head, sizeof holder);
  return holder;
}

Result<ProcessState> state_of(const Job& job, const Holder& holder) {
  if (holder.node >= job.nodes())
    return fail(EIO, "invalid holder of a lock: not a node of the job");
  CAIRN_TRY_ASSIGN(
      state, job.ask(static_cast<uint32_t>(holder.node), request_of(Op::look_process, 0, holder)));
  return static_cast<ProcessState>(state);
}

// How long the same process has stood still with the lock, as far as this one has not.
class Stillness {
 public:
  void look(const Job& job, const std::string& path, const Holder& holder, bool stopped) {
    const auto now = steady_clock::now();
    const bool same = holder.node == holder_.node && holder.process == holder_.process;
    if (!stopped || !same) lasted_ = {};
    if (stopped && same) lasted_ += std::min<steady_clock::duration>(now - seen_, longest_between);
    holder_ = holder;
    seen_ = now;
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(lasted_).count();
    if (ms == 0) return;
    const RecordNode node = job.node(static_cast<uint32_t>(holder.node));
    job.still_waiting(static_cast<uint64_t>(ms), path,
                      "a process of node " + node.host + " (pool " + node.path +
                          ") that holds the lock and is stopped");
  }

 private:
  static constexpr auto longest_between = std::chrono::milliseconds(250);
  Holder holder_ = {};
  steady_clock::duration lasted_ = {};
  steady_clock::time_point seen_ = steady_clock::now();
};

Holder this_process(const Job& job) { return {job.self(), process_number(job)}; }

}  // namespace

uint64_t process_number(const Job& job) {
  const pool::Pool& pool = job.fs().pool;
  const uint32_t lane = pool.held.front().number;
  return pool::make_lock_word(pool, lane, pool.lanes[lane].generation.load(), 0);
}

Status lock(const Job& job, uint32_t node, uint64_t home, const std::string& path, Told* told) {
  const Request request = request_of(Op::lock, home, this_process(job));
  constexpr auto longest = std::chrono::microseconds(1000);
  // Others have it for the time of a few messages.
  constexpr auto long_wait = std::chrono::milliseconds(100);
  Stillness stillness;
  Holder gone = {};
  auto ask_at = steady_clock::now() + long_wait;
  for (auto pause = std::chrono::microseconds(20);; pause = std::min(pause * 2, longest)) {
    CAIRN_TRY_ASSIGN(holder, try_lock(job, node, request, gone, told));
    if (holder.process == 0) return Status();
    gone = {};
    if (steady_clock::now() >= ask_at) {
      CAIRN_TRY_ASSIGN(state, state_of(job, holder));
      if (state == ProcessState::gone) {
        gone = holder;
        continue;
      }
      stillness.look(job, path, holder, state == ProcessState::stopped);
      ask_at = steady_clock::now() + long_wait;
    }
    std::this_thread::sleep_for(pause);
  }
}

Status unlock(const Job& job, uint32_t node, uint64_t home, bool unfinished) {
  Request request = request_of(Op::unlock, home, this_process(job));
  if (unfinished) request.uuid.fill(1);
  return job.ask(node, request).status();
}

}  // namespace cairn::cluster
