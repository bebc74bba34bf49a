// VersionLevels: says which level a version has reached, and what it survives.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "checkpoint/versions/set_view.h"
#include "checkpoint/write/writer.h"

namespace cairn::checkpoint {

// Each level contains the ones before it.
enum class VersionLevel : uint32_t { staged = 1, local = 2, partner = 3, global = 4 };
inline constexpr size_t level_count = 5;  // numbers of levels begin at 1

// Bits of what a version survives: the death of all processes, a loss of power, the loss of a node,
// the loss of all pools.
inline constexpr uint32_t survives_processes = 1;
inline constexpr uint32_t survives_power = 2;
inline constexpr uint32_t survives_node = 4;
inline constexpr uint32_t survives_pools = 8;

struct LevelProgress {
  VersionLevel level = VersionLevel::staged;
  uint32_t survives = 0;
  int error = 0;  // errno that keeps it from further levels; 0: none
  uint64_t bytes = 0;
  std::array<uint64_t, level_count> level_ns{};  // from the begin to each level; 0: not reached
};

class VersionLevels {
 public:
  // `view` stays where it is, and is open when a version is asked for. `lower`: the directory of
  // copies; empty: there is none.
  VersionLevels(SetView* view, std::string lower) : view_(*view), lower_(std::move(lower)) {}

  // Tells it that a run knows which parts of versions other nodes have. Otherwise the manifests
  // say what was noted.
  void know_partners() { knows_partners_ = true; }

  // Returns what a version survives that is at LOCAL.
  [[nodiscard]] uint32_t survives() const;
  // Returns true if all parts are there twice, as far as this process knows.
  [[nodiscard]] bool has_partners(uint64_t sequence);
  // Returns true if the version has a copy in lower.
  [[nodiscard]] bool is_global(uint64_t sequence);

  // The errors of its copies: on other nodes, and in lower.
  struct CopyErrors {
    int partner = 0;
    int global = 0;
  };
  // Returns the progress of a version of this run. `outcome`: null if it is not known any more.
  LevelProgress progress_of(uint64_t sequence, const Outcome* outcome, bool is_decided,
                            const CopyErrors& errors);

 private:
  // Returns the time of its copy to lower, since 1970; 0: it was not copied.
  uint64_t global_ns(const KnownVersion& known);
  void put_committed(uint64_t sequence, const Outcome& outcome, const CopyErrors& errors,
                     LevelProgress* progress);

  SetView& view_;
  const std::string lower_;
  bool knows_partners_ = false;
};

}  // namespace cairn::checkpoint
