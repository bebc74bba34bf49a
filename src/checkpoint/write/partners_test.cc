#include "checkpoint/write/partners.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace cairn::checkpoint {
namespace {

using Domains = std::vector<std::string>;

TEST(Partners, ANodeOfEachDomainHoldsTheCopyOfTheNextOne) {
  EXPECT_EQ(find_partners({"a", "b"}), (std::vector<uint32_t>{1, 0}));
  EXPECT_EQ(find_partners({"a", "b", "c", "d"}), (std::vector<uint32_t>{1, 2, 3, 0}));
  EXPECT_EQ(find_partners({"a", "a", "b", "b"}), (std::vector<uint32_t>{2, 3, 0, 1}));
  EXPECT_EQ(find_partners({"a", "b", "a", "b"}), (std::vector<uint32_t>{1, 0, 3, 2}));
}

TEST(Partners, OneDomainHasNone) {
  EXPECT_TRUE(find_partners({}).empty());
  EXPECT_TRUE(find_partners({"a"}).empty());
  EXPECT_TRUE(find_partners({"a", "a", "a"}).empty());
}

TEST(Partners, NeverInTheSameDomainAndEvenlyWhereThatIsPossible) {
  // The loops try all distributions of up to six nodes over three domains.
  for (uint32_t nodes = 2; nodes <= 6; ++nodes) {
    uint32_t ways = 1;
    for (uint32_t node = 0; node < nodes; ++node) ways *= 3;
    for (uint32_t way = 0; way < ways; ++way) {
      Domains domains;
      for (uint32_t node = 0, left = way; node < nodes; ++node, left /= 3)
        domains.emplace_back(1, static_cast<char>('a' + left % 3));
      const std::vector<uint32_t> partners = find_partners(domains);
      if (partners.empty()) continue;
      ASSERT_EQ(partners.size(), nodes);
      std::vector<uint32_t> held(nodes);
      for (uint32_t node = 0; node < nodes; ++node) {
        ASSERT_LT(partners[node], nodes);
        ASSERT_NE(domains[partners[node]], domains[node]);
        ++held[partners[node]];
      }
      std::ptrdiff_t largest = 0;
      for (const std::string& domain : domains)
        largest = std::max(largest, std::count(domains.begin(), domains.end(), domain));
      const bool is_even = *std::max_element(held.begin(), held.end()) == 1;
      ASSERT_TRUE(is_even || 2 * largest > static_cast<std::ptrdiff_t>(nodes));
    }
  }
}

}  // namespace
}  // namespace cairn::checkpoint
