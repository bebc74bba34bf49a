// DamagedNodes: a set of two nodes with three versions. The pool of each node holds copies of the
// other one's parts.
#pragma once

#include <array>
#include <memory>

#include "checkpoint/nodes.h"
#include "damage/damaged_pool.h"

namespace cairn::test {

class DamagedNodes {
 public:
  static constexpr uint32_t nodes = 2;

  DamagedNodes() {
    for (uint32_t node = 0; node < nodes; ++node)
      pools_[node] = std::make_unique<DamagedPool>(folder_.path() + "/" + std::to_string(node));
    checkpoint::Task task;
    task.versions = task.keep = 3;
    task.copies = true;
    for (const checkpoint::Came& came : run({path(0), path(1)}, task))
      EXPECT_EQ(came.error, 0) << came.text;
    for (const auto& pool : pools_) pool->note();
  }

  DamagedPool& pool(uint32_t node) { return *pools_[node]; }
  void put_back() {
    for (const auto& pool : pools_) pool->put_back();
  }

  // What all nodes find.
  Found restart() { return found_by({path(0), path(1)}); }
  // The same with a first node whose pool has nothing.
  Found restart_elsewhere() {
    const std::string other = folder_.path() + "/other";
    DamagedPool::create(other);
    const Found found = found_by({other, path(1)});
    std::filesystem::remove_all(other);
    return found;
  }

 private:
  using Paths = std::array<std::string, nodes>;
  [[nodiscard]] const std::string& path(uint32_t node) const { return pools_[node]->path(); }

  std::vector<checkpoint::Came> run(const Paths& paths, const checkpoint::Task& task) {
    std::array<cairn_pool*, nodes> attached{};
    std::vector<file::FileSystem*> systems;
    for (uint32_t node = 0; node < nodes; ++node) {
      EXPECT_EQ(cairn_pool_attach(paths[node].c_str(), 0, &attached[node]), 0)
          << cairn_last_error();
      if (attached[node] != nullptr) systems.push_back(&capi::fs_of(attached[node]));
    }
    std::vector<checkpoint::Came> came;
    if (systems.size() == nodes) checkpoint::run_nodes(systems, task, &told_, &came);
    for (cairn_pool* const pool : attached) cairn_pool_detach(pool);
    return came;
  }

  Found found_by(const Paths& paths) {
    Found found;
    const std::vector<checkpoint::Came> all = run(paths, {});
    for (const checkpoint::Came& came : all) {
      // A node that fails ends the others.
      if (came.error != 0 && (found.error.empty() || came.error != ECONNRESET))
        found.error = came.text;
      EXPECT_EQ(std::tie(came.number, came.skipped), std::tie(all[0].number, all[0].skipped));
      if (found.why.empty()) found.why = came.why;
      found.from_copies = std::max(found.from_copies, came.from_copies);
    }
    found.number = all[0].number;
    found.skipped = all[0].skipped;
    found.is_right = std::all_of(all.begin(), all.end(),
                                 [](const checkpoint::Came& came) { return came.is_right; });
    return found;
  }

  TemporaryFolder folder_;
  std::array<std::unique_ptr<DamagedPool>, nodes> pools_;
  checkpoint::Told told_;
};

}  // namespace cairn::test
