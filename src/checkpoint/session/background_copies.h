// BackgroundCopies: versions of a run that a thread of each node copies to lower while the program
// goes on. Every rank can ask for the error of a copy; the leader's rank has the thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "checkpoint/redundancy/background_drain.h"
#include "checkpoint/versions/set_view.h"
#include "checkpoint/write/writer.h"

namespace cairn::checkpoint {

// The copies of a run's versions in lower.
struct LowerOptions {
  std::string directory;  // empty: there are none
  LowerRetention retention;
  bool in_background = false;
  // The thread copies only versions whose number is a multiple of it; 0: all.
  uint32_t multiple = 0;
};

class BackgroundCopies {
 public:
  using Used = std::function<UsedSequences()>;
  // The objects stay where they are.
  BackgroundCopies(Run* run, SetView* view, Writer* writer, LowerOptions options, Used used)
      : run_(*run),
        view_(*view),
        writer_(*writer),
        options_(std::move(options)),
        used_(std::move(used)) {}
  ~BackgroundCopies() { end(); }
  BackgroundCopies(const BackgroundCopies&) = delete;
  BackgroundCopies& operator=(const BackgroundCopies&) = delete;

  // Starts the thread, if this rank is to have it. end() gives up its current copy.
  void begin();
  void end() { BackgroundDrain::end(std::move(drain_)); }
  // On one node: queues the version that this rank has just handed over. Leaders of several nodes
  // begin the copy of a version that all of them have committed.
  void copy_when_committed(int64_t number);
  // Takes a version that is dropped from the queue.
  void forget(uint64_t sequence);

  // Returns the error of the thread's attempt to copy the version; 0: none is known.
  [[nodiscard]] int error_of(uint64_t sequence) const;
  // Returns the same with its text.
  [[nodiscard]] Status status_of(uint64_t sequence) const;
  // Returns true if the threads of all nodes have copied the version, and lower lists it. Leaders
  // only; on several nodes all of them.
  Result<bool> has_copied(uint64_t sequence);

  // Keeps the thread from copying while the caller copies this version.
  class Pause {
   public:
    Pause(BackgroundCopies* copies, uint64_t sequence) : drain_(copies->drain_.get()) {
      if (drain_ != nullptr) drain_->hold(sequence);
    }
    ~Pause() {
      if (drain_ != nullptr) drain_->release();
    }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    BackgroundDrain* drain_;
  };

 private:
  [[nodiscard]] bool is_wanted(int64_t number) const;
  void copy_committed(const KnownVersion& known);
  Result<bool> all_nodes_say(bool own);

  Run& run_;
  SetView& view_;
  Writer& writer_;
  const LowerOptions options_;
  const Used used_;
  std::unique_ptr<BackgroundDrain> drain_;  // null: this rank has no thread
};

}  // namespace cairn::checkpoint
