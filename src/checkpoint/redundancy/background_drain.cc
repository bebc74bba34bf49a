#include "checkpoint/redundancy/background_drain.h"

#include <sched.h>
#include <signal.h>  // NOLINT: pthread_sigmask

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "base/saved_failure.h"
#include "checkpoint/sources/lower_copy.h"
#include "persist/region/write_window.h"

namespace cairn::checkpoint {
namespace {

constinit std::mutex all_mutex;
constinit BackgroundDrain* all = nullptr;

constexpr size_t stack_bytes = 512U << 10;
constexpr size_t most_copied = 64;
// The time to wait for another process that copies to the directory.
constexpr uint64_t patience_ns = 60'000'000'000;
constexpr auto decision_pause = std::chrono::milliseconds(2);
constexpr auto first_look = std::chrono::milliseconds(20);
constexpr unsigned most_doublings = 8;  // some five seconds

}  // namespace

// Ends the threads before the process ends and destroys what they use.
void end_background_drains() {
  for (;;) {
    BackgroundDrain* first = nullptr;
    {
      if (all == nullptr || all->process_ != getpid()) return;
      const std::lock_guard lock(all_mutex);
      first = all;
      if (first != nullptr) all = first->next_;
    }
    if (first == nullptr) return;
    first->stop();
  }
}

BackgroundDrain::BackgroundDrain(const SetFile& set, BackgroundOrder order)
    : set_(set), order_(std::move(order)) {
  static const int registered = std::atexit(end_background_drains);
  static_cast<void>(registered);
  const std::lock_guard lock(all_mutex);
  // The drains of a parent do not belong to this process.
  if (all != nullptr && all->process_ != process_) all = nullptr;
  next_ = all;
  all = this;
}

void BackgroundDrain::end(std::unique_ptr<BackgroundDrain> drain) {
  // In a child the waiting thread would keep its condition from being destroyed.
  if (drain && drain->process_ != getpid()) static_cast<void>(drain.release());
}

BackgroundDrain::~BackgroundDrain() {
  stop();
  const std::lock_guard lock(all_mutex);
  for (BackgroundDrain** at = &all; *at != nullptr; at = &(*at)->next_) {
    if (*at != this) continue;
    *at = next_;
    break;
  }
}

void* BackgroundDrain::run(void* self) {
  const persist::WriteWindow window;
  static_cast<BackgroundDrain*>(self)->work();
  return nullptr;
}

bool BackgroundDrain::start() {
  sigset_t every;
  sigset_t before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);  // handlers do not run in this thread
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  // The rank may be bound to a processor while another one is idle.
  cpu_set_t anywhere;
  CPU_ZERO(&anywhere);
  for (int i = 0; i < CPU_SETSIZE; ++i) CPU_SET(i, &anywhere);
  has_thread_ = pthread_create(&thread_, &attributes, run, this) == 0;
  if (has_thread_) pthread_setaffinity_np(thread_, sizeof anywhere, &anywhere);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (has_thread_) pthread_setname_np(thread_, "cairn-drain");
  return has_thread_;
}

void BackgroundDrain::copy(DrainJob job) {
  if (process_ != getpid()) return;
  const uint64_t sequence = job.sequence;
  bool has_thread = false;
  {
    const std::lock_guard lock(mutex_);
    if (ends_) return;
    has_thread = has_thread_ || start();
    if (has_thread) waiting_ = std::move(job);
  }
  changed_.notify_all();
  if (!has_thread) order_.tell(sequence, EAGAIN);
}

bool BackgroundDrain::is_busy() {
  const std::lock_guard lock(mutex_);
  return (current_ != 0 && !is_named_) || waiting_.has_value();
}

void BackgroundDrain::hold(uint64_t sequence) {
  if (process_ != getpid()) return;
  std::unique_lock lock(mutex_);
  is_held_ = true;
  if (waiting_ && waiting_->sequence <= sequence) waiting_.reset();
  if (current_ < sequence) stop_ = true;
  changed_.notify_all();
  changed_.wait(lock, [this] { return current_ == 0; });
}

void BackgroundDrain::release() {
  {
    const std::lock_guard lock(mutex_);
    is_held_ = false;
  }
  changed_.notify_all();
}

void BackgroundDrain::forget(uint64_t sequence) {
  const std::lock_guard lock(mutex_);
  if (waiting_ && waiting_->sequence == sequence) waiting_.reset();
  if (current_ == sequence) stop_ = true;
  changed_.notify_all();
}

bool BackgroundDrain::has_copied(uint64_t sequence) {
  const std::lock_guard lock(mutex_);
  return copied_.contains(sequence);
}

std::string BackgroundDrain::why(uint64_t sequence) {
  const std::lock_guard lock(mutex_);
  return failed_ == sequence ? text_ : std::string();
}

void BackgroundDrain::stop() {
  if (process_ != getpid()) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    stop_ = true;
    waiting_.reset();
    if (!has_thread_) return;
  }
  changed_.notify_all();
  pthread_join(thread_, nullptr);
  has_thread_ = false;
}

void BackgroundDrain::work() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    if (!waiting_ || is_held_) {
      if (incomplete_.sequence == 0 || is_held_) {
        changed_.wait(lock);
        continue;
      }
      const auto pause = first_look * (1U << std::min(incomplete_.looks++, most_doublings));
      if (changed_.wait_for(lock, pause) != std::cv_status::timeout) continue;
      lock.unlock();
      look_for_others();
      lock.lock();
      continue;
    }
    const DrainJob job = std::move(*waiting_);
    waiting_.reset();
    current_ = job.sequence;
    stop_ = false;
    is_named_ = false;
    incomplete_ = {};
    lock.unlock();
    bool is_gone = false;
    const auto missing = drain(job, &is_gone);
    const SavedFailure saved(missing.status());
    const bool is_failure = !missing.ok() && missing.code() != ECANCELED && !is_gone;
    if (is_failure) order_.tell(job.sequence, missing.code());
    lock.lock();
    current_ = 0;
    if (missing.ok()) {
      copied_.insert(job.sequence);
      if (copied_.size() > most_copied) copied_.erase(copied_.begin());
      if (*missing != 0) incomplete_ = {job.sequence, job.slot};
    }
    if (is_failure) {
      failed_ = job.sequence;
      text_ = saved.text();
    }
    changed_.notify_all();
  }
}

// Returns false if the job was given up.
bool BackgroundDrain::wait_for_decision(const DrainJob& job) {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (!job.is_decided || job.is_decided()) return true;
    changed_.wait_for(lock, decision_pause);
  }
  return false;
}

// Returns true if the program waits for the thread.
bool BackgroundDrain::is_wanted() {
  const std::lock_guard lock(mutex_);
  return stop_ || is_held_ || waiting_;
}

Result<uint32_t> BackgroundDrain::drain(const DrainJob& job, bool* is_gone) {
  if (!wait_for_decision(job)) return fail(ECANCELED, "the copy was given up");
  // The version was retired before its turn, or never committed.
  const auto note_gone = [is_gone](const Status& status) {
    *is_gone = status.code() == ESTALE || status.code() == ENOENT;
    return status;
  };
  const auto slot = Slot::open(set_.fs(), job.slot);
  if (!slot.ok()) return note_gone(slot.status());
  // The bytes stay from now on, whatever the run retires.
  const auto held = open_drained(set_, slot->get(), job.sequence);
  if (!held.ok()) return note_gone(held.status());
  CAIRN_TRY_ASSIGN(lower, LowerSet::open(order_.directory, set_.name(), true));
  PartSource source;
  source.look = [&](bool) -> Result<PoolSight> { return PoolSight{&job.catalogue, job.used}; };
  source.open = [&]() -> Result<std::vector<DrainedPart>> {
    CAIRN_TRY_ASSIGN(part, open_drained(set_, slot->get(), job.sequence));
    std::vector<DrainedPart> parts;
    parts.push_back(std::move(part));
    return parts;
  };
  for (;;) {
    const auto missing = drain_part(
        set_, source, {job.sequence, order_.retention, patience_ns, &stop_, &is_named_}, &lower);
    if (missing.code() != EBUSY || is_wanted()) return missing;
  }
}

// Checks whether the last of the other hosts has completed the copy.
void BackgroundDrain::look_for_others() {
  const auto lower = LowerSet::open(order_.directory, set_.name(), false);
  if (!lower.ok()) return;
  auto slot = Slot::open(set_.fs(), incomplete_.slot);
  if (slot.ok()) {
    const auto part = open_drained(set_, slot->get(), incomplete_.sequence);
    if (part.ok() && !is_listed(*lower, part->version())) return;
    if (part.ok()) note_global(set_, slot->get()).ignore();  // a report
  }
  incomplete_ = {};
}

}  // namespace cairn::checkpoint
