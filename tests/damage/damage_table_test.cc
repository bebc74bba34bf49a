// The page docs/user/checkpoint-damage.md: what is damaged, where copies are, and what is read
// then. Each cell is tried.
//
//   CAIRN_WRITE_PAGE   1: writes the page instead of comparing it
#include <array>
#include <cstdlib>
#include <tuple>

#include "damage/damaged_nodes.h"
#include "damage/damaged_set.h"

namespace cairn::test {
namespace {

// One bit in each range of a kind, of the files of a version or, with 0, of all.
struct Damage {
  std::string kind;
  int64_t version = 0;
  size_t most = SIZE_MAX;   // ranges
  bool is_of_copy = false;  // of another node's part
};
struct Row {
  const char* what;
  std::vector<Damage> damages;
};

const std::vector<Row> rows = {
    {"nothing", {}},
    {"the name of `.checkpoints`", {{"name of .checkpoints"}}},
    {"the name of the set", {{"name of the set"}}},
    {"the name of the newest manifest", {{"name of the manifest", 3}}},
    {"the name of the newest data file", {{"name of the data", 3}}},
    {"the inode of `.checkpoints`", {{"inode of .checkpoints"}}},
    {"the inode of the set's directory", {{"inode of the set"}}},
    {"the file `set`: one record", {{"SET", 0, 1}}},
    {"the file `set`: both records", {{"SET"}}},
    {"the file `set`: its inode", {{"inode of the file set"}}},
    {"the newest manifest: VERSION", {{"VERSION", 3}}},
    {"the newest manifest: the decision", {{"decision", 3}}},
    {"the newest manifest: a root", {{"root", 3}}},
    {"the newest manifest: the parts", {{"part", 3}}},
    {"the newest manifest: its inode", {{"inode of the manifest", 3}}},
    {"the newest data: a block", {{"bytes and checksums", 3, 1}}},
    {"the newest data: its inode", {{"inode of the data", 3}}},
    {"a layout: one of two", {{"layout", 0, 1}}},
    {"a layout: both", {{"layout"}}},
    {"a decomposition: both", {{"decomposition"}}},
    {"an older manifest", {{"VERSION", 2}}},
    {"older data", {{"bytes and checksums", 2, 1}}},
};

// Where a flip says the most: the magic, the state, or the first byte of a name.
uint64_t byte_of(const RecordKind& kind, const Range& range) {
  if (kind.name.starts_with("name")) return range.end - range.begin - 2;  // inside of the name
  if (kind.name.starts_with("inode")) return 8;                           // the state
  if (kind.name == "lower: data" || kind.name == "bytes and checksums") return 100;
  return (range.end - range.begin) / 2;
}

// `target`: a DamagedSet or a DamagedPool.
template <typename Target>
void apply(Target* target, const Damage& damage) {
  const RecordKind& kind = target->kinds().get(damage.kind);
  size_t hit = 0;
  for (const Range& range : kind.ranges) {
    const bool is_one = damage.version == 0 ||
                        (range.version == damage.version && range.is_copy == damage.is_of_copy);
    if (!is_one || hit == damage.most) continue;
    target->flip(range, byte_of(kind, range), 0);
    ++hit;
  }
  EXPECT_NE(hit, 0U) << damage.kind << " of version " << damage.version;
}

std::string shown(const Found& found) {
  if (found.number == 0) return found.error.empty() ? "NOTHING, IN SILENCE" : "an error";
  if (!found.is_right) return "WRONG BYTES";
  std::string text = std::to_string(found.number);
  if (found.skipped != 0) return text + ", reported";
  if (!found.why.empty()) text += ", from the copy";
  return text;
}

// Where copies are of what is damaged in the pool, and which of them are damaged, too: the data of
// version 3.
enum class Copies { none, lower, damaged_lower, partner, damaged_partner };
constexpr std::array all_copies = {Copies::none, Copies::lower, Copies::damaged_lower,
                                   Copies::partner, Copies::damaged_partner};

constexpr const char* intro = R"(# Checkpoint damage: what a restart reads

Find the row that names what is damaged in a pool, and the column that says where copies are. The
cell is the version that a restart reads, of a set that has the versions 1, 2 and 3:

- *3*: the newest version is read as if nothing were damaged.
- *3, from the copy*: bytes of the version, or all of it, came from a copy. `info.why` says why.
- *2, reported*: version 3 cannot be read, so the one before is. `info.skipped` counts such
  versions, and `info.why` says what is wrong with the newest one.
- *an error*: `cairn_checkpoint_init` fails. The text names the commands that get the data back. A
  restart in a new pool then reads what the last row says.
- *none*: the set is not found, so the program starts from the beginning.

Each row is one flipped bit, or one bit in each of both copies of a record. Copies in lower are in
`options.lower`. With a partner (`CAIRN_CHECKPOINT_PARTNER`) there are two nodes: the damage is in
the pool of the first one, and the pool of the second one holds the copies. The last row is a pool
that is lost with its node. `tests/damage/damage_table_test.cc` tries each cell and makes this page.

| damaged in the pool | no copies | copies in lower | in lower, version 3 damaged there, too | copies of a partner | of a partner, version 3 damaged there, too |
| --- | --- | --- | --- | --- | --- |
)";

class Table {
 public:
  std::string page() {
    std::string text = intro;
    for (const Row& row : rows)
      text += line(row.what, [&](Copies copies) { return cell(row, copies); });
    return text + line("the whole pool", [&](Copies copies) { return lost_pool(copies); });
  }

 private:
  static bool is_partner(Copies copies) {
    return copies == Copies::partner || copies == Copies::damaged_partner;
  }
  static std::string line(const std::string& what, const std::function<std::string(Copies)>& look) {
    std::string text = "| " + what + " |";
    for (const Copies copies : all_copies) text += " " + look(copies) + " |";
    return text + "\n";
  }
  void put_back(Copies copies) {
    if (is_partner(copies)) {
      nodes_.put_back();
    } else {
      set_.put_back(copies != Copies::none);
    }
    if (copies == Copies::damaged_lower) apply(&set_, {"lower: data", 3, 1});
    if (copies == Copies::damaged_partner)
      apply(&nodes_.pool(1), {"bytes and checksums", 3, 1, true});
  }
  std::string cell(const Row& row, Copies copies) {
    put_back(copies);
    for (const Damage& damage : row.damages) {
      if (is_partner(copies)) {
        apply(&nodes_.pool(0), damage);
      } else {
        apply(&set_, damage);
      }
    }
    const Found found =
        is_partner(copies) ? nodes_.restart() : set_.restart(copies != Copies::none);
    std::printf("%s: %lld %s%s\n", row.what, static_cast<long long>(found.number),
                found.error.c_str(), found.why.c_str());
    return shown(found);
  }
  std::string lost_pool(Copies copies) {
    put_back(copies);
    const Found found = is_partner(copies) ? nodes_.restart_elsewhere()
                                           : set_.restart_elsewhere(copies != Copies::none);
    return found.number == 0 && found.error.empty() ? "none" : shown(found);
  }

  DamagedSet set_;
  DamagedNodes nodes_;
};

TEST(DamageTable, IsThatOfThePage) {
  const std::string made = Table().page();
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

// A user follows the error of a lost directory with the command.
TEST(DamageTable, TheWayOutOfALostDirectoryIsOne) {
  const char* const bin = std::getenv("CAIRN_BIN_DIR");
  ASSERT_NE(bin, nullptr);
  DamagedSet set;
  const std::filesystem::path folder = std::filesystem::path(set.path()).parent_path();
  const auto cairn = [&](const std::string& pool, const std::string& words) {
    const std::string out = set.lower() + "/out";
    const std::string line = "CAIRN_POOL_DIR=" + folder.string() + " CAIRN_POOL_NAME=" + pool +
                             " " + bin + "/cairn " + words + " > " + out + " 2>&1";
    const int ended = std::system(line.c_str());
    const std::vector<uint8_t> bytes = file_bytes(out);
    return std::pair(ended, std::string(bytes.begin(), bytes.end()));
  };
  for (const auto& [kind, directory] :
       {std::pair("inode of .checkpoints", "/.checkpoints: inode "),
        std::pair("inode of the set", "/.checkpoints/field: inode ")}) {
    SCOPED_TRACE(kind);
    set.put_back(true);
    apply(&set, {kind});
    const std::string lower = set.lower();
    for (const std::string& words :
         {std::string("ckpt ls"), std::string("ckpt verify field"),
          std::string("ckpt rm --force field"), "ckpt drain field --to " + lower,
          "ckpt restore field --from " + lower}) {
      const auto [ended, text] = cairn("pool", words);
      EXPECT_NE(text.find(directory), std::string::npos) << words << ": " << text;
      EXPECT_NE(text.find("`cairn pool create --pool-name NAME`"), std::string::npos) << text;
      EXPECT_TRUE(ended != 0 || words == "ckpt ls") << words;
    }
    const Found error = set.restart(true);
    EXPECT_NE(error.error.find("`cairn ckpt restore field --from DIR`"), std::string::npos)
        << error.error;
    // As the text says.
    auto [ended, text] = cairn("pool", "pool create --pool-name other --size 12M");
    EXPECT_EQ(ended, 0) << text;
    std::tie(ended, text) = cairn("other", "ckpt restore field --from " + lower);
    EXPECT_EQ(ended, 0) << text;
    EXPECT_EQ(shown(set.restart_in_pool((folder / "other").string())), "3");
    std::filesystem::remove_all(folder / "other");
  }
}

// What the error of a lost file `set` says to do.
TEST(DamageTable, TheWayOutOfALostSetFileIsOne) {
  DamagedSet set;
  set.put_back(false);
  apply(&set, {"inode of the file set"});
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
  const Found found = set.restart(false);
  EXPECT_EQ(shown(found), "3") << found.error << found.why;
}

}  // namespace
}  // namespace cairn::test
