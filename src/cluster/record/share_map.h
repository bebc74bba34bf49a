// ShareMap says which node holds which bytes of a file. Later runs lie over earlier ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "cluster/record/runs.h"

namespace cairn::cluster {

struct Share {
  ByteRun run;
  uint32_t node = 0;  // index into the record's nodes
};

// Runs of one node that lie side by side become one: those of ranks that write interleaved.
void join_neighbours(std::vector<Share>* shares);

class ShareMap {
 public:
  static constexpr uint32_t nobody = UINT32_MAX;

  void add(const ByteRun& run, uint32_t node);
  // No node holds anything from `size` on.
  void truncate(uint64_t size);
  // As shares() says it of another map.
  void set(std::vector<Share> shares) { shares_ = std::move(shares); }
  void clear() { shares_.clear(); }
  [[nodiscard]] const std::vector<Share>& shares() const { return shares_; }
  // The node of each byte of [begin, end): pieces in ascending order, without gaps.
  struct Piece {
    uint64_t begin;
    uint64_t end;
    uint32_t node;  // or nobody
  };
  [[nodiscard]] std::vector<Piece> find(uint64_t begin, uint64_t end) const;
  // Says the same with as few runs as it can, none hidden by others.
  void normalise();
  [[nodiscard]] uint64_t end() const;

 private:
  std::vector<Share> shares_;
  size_t normalise_at_ = 64;
};

}  // namespace cairn::cluster
