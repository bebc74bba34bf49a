// Workers: processes that do pieces of work at the same time, told and timed by the one that forked
// them. A worker is forked before the parent attaches to any pool and attaches by itself.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace cairn::bench {

class Workers {
 public:
  // job(worker) is called in each child and returns the function that does a piece of work,
  // (task, round) -> nanoseconds.
  using Task = std::function<double(size_t task, size_t round)>;
  Workers(size_t count, const std::function<Task(size_t worker)>& job);
  ~Workers();  // tells them to end and waits
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // All do `task` at once; the nanoseconds of the slowest.
  double run(size_t task, size_t round);

 private:
  struct Shared;
  void serve(size_t worker, const Task& task) const;
  Shared* shared_;
  std::vector<pid_t> children_;
};

}  // namespace cairn::bench
