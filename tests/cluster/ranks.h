// Processes of a job on several nodes, played by threads: a pool for each node, and calls in place
// of messages.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cairn/adapter/shared.h"
#include "cairn/cover.h"

namespace cairn::test {

// The nodes of a job, and a directory that all see.
class Nodes {
 public:
  explicit Nodes(uint32_t count, uint64_t pool_size = 64 << 20);
  ~Nodes();
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;

  [[nodiscard]] uint32_t count() const { return static_cast<uint32_t>(pools_.size()); }
  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] cairn_pool* pool(uint32_t node) const { return pools_[node]; }
  // The job that serves for a node. A job of nodes[first..] only, if `first` is not 0.
  void start(uint32_t first = 0);
  void stop();
  // What another process of a node has; to be closed before the jobs are.
  [[nodiscard]] cairn_job* open_second(uint32_t node);
  // The node has lost its pool, and made a new one in its place. Between jobs.
  void make_anew(uint32_t node);
  [[nodiscard]] cairn_job* job(uint32_t node) const { return jobs_[node]; }
  // What was said of a wait for a process that has a lock.
  std::atomic<uint64_t> waits_told{0};
  std::atomic<uint64_t> longest_wait_ms{0};
  std::string waited_for;
  // How long one is under way, each way; at most.
  std::chrono::microseconds latency{0};
  // Messages that were sent.
  std::atomic<uint64_t> questions{0};

 private:
  static int ask(void* context, cairn_question* questions, size_t count);
  static void still_waiting(void* context, uint64_t waited_ms, const char* path, const char* whom);
  void make_pool(uint32_t node, uint64_t size);
  [[nodiscard]] cairn_job* open_job(uint32_t node);
  std::mutex waiting_;
  std::string root_;
  std::string directory_;
  uint32_t first_ = 0;
  std::vector<cairn_pool*> pools_;
  std::vector<cairn_node> described_;
  std::vector<cairn_job*> jobs_;
  std::array<std::mutex, 16> serving_;
};

struct Rank {
  uint32_t rank = 0;
  uint32_t ranks = 0;
  uint32_t node = 0;
  cairn_job* job = nullptr;
  cairn_group group = {};
  std::function<void()> barrier;

  // Collective.
  cairn_shared* open(const std::string& path, int flags, int expected = 0, uint32_t mode = 0644);
};

// Runs `body` as that many ranks, which are dealt to the nodes in turn from `first` on.
void run_ranks(Nodes& nodes, uint32_t ranks, const std::function<void(Rank&)>& body,
               uint32_t first = 0);

}  // namespace cairn::test
