// The page docs/user/checkpoint-damage.md: what is damaged, where copies are, and what is read
// then. Each cell is tried.
//
//   CAIRN_WRITE_PAGE   1: writes the page instead of comparing it
#include <cstdlib>

#include "damage/damaged_set.h"

namespace cairn::test {
namespace {

// One bit in each range of a kind that belongs to a file with this in its name.
struct Damage {
  std::string kind;
  std::string file = "";
  size_t most = SIZE_MAX;  // ranges
};
struct Row {
  const char* what;
  std::vector<Damage> damages;
};

// Version 3 lies in slot 3.
const std::vector<Row> rows = {
    {"nothing", {}},
    {"the name of `.checkpoints`", {{"name of .checkpoints"}}},
    {"the name of the set", {{"name of the set"}}},
    {"the name of the newest manifest", {{"name of the manifest", "0003"}}},
    {"the name of the newest data file", {{"name of the data", "0003"}}},
    {"the inode of the set's directory", {{"inode of the set"}}},
    {"the file `set`: one record", {{"SET", "set", 1}}},
    {"the file `set`: both records", {{"SET", "set"}}},
    {"the file `set`: its inode", {{"inode of the set", "set"}}},
    {"the newest manifest: VERSION", {{"VERSION", "0003"}}},
    {"the newest manifest: the decision", {{"decision", "0003"}}},
    {"the newest manifest: a root", {{"root", "0003"}}},
    {"the newest manifest: the parts", {{"part", "0003"}}},
    {"the newest manifest: its inode", {{"inode of the manifest", "0003"}}},
    {"the newest data: a block", {{"bytes and checksums", "0003", 1}}},
    {"the newest data: its inode", {{"inode of the data", "0003"}}},
    {"a layout: one of two", {{"layout", "", 1}}},
    {"a layout: both", {{"layout"}}},
    {"a decomposition: both", {{"decomposition"}}},
    {"an older manifest", {{"VERSION", "0002"}}},
    {"older data", {{"bytes and checksums", "0002", 1}}},
};

// Where a flip says the most: the magic, the state, or the first byte of a name.
uint64_t byte_of(const RecordKind& kind, const Range& range) {
  if (kind.name.starts_with("name")) return range.end - range.begin - 2;  // inside of the name
  if (kind.name.starts_with("inode")) return 8;                           // the state
  if (kind.name == "lower: data") return 100;
  return (range.end - range.begin) / 2;
}

void apply(DamagedSet* set, const Damage& damage) {
  const RecordKind& kind = set->kind(damage.kind);
  size_t hit = 0;
  for (const Range& range : kind.ranges) {
    if (range.file.find(damage.file) == std::string::npos || hit == damage.most) continue;
    set->flip(range, byte_of(kind, range), 0);
    ++hit;
  }
  EXPECT_NE(hit, 0U) << damage.kind << " of " << damage.file;
}

// Of version 3 in lower.
void damage_lower(DamagedSet* set) { apply(set, {"lower: data", "0000003", 1}); }

std::string shown(const DamagedSet::Found& found) {
  if (found.number == 0) return found.error.empty() ? "NOTHING, IN SILENCE" : "an error";
  if (!found.is_right) return "WRONG BYTES";
  std::string text = std::to_string(found.number);
  if (found.skipped != 0) return text + ", reported";
  if (!found.why.empty()) text += ", from the copy";
  return text;
}

enum class Copies { none, lower, damaged_lower };

std::string cell(DamagedSet* set, const Row& row, Copies copies) {
  set->put_back(copies != Copies::none);
  for (const Damage& damage : row.damages) apply(set, damage);
  if (copies == Copies::damaged_lower) damage_lower(set);
  const DamagedSet::Found found = set->restart(copies != Copies::none);
  if (found.number == 0) std::printf("%s: %s\n", row.what, found.error.c_str());
  return shown(found);
}

std::string lost_pool(DamagedSet* set, Copies copies) {
  set->put_back(copies != Copies::none);
  if (copies == Copies::damaged_lower) damage_lower(set);
  const DamagedSet::Found found = set->restart_elsewhere(copies != Copies::none);
  return found.number == 0 && found.error.empty() ? "none" : shown(found);
}

std::string page(DamagedSet* set) {
  std::string text =
      "# What is read after damage\n\n"
      "`tests/damage/damage_table_test.cc` makes this page: it tries each cell. A set has the "
      "versions\n1, 2 and 3; the numbers say which one a restart reads. *From the copy*: bytes or "
      "the whole version\ncame from `options.lower`, and `info.why` says so. *Reported*: "
      "`info.skipped` and `info.why` tell of\nthe newer ones that could not be had. An *error* "
      "names what to do. Each row is one flipped bit, or\none in each of both copies.\n\n"
      "| damaged in the pool | no copies | copies in lower | the newest copy's data damaged, too "
      "|\n| --- | --- | --- | --- |\n";
  const auto add = [&](const std::string& what, const std::function<std::string(Copies)>& look) {
    text += "| " + what + " | " + look(Copies::none) + " | " + look(Copies::lower) + " | " +
            look(Copies::damaged_lower) + " |\n";
  };
  for (const Row& row : rows) add(row.what, [&](Copies copies) { return cell(set, row, copies); });
  add("the whole pool is lost", [&](Copies copies) { return lost_pool(set, copies); });
  return text +
         "\nWith `CAIRN_CHECKPOINT_PARTNER`, a copy on another host stands in for blocks, "
         "manifests and pools as\none in lower does, and comes before it "
         "(`tests/checkpoint/disruption_test.cc`). `none`: a pool that\nis gone has no set, so the "
         "program begins anew.\n";
}

TEST(DamageTable, IsThatOfThePage) {
  DamagedSet set;
  const std::string made = page(&set);
  EXPECT_EQ(made.find("WRONG"), std::string::npos);
  EXPECT_EQ(made.find("SILENCE"), std::string::npos);
  const char* const source = std::getenv("CAIRN_SOURCE_DIR");
  ASSERT_NE(source, nullptr);
  const std::string name = std::string(source) + "/docs/user/checkpoint-damage.md";
  if (number_from_environment("CAIRN_WRITE_PAGE", 0) != 0) {
    std::ofstream(name) << made;
    return;
  }
  std::ifstream file(name);
  const std::string there{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(there, made) << "CAIRN_WRITE_PAGE=1 writes the page anew";
}

// What the error of a lost file `set` says to do.
TEST(DamageTable, TheWayOutOfALostSetFileIsOne) {
  DamagedSet set;
  set.put_back(false);
  apply(&set, {"inode of the set", "set"});
  const std::string copies = set.lower() + "/way-out";
  std::filesystem::create_directory(copies);
  std::filesystem::permissions(copies, std::filesystem::perms::owner_all);
  cairn_pool* pool = nullptr;
  ASSERT_EQ(cairn_pool_attach(set.path().c_str(), 0, &pool), 0) << cairn_last_error();
  cairn_checkpoint_options options{};
  options.flags = CAIRN_CHECKPOINT_LOOK;
  cairn_checkpoint* const look = open_set(pool, DamagedSet::set_name, options);
  ASSERT_NE(look, nullptr);
  for (int64_t version = 1; version <= DamagedSet::versions; ++version) {
    EXPECT_EQ(cairn_checkpoint_verify(look, version, nullptr), 0) << cairn_last_error();
    EXPECT_EQ(cairn_checkpoint_drain(look, version, copies.c_str(), 0), 0) << cairn_last_error();
  }
  EXPECT_EQ(cairn_checkpoint_drop(look, 0, CAIRN_DROP_SET | CAIRN_DROP_LAST), 0)
      << cairn_last_error();
  EXPECT_EQ(cairn_checkpoint_finalize(look), 0) << cairn_last_error();
  auto info = empty_info();
  EXPECT_EQ(cairn_checkpoint_restore(pool, DamagedSet::set_name, copies.c_str(), &info), 0)
      << cairn_last_error();
  EXPECT_EQ(info.number, DamagedSet::versions);
  cairn_pool_detach(pool);
  const DamagedSet::Found found = set.restart(false);
  EXPECT_EQ(shown(found), "3") << found.error << found.why;
}

}  // namespace
}  // namespace cairn::test
