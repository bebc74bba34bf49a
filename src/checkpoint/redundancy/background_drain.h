// BackgroundDrain: copies versions to lower in a thread of its own, one at a time, of those that
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
  Catalogue catalogue;  // the program's current one
  UsedSequences used;
  // Returns true if the version is committed or has failed. Empty: it is committed.
  std::function<bool()> is_decided;
};

struct BackgroundOrder {
  std::string directory;
  LowerRetention retention;
  // Called by the thread with the error that kept it from copying a version.
  std::function<void(uint64_t sequence, int error)> tell;
};

class BackgroundDrain {
 public:
  // The object `set` stays where it is.
  BackgroundDrain(const SetFile& set, BackgroundOrder order);
  ~BackgroundDrain();
  BackgroundDrain(const BackgroundDrain&) = delete;
  BackgroundDrain& operator=(const BackgroundDrain&) = delete;

  // Queues a version in place of one that waits. A version that fails, or is retired before its
  // turn, gets no copy.
  void copy(DrainJob job);
  // Returns true if a version is being copied or waits.
  [[nodiscard]] bool is_busy();
  // Stops the thread for a caller that is about to copy this version. Waits until the thread's
  // current copy has ended; a copy of an older version is given up. The thread begins no copy until
  // release().
  void hold(uint64_t sequence);
  void release();
  // Drops this version from the queue: it is not wanted any more.
  void forget(uint64_t sequence);
  // Returns true if the thread has copied this pool's part of the version, and read it back.
  [[nodiscard]] bool has_copied(uint64_t sequence);
  // Returns why the thread's last attempt to copy the version failed; "" if unknown.
  [[nodiscard]] std::string why(uint64_t sequence);
  // Gives up the current copy, and ends the thread.
  void stop();
  // Replaces the destructor, which a child of fork() must not call: it has no thread.
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
  std::atomic<bool> stop_ = false;      // ends the current copy
  std::atomic<bool> is_named_ = false;  // the current copy is in lower
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

  // The list of all drains of this process, which end with it.
  friend void end_background_drains();
  BackgroundDrain* next_ = nullptr;
};

}  // namespace cairn::checkpoint
