// Nodes whose pools cover the directory that all see, for one job.
#pragma once

#include <sys/stat.h>

#include <utility>
#include <vector>

#include "cluster/ranks.h"

namespace cairn::test {

class CoveredNodes {
 public:
  // `prepare`: what the directory holds before it is covered.
  explicit CoveredNodes(
      uint32_t count, uint64_t pool_size = 64 << 20,
      const std::function<void(const std::string& directory)>& prepare = [](const std::string&) {})
      : nodes_(count, pool_size) {
    prepare(nodes_.directory());
    cairn_cover_options options = {};
    options.struct_size = sizeof options;
    options.job = "of several nodes";
    for (uint32_t i = 0; i < count; ++i) {
      covers_.push_back(nullptr);
      EXPECT_EQ(
          cairn_cover_open(nodes_.pool(i), nodes_.directory().c_str(), &options, &covers_.back()),
          0)
          << cairn_last_error();
    }
    nodes_.start();
  }
  ~CoveredNodes() {
    stop();
    for (cairn_cover* cover : covers_)
      if (cover != nullptr) cairn_cover_close(cover);
  }
  CoveredNodes(const CoveredNodes&) = delete;
  CoveredNodes& operator=(const CoveredNodes&) = delete;

  // The job ends.
  void stop() { nodes_.stop(); }
  [[nodiscard]] const std::string& directory() const { return nodes_.directory(); }
  [[nodiscard]] cairn_job* job(uint32_t node) const { return nodes_.job(node); }
  [[nodiscard]] cairn_pool* pool(uint32_t node) const { return nodes_.pool(node); }
  [[nodiscard]] cairn_ino top(uint32_t node) const { return cairn_cover_top(covers_[node]); }

  [[nodiscard]] const Nodes& nodes() const { return nodes_; }
  [[nodiscard]] Nodes& nodes() { return nodes_; }

  // Type and permissions of a name in a node's pool, 0: there is none.
  [[nodiscard]] uint32_t mode(uint32_t node, const char* path) const {
    cairn_stat st = {};
    return cairn_lookup(pool(node), top(node), path, CAIRN_NOFOLLOW, &st) == 0 ? st.mode : 0;
  }
  // The same on all nodes, which have it alike.
  [[nodiscard]] uint32_t mode(const char* path) const {
    for (uint32_t node = 1; node < nodes_.count(); ++node)
      EXPECT_EQ(mode(node, path), mode(0, path)) << path << " on node " << node;
    return mode(0, path);
  }
  void make_file(uint32_t node, const char* path) const {
    EXPECT_EQ(cairn_mknod(pool(node), top(node), path, S_IFREG | 0600), 0) << cairn_last_error();
  }
  void drain(uint32_t node) const {
    cairn_drain_report report = {};
    EXPECT_EQ(cairn_cover_drain(covers_[node], nullptr, nullptr, nullptr, &report), 0)
        << cairn_last_error();
    EXPECT_EQ(report.failed + report.conflicts, 0U) << node;
  }
  // As a keeper does in the mode async; how many files were left to a later drain.
  [[nodiscard]] uint64_t drain_in_mid_job(uint32_t node) const {
    cairn_while_running what = {};
    what.struct_size = sizeof what;
    what.open_too = 1;
    what.mode = CAIRN_DRAIN_ASYNC;
    cairn_drain_report report = {};
    EXPECT_EQ(
        cairn_cover_drain_while_running(covers_[node], &what, nullptr, nullptr, nullptr, &report),
        0)
        << cairn_last_error();
    return what.postponed_files;
  }
  // 0 also if other nodes are waited for.
  [[nodiscard]] int try_to_drain(uint32_t node) const {
    cairn_drain_report report = {};
    const int result = cairn_cover_drain(covers_[node], nullptr, nullptr, nullptr, &report);
    return result == -EAGAIN ? 0 : result;
  }
  // After stop(): a run of the next launch begins anew on this node.
  void begin_anew(uint32_t node) {
    cairn_cover_close(covers_[node]);
    covers_[node] = nullptr;
    cairn_cover_options options = {};
    options.struct_size = sizeof options;
    options.job = "of several nodes";
    options.fresh = 1;
    options.launch = "the next";
    EXPECT_EQ(cairn_cover_open(pool(node), directory().c_str(), &options, &covers_[node]), 0)
        << cairn_last_error();
  }
  // After stop(): all processes end, and others come.
  void leave_and_join() {
    for (uint32_t i = 0; i < covers_.size(); ++i) {
      cairn_cover_close(covers_[i]);
      EXPECT_EQ(cairn_cover_join(nodes_.pool(i), nodes_.directory().c_str(), &covers_[i]), 0)
          << cairn_last_error();
    }
  }
  // After stop().
  void discard(uint32_t node) { ASSERT_EQ(try_to_discard(node), 0) << cairn_last_error(); }
  int try_to_discard(uint32_t node) {
    const int result = cairn_cover_discard(covers_[node]);
    if (result == 0) covers_[node] = nullptr;  // else the handle stays
    return result;
  }

 private:
  Nodes nodes_;
  std::vector<cairn_cover*> covers_;
};

}  // namespace cairn::test
