#include "cluster/record/share_map.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace cairn::cluster {
namespace {

constexpr size_t size = 600;

std::vector<uint32_t> holders_of(const ShareMap& map) {
  std::vector<uint32_t> holders;
  for (const ShareMap::Piece& piece : map.find(0, size)) {
    EXPECT_EQ(piece.begin, holders.size());
    holders.resize(piece.end, piece.node);
  }
  return holders;
}

TEST(ShareMap, RandomMapsAreWhatAModelSays) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    ShareMap map;
    std::vector<uint32_t> model(size, ShareMap::nobody);
    const int steps = static_cast<int>(random() % 120);
    for (int step = 0; step < steps; ++step) {
      if (random() % 20 == 0) {
        const uint64_t cut = random() % size;
        map.truncate(cut);
        for (size_t i = cut; i < size; ++i) model[i] = ShareMap::nobody;
        continue;
      }
      cluster::ByteRun run;
      run.length = 1 + random() % 16;
      run.offset = random() % (size - run.length);
      if (random() % 2 == 0) {
        run.stride = run.length + 1 + random() % 16;
        run.count = 1 + (size - run.offset - run.length) / run.stride;
        if (run.count == 1) run.stride = 0;
      }
      const uint32_t node = random() % 4;
      map.add(run, node);
      visit_pieces(run, 0, size, [&](uint64_t begin, uint64_t end) {
        for (uint64_t i = begin; i < end; ++i) model[i] = node;
      });
    }
    ASSERT_EQ(holders_of(map), model) << "seed " << seed;
    map.normalise();
    ASSERT_EQ(holders_of(map), model) << "seed " << seed << ", normalised";
  }
}

TEST(ShareMap, InterleavedWritersAreOneRunEach) {
  ShareMap map;
  constexpr uint32_t nodes = 16;
  for (int again = 0; again < 10; ++again)  // commit after commit of the same pattern
    for (uint32_t node = 0; node < nodes; ++node)
      map.add({node * 1024ULL, 1024, nodes * 1024ULL, 10000}, node);
  EXPECT_EQ(map.shares().size(), nodes);
  const auto pieces = map.find(1024 * 16, 1024 * 32);
  ASSERT_EQ(pieces.size(), nodes);
  for (uint32_t node = 0; node < nodes; ++node) EXPECT_EQ(pieces[node].node, node);
}

TEST(ShareMap, NeighboursOnOneNodeAreOneRun) {
  // Two nodes with three ranks each, interleaved; then all of them on one node.
  for (const uint32_t nodes : {2U, 1U}) {
    std::vector<Share> shares;
    for (uint32_t rank = 0; rank < 6; ++rank)
      shares.push_back({{rank * 10ULL, 10, 60, 100}, rank / 3 % nodes});
    std::swap(shares[0], shares[5]);
    join_neighbours(&shares);
    ASSERT_EQ(shares.size(), nodes);
    EXPECT_EQ(shares[0].run,
              nodes == 2 ? (cluster::ByteRun{0, 30, 60, 100}) : (cluster::ByteRun{0, 6000, 0, 1}));
  }
}

TEST(ShareMap, AFileThatGrowsIsOneRun) {
  ShareMap map;
  for (uint64_t k = 0; k < 1000; ++k) map.add({k * 100, 100, 0, 1}, 3);
  EXPECT_EQ(map.shares().size(), 1U);
  EXPECT_EQ(map.end(), 100000U);
}

}  // namespace
}  // namespace cairn::cluster
