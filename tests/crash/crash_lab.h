// The crash laboratory: a pool in the simulator's memory, histories of operations on it, and for
// every image that a power loss or a kill may leave: recover, check, and compare with what was
// acknowledged.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "capi/core/handles.h"
#include "crash/snapshot.h"
#include "file/inode/pins.h"
#include "model/temporary_pool.h"
#include "support/simulator/simulator.h"

namespace cairn::test {

// A flush or a fence of the program.
struct SitePlace {
  persist::EventKind kind;
  persist::Site site;
};

struct LabOptions {
  persist::Granularity granularity = persist::Granularity::cache_line;
  uint64_t size = uint64_t{6} << 20;
  uint32_t lanes = 2;
  int processes = 1;
  uint64_t images_per_point = 40;
  uint64_t seed = 1;
  // How many images go by between two whose recovery is crashed in turn; 0: none is.
  uint64_t recovery_stride = 0;
  uint64_t kill_stride = 1;        // events between two kills that are looked at
  std::vector<SitePlace> ignored;  // these do nothing, in recoveries either
};

class CrashLab {
 public:
  explicit CrashLab(const LabOptions& options);
  ~CrashLab();
  CrashLab(const CrashLab&) = delete;
  CrashLab& operator=(const CrashLab&) = delete;

  // Process `i`'s attachment: for the C API.
  cairn_pool* pool(int i = 0) { return processes_[static_cast<size_t>(i)].get(); }
  persist::Simulator& simulator() { return simulator_; }

  // What has happened is durable (and synced, on page media); the history begins here.
  void begin();
  // The same without syncing files.
  void begin_as_it_is();
  enum class Kind { atomic, bytes };  // bytes: part of the bytes may be there if it is not finished
  // Does `operation` as process `process`.
  void perform(const std::string& what, Kind kind, const std::function<void()>& operation,
               int process = 0);
  // Detaches all; part of the history.
  void detach_all();
  // Detaches process `i` only, for a lab whose others are dead; part of the history.
  void detach(int i);
  // The inode is mapped in process `i`, and in a child of it that lives on when all have detached:
  // what is cut off it stays until then. A power loss or a kill of all ends that child as well.
  void pin(cairn_ino number, int i = 0);
  // Attaches all again, after that.
  void attach_all();

  // For histories whose steps overlap: judges what was found in the image of a crash at `point` in
  // place of perform()'s acknowledgements.
  using Judge = std::function<std::string(const Snapshot& found, uint64_t point)>;
  void set_judge(Judge judge) { judge_ = std::move(judge); }
  // Looks at the recovered pool of each crash by the C API, as a program that comes next; "" or
  // what is wrong. It may change the pool.
  using Examiner = std::function<std::string(cairn_pool* pool, uint64_t point)>;
  void set_examiner(Examiner examiner) { examiner_ = std::move(examiner); }
  Snapshot snapshot();
  // Process `i` is dead: its lanes' liveness locks are gone, everything else stays as it is. What
  // it has flushed may be lost as long as it was not fenced.
  void kill_process(int i);
  // What the dead process `i` has flushed has arrived: whoever ends it, or puts another on its
  // processor, fences.
  void drain_dead(int i);
  // For a lab that is never destroyed: its lock files go.
  void remove_files() const { std::filesystem::remove_all(folder_.path()); }
  // Looks at the live pool as a new process that attaches: "" or what is wrong.
  std::string look_at_survivors();

  // Looks at the images of every crash point; the first that is wrong ("" if none).
  std::string power_losses();
  // The same for processes killed at every event, by a recovery of their lanes.
  std::string kills();

  [[nodiscard]] uint64_t images() const { return images_; }
  // The flushes and fences that crashed recoveries met.
  [[nodiscard]] const std::vector<persist::SiteHits>& recovery_sites() const {
    return recovery_sites_;
  }

 private:
  struct Step {
    std::string what;
    Kind kind;
    uint64_t begin;
    uint64_t end;
    Snapshot after;
  };
  enum class Side { live, image };
  std::unique_ptr<pool::Pool> map_pool(persist::Simulator& simulator, Side side,
                                       Status* status) const;
  std::string verdict(file::FileSystem& fs, uint64_t point);
  std::string acknowledged(const Snapshot& found, uint64_t point) const;
  // Recovers the image (of a power loss, or of killed processes) on a simulator of its own, uses
  // the pool, and looks at what crashes at each point of that leave.
  std::string crash_recovery(uint64_t point, bool lost);
  bool crashes_recovery();
  std::string look_after_recovery(persist::Simulator& second, uint64_t point, bool lost, bool used);
  std::string look_at_loss(uint64_t point);
  std::string look_at_kill(uint64_t point, bool use_it);
  // Attaches as a new process does, compares, and if asked for works with it.
  std::string attach_and_look(std::unique_ptr<pool::Pool> pool, uint64_t point, bool use_it);

  LabOptions options_;
  persist::Simulator simulator_;
  int region_ = 0;
  TemporaryFolder folder_;
  std::string live_lock_;
  std::string image_lock_;
  std::vector<std::unique_ptr<cairn_pool>> processes_;
  std::vector<file::PinHandle> heirs_;
  Judge judge_;
  Examiner examiner_;
  Snapshot before_;
  std::map<std::string, uint64_t> times_;  // once all have detached
  bool detached_ = false;
  bool image_was_clean_ = false;
  std::vector<Step> steps_;
  uint64_t images_ = 0;
  uint64_t replays_ = 0;  // images whose recovery had a change to finish
  std::vector<persist::SiteHits> recovery_sites_;
};

}  // namespace cairn::test
