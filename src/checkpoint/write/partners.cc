#include "checkpoint/write/partners.h"

#include <algorithm>
#include <numeric>

namespace cairn::checkpoint {
namespace {

// Consecutive nodes of one domain.
struct Block {
  size_t begin;
  size_t size;
};

std::vector<Block> blocks_of(const std::vector<std::string>& domains,
                             const std::vector<uint32_t>& order) {
  std::vector<Block> blocks;
  for (size_t at = 0; at < order.size(); ++at) {
    if (at == 0 || domains[order[at]] != domains[order[at - 1]]) blocks.push_back({at, 0});
    ++blocks.back().size;
  }
  return blocks;
}

}  // namespace

std::vector<uint32_t> find_partners(const std::vector<std::string>& domains) {
  const size_t nodes = domains.size();
  std::vector<uint32_t> order(nodes);
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return domains[a] < domains[b]; });
  const std::vector<Block> blocks = blocks_of(domains, order);
  if (blocks.size() < 2) return {};
  size_t largest = 0;
  for (const Block& block : blocks) largest = std::max(largest, block.size);
  std::vector<uint32_t> partners(nodes);
  for (const Block& block : blocks) {
    for (size_t i = 0; i < block.size; ++i) {
      // A step over the largest domain leaves any domain. If the domain has most of the nodes, the
      // others take turns.
      const size_t to = 2 * largest <= nodes ? block.begin + i + largest
                                             : block.begin + block.size + i % (nodes - block.size);
      partners[order[block.begin + i]] = order[to % nodes];
    }
  }
  return partners;
}

}  // namespace cairn::checkpoint
