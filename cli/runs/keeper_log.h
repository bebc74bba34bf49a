// KeeperLog: the lines in which a keeper tells the run that has started it, in its job's log, when
// lower begins to refuse what is drained and when it takes it again.
//
// They go through a pipe of their own, because a launcher waits for whoever has its streams. One
// line for each change of state, and a bounded number of them in all.
#pragma once

#include <string>
#include <thread>

namespace cairn::cli {

// The run's end: prints what comes until this object goes.
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

// The keeper's end.
class KeeperReports {
 public:
  // The descriptor that a keeper has for it.
  static constexpr int descriptor = 3;

  KeeperReports();
  // A line, which the run prints behind its name. What nobody reads any more is dropped.
  void say(const std::string& text);

 private:
  static constexpr int most = 20;
  int said_ = 0;
};

}  // namespace cairn::cli
