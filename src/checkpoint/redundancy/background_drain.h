// BackgroundDrain copies versions to lower in a thread of its own: one at a time, and of those that
// wait the newest. It does what `cairn ckpt drain` does on its host, and calls no MPI.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "checkpoint/redundancy/drain_part.h"

namespace cairn::checkpoint {

struct DrainJob {
  uint64_t sequence = 0;
  SlotIds slot;
  Catalogue catalogue;  // as the program knows it now
  UsedSequences used;
  // Is the version committed, or has it failed? Empty: it is committed.
  std::function<bool()> is_decided;
};

struct BackgroundOrder {
  std::string directory;
  LowerRetention retention;
  // Called by the thread: why it could not copy a version.
  std::function<void(uint64_t sequence, int error)> tell;
};

class BackgroundDrain {
 public:
  // `set` stays where it is.
  BackgroundDrain(const SetFile& set, BackgroundOrder order);
  ~BackgroundDrain();
  BackgroundDrain(const BackgroundDrain&) = delete;
  BackgroundDrain& operator=(const BackgroundDrain&) = delete;

  // In place of a version that waits. A version that fails, or is retired before its turn, has no
  // copy.
  void copy(DrainJob job);
  // Is a version on its way to lower, or does one wait for that?
  [[nodiscard]] bool is_busy();
  // The caller is about to copy this version: waits until the thread has ended what it does, which
  // is given up if the version is older, and keeps it from beginning anything until release().
  void hold(uint64_t sequence);
  void release();
  // This version is not wanted any more.
  void forget(uint64_t sequence);
  // Has the thread copied this pool's part of the version, and read it back?
  [[nodiscard]] bool has_copied(uint64_t sequence);
  // Why it could not copy the version last; "" if it does not know.
  [[nodiscard]] std::string why(uint64_t sequence);
  // Gives up what is being copied, and ends the thread.
  void stop();
  // In place of the destructor, which a child of fork() must not call: it has no thread.
  static void end(std::unique_ptr<BackgroundDrain> drain);

 private:
  static void* run(void* self);
  bool start();
  void work();
  bool wait_for_decision(const DrainJob& job);
  Result<uint32_t> drain(const DrainJob& job, bool* is_gone);
  bool is_wanted();
  void look_for_others();

  const SetFile& set_;
  const BackgroundOrder order_;
  const pid_t process_ = getpid();
  std::mutex mutex_;
  std::condition_variable changed_;
  pthread_t thread_{};
  bool has_thread_ = false;
  bool ends_ = false;
  bool is_held_ = false;
  std::atomic<bool> stop_ = false;      // what is being copied
  std::atomic<bool> is_named_ = false;  // that is in lower
  std::optional<DrainJob> waiting_;
  uint64_t current_ = 0;  // 0: none
  std::set<uint64_t> copied_;
  uint64_t failed_ = 0;
  std::string text_;
  // A version whose other parts are missing in lower.
  struct Incomplete {
    uint64_t sequence = 0;
    SlotIds slot;
    unsigned looks = 0;
  } incomplete_;

  // All of this process, which end with it.
  friend void end_background_drains();
  BackgroundDrain* next_ = nullptr;
};

}  // namespace cairn::checkpoint
