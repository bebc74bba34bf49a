// DrainNotice: prints the line by which `cairn run` says that it drains, and how to go on if the
// drain is cut short.
//
// A launcher kills its processes a moment after MPI_Abort, and the directory then holds some of the
// files. MPICH's launcher sends no signal before that could be answered. If this may be about to
// happen, the line comes before the drain. Otherwise it comes when the drain has lasted two
// seconds, or as soon as a signal asks it to stop. A short drain prints no line.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "runs/covers.h"

namespace cairn::cli {

class DrainNotice {
 public:
  explicit DrainNotice(bool program_failed) : program_failed_(program_failed) {}
  ~DrainNotice() { end(); }
  DrainNotice(const DrainNotice&) = delete;
  DrainNotice& operator=(const DrainNotice&) = delete;

  // Called before and after each drain of `cover`. The line is printed once.
  void begin(const CoverEntry& cover);
  void end();

 private:
  void watch();

  const bool program_failed_;
  bool reported_ = false;  // the thread's while there is one
  std::string line_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread watcher_;
};

}  // namespace cairn::cli
