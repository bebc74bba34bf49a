#include "checkpoint/session/collected_version.h"

#include <gtest/gtest.h>

namespace cairn::checkpoint {
namespace {

// Makes a definition that tests know again by its `key`.
Definition definition_of(const std::string& key) {
  Definition definition;
  definition.key = key;
  return definition;
}

// Returns the names that are defined, each with its key.
std::string names_in(const Definitions& definitions) {
  std::string names;
  for (const auto& [name, definition] : definitions.all()) names += name + definition.key + " ";
  return names;
}

class CollectedVersionTest : public testing::Test {
 protected:
  CollectedVersionTest() { definitions_.put("t", definition_of("1")); }
  Definitions definitions_;
  CollectedVersion version_{&definitions_};
};

TEST_F(CollectedVersionTest, HasVariablesOfItsOwnUntilItEnds) {
  EXPECT_EQ(version_.number(), std::nullopt);
  version_.begin(7);
  EXPECT_EQ(version_.number(), 7);
  version_.put("u", definition_of("2"));
  EXPECT_EQ(names_in(definitions_), "t1 u2 ");
  version_.end();
  EXPECT_EQ(version_.number(), std::nullopt);
  EXPECT_EQ(names_in(definitions_), "t1 ");
}

TEST_F(CollectedVersionTest, GivesANameBackToTheVariableThatHadIt) {
  version_.begin(7);
  version_.put("t", definition_of("2"));
  version_.put("t", definition_of("3"));
  EXPECT_EQ(names_in(definitions_), "t3 ");
  version_.end();
  EXPECT_EQ(names_in(definitions_), "t1 ") << "the first one, not the one that was replaced last";
}

TEST_F(CollectedVersionTest, IsForgottenWhenAnotherOneBegins) {
  version_.begin(7);
  version_.put("u", definition_of("2"));
  version_.begin(8);
  EXPECT_EQ(version_.number(), 8);
  EXPECT_EQ(names_in(definitions_), "t1 ");
}

TEST_F(CollectedVersionTest, ChangesTheDefinitionsSoThatRanksAgreeAnew) {
  const uint64_t changes = definitions_.changes();
  version_.begin(7);
  EXPECT_EQ(definitions_.changes(), changes) << "nothing to agree on";
  version_.put("u", definition_of("2"));
  version_.end();
  EXPECT_EQ(definitions_.changes(), changes + 2);
}

}  // namespace
}  // namespace cairn::checkpoint
