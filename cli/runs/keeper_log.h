// A keeper reports to the run that has started it, for its job's log, when lower begins to refuse
// drained files and when it takes them again.
//
// The lines go through a pipe of their own, because a launcher waits for every process that has its
// streams. There is one line for each change of state, and a bounded number of them in all.
#pragma once

#include <string>
#include <thread>

namespace cairn::cli {

// KeeperLog is the run's end of the pipe. It prints the lines that come until it is destroyed.
class KeeperLog {
 public:
  // `pipe`: the end to read from, closed by this object; -1: nothing comes.
  explicit KeeperLog(int pipe);
  ~KeeperLog();
  KeeperLog(const KeeperLog&) = delete;
  KeeperLog& operator=(const KeeperLog&) = delete;

 private:
  void read_lines();

  const int pipe_;
  int stop_ = -1;  // an eventfd
  std::thread reader_;
};

// KeeperReports is the keeper's end of the pipe.
class KeeperReports {
 public:
  // The descriptor that a keeper has for it.
  static constexpr int descriptor = 3;

  KeeperReports();
  // Sends a line, which the run prints behind its name. If no run reads any more, drops it.
  void say(const std::string& text);

 private:
  static constexpr int most = 20;
  int said_ = 0;
};

}  // namespace cairn::cli
