// Damaged checkpoints: files of a set are erased, cut and changed. A restart finds a version with
// each byte right and says what it left out, or says why there is none. It never reads what is
// wrong.
#include <fcntl.h>

#include <algorithm>
#include <random>

#include "base/crc32c_bulk.h"
#include "checkpoint/counted_arrays.h"
#include "checkpoint/layout/checksum_list.h"
#include "checkpoint/store/manifest.h"
#include "damage/forge.h"

namespace cairn::test {
namespace {

constexpr int64_t rows_of_all = 60;
constexpr uint64_t regions_begin = uint64_t{2} << 20;

class DamagedCheckpoint : public testing::Test {
 protected:
  // `is_counted`: the versions also have arrays of which ranks have any number of elements.
  explicit DamagedCheckpoint(bool is_counted = false)
      : is_counted_(is_counted), pool_(32ULL << 20) {
    // Version 1 lies in slot 1, version 2 in slot 2.
    with_ranks(2, [&](uint32_t rank) {
      cairn_checkpoint* checkpoint = open(rank, 2);
      Rows rows(rows_of_all, rank, 2);
      CountedArrays counted(rank, 2, false, large_bytes);
      ASSERT_EQ(rows.define(checkpoint), 0);
      if (is_counted_) {
        ASSERT_EQ(counted.define(checkpoint), 0) << cairn_last_error();
      }
      for (const int64_t version : {1, 2}) {
        rows.set(version);
        counted.set(version);
        ASSERT_EQ(cairn_checkpoint_write(checkpoint, version), 0) << cairn_last_error();
      }
      ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
    });
  }

  cairn_checkpoint* open(uint32_t rank, uint32_t ranks) {
    cairn_checkpoint_options options{};
    options.rank = rank;
    options.ranks = ranks;
    options.max_attempts = 1000;
    return open_set(pool_.get(), "field", options);
  }
  static std::string path_of(const std::string& name) { return "/.checkpoints/field/" + name; }

  std::vector<std::string> names() {
    cairn_stat st{};
    EXPECT_EQ(cairn_lookup(pool_.get(), CAIRN_ROOT, "/.checkpoints/field", 0, &st), 0);
    cairn_dirent entries[64];
    const int count = cairn_readdir(pool_.get(), st.ino, 0, entries, 64);
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i)
      if (entries[i].name[0] != '.') names.emplace_back(entries[i].name);
    return names;
  }
  std::string name_with(const std::string& suffix) {
    for (const std::string& name : names())
      if (name.ends_with(suffix)) return name;
    ADD_FAILURE() << "no " << suffix;
    return "";
  }
  cairn_file* open_file(const std::string& name) {
    cairn_file* file = nullptr;
    EXPECT_EQ(cairn_open(pool_.get(), CAIRN_ROOT, path_of(name).c_str(), O_RDWR, 0, &file), 0)
        << name << ": " << cairn_last_error();
    return file;
  }
  uint64_t size_of(const std::string& name) {
    cairn_stat st{};
    EXPECT_EQ(cairn_lookup(pool_.get(), CAIRN_ROOT, path_of(name).c_str(), 0, &st), 0);
    return st.size;
  }

  struct Found {
    int64_t number = 0;  // 0: none
    uint32_t skipped = 0;
    std::string why;  // of those skipped, or the error
  };
  // What a restart finds. A version must be right.
  Found restart() {
    Found found;
    cairn_checkpoint_options options{};
    options.struct_size = sizeof options;
    options.pool = pool_.get();
    options.max_attempts = 1000;
    cairn_checkpoint* checkpoint = nullptr;
    if (cairn_checkpoint_init("field", CAIRN_NO_COMMUNICATOR, &options, &checkpoint) != 0) {
      found.why = cairn_last_error();
      return found;
    }
    Rows rows(rows_of_all, 0, 1);
    std::vector<CountedArrays> counted = {{0, 1, false, large_bytes}};
    EXPECT_EQ(rows.define(checkpoint), 0);
    if (is_counted_) {
      EXPECT_EQ(counted[0].define(checkpoint), 0) << cairn_last_error();
    }
    auto info = empty_info();
    if (cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, &info) != 0) {
      found.why = cairn_last_error();
      EXPECT_EQ(rows.at(0, 0), -1) << "an array was touched: " << found.why;
      EXPECT_TRUE(counted[0].is_untouched()) << found.why;
    } else {
      found = {info.number, info.skipped, info.why};
      EXPECT_EQ(rows.difference(info.number), "") << "version " << info.number;
      if (is_counted_ && !(is_forged_ && info.number == 2)) {
        EXPECT_EQ(difference_of_all(counted, info.number, 2), "") << "version " << info.number;
      }
    }
    cairn_checkpoint_finalize(checkpoint);
    return found;
  }
  // Changes a byte, restarts, and puts it back.
  Found with_changed(const std::string& name, uint64_t offset, uint8_t bits) {
    cairn_file* file = open_file(name);
    uint8_t byte = 0;
    EXPECT_EQ(cairn_pread(file, &byte, 1, offset), 1);
    const uint8_t changed = byte ^ bits;
    EXPECT_EQ(cairn_pwrite(file, &changed, 1, offset), 1);
    Found found = restart();
    EXPECT_EQ(cairn_pwrite(file, &byte, 1, offset), 1);
    cairn_close(file);
    return found;
  }
  static void expect(const Found& found, int64_t number, const std::string& what) {
    EXPECT_EQ(found.number, number) << what << ": " << found.why;
    if (number == 2) return;
    EXPECT_NE(found.why, "") << what;
    if (number == 1) {
      EXPECT_EQ(found.skipped, 1U) << what;
    }
  }

  static constexpr size_t large_bytes = 1000;
  bool is_counted_;
  bool is_forged_ = false;  // version 2 says something else, under checksums that are right
  PoolInMemory pool_;
};

TEST_F(DamagedCheckpoint, EachByteOfAManifest) {
  for (uint64_t at = 0; at < 1024 + 2 * 128 + 256; ++at) {
    if (at >= 520 && at < 1024) continue;  // words that mean nothing for the bytes
    for (const bool newest : {false, true}) {
      const Found found =
          with_changed(newest ? "slot-0002.manifest" : "slot-0001.manifest", at, 0x11);
      // What a word of the older one says is looked at by who asks for it.
      if (newest) {
        expect(found, 1, "byte " + std::to_string(at));
      } else {
        EXPECT_EQ(found.number, 2) << at << ": " << found.why;
      }
      ASSERT_FALSE(HasFailure()) << at;
    }
  }
  expect(restart(), 2, "as it was");
}

TEST_F(DamagedCheckpoint, BytesOfTheDataAndTheirChecksums) {
  std::mt19937_64 random(test_seed());
  const uint64_t bytes = rows_of_all / 2 * Rows::columns * 8;  // of a rank
  for (int i = 0; i < 200; ++i) {
    const uint64_t region = regions_begin * (1 + random() % 2);
    // One block a rank: its checksum lies behind the bytes.
    const uint64_t list = (bytes + 63) / 64 * 64;
    const uint64_t at = region + (random() % 4 == 0 ? list + random() % 4 : random() % bytes);
    const auto bits = static_cast<uint8_t>(1 + random() % 255);
    expect(with_changed("slot-0002.data", at, bits), 1, "offset " + std::to_string(at));
    expect(with_changed("slot-0001.data", at, bits), 2, "offset " + std::to_string(at));
    ASSERT_FALSE(HasFailure());
  }
}

// Each is there twice, and one copy mends the other.
TEST_F(DamagedCheckpoint, LayoutsAndTheSet) {
  std::mt19937_64 random(test_seed());
  for (const std::string& name :
       {name_with(".layout"), name_with(".decomposition"), std::string("set")}) {
    const uint64_t size = name == "set" ? 256 : size_of(name);
    for (int i = 0; i < 60; ++i) {
      const uint64_t at = random() % size;
      expect(with_changed(name, at, 0x04), 2, name + " byte " + std::to_string(at));
      ASSERT_FALSE(HasFailure());
    }
  }
  expect(restart(), 2, "as it was");
}

// The name of slot 1 leads to the data of slot 2: a version in one would overwrite that in the
// other. All later versions are whole.
TEST_F(DamagedCheckpoint, ASlotWithTheDataOfAnotherIsNotUsed) {
  cairn_stat set{};
  cairn_stat data{};
  ASSERT_EQ(cairn_lookup(pool_.get(), CAIRN_ROOT, "/.checkpoints/field", 0, &set), 0);
  ASSERT_EQ(cairn_lookup(pool_.get(), CAIRN_ROOT, path_of("slot-0002.data").c_str(), 0, &data), 0);
  Forge(pool_.get()).inode(set.ino, "slot-0001.data", data.ino);
  with_ranks(2, [&](uint32_t rank) {
    cairn_checkpoint* checkpoint = open(rank, 2);
    Rows rows(rows_of_all, rank, 2);
    ASSERT_EQ(rows.define(checkpoint), 0);
    ASSERT_EQ(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, nullptr), 0)
        << cairn_last_error();
    for (int64_t version = 3; version < 8; ++version) {
      rows.set(version);
      ASSERT_EQ(cairn_checkpoint_write(checkpoint, version), 0) << cairn_last_error();
      ASSERT_EQ(cairn_checkpoint_read(checkpoint, version - 1, 0, nullptr), 0)
          << version << ": " << cairn_last_error();
      EXPECT_EQ(rows.difference(version - 1), "");
      ASSERT_EQ(cairn_checkpoint_read(checkpoint, version, 0, nullptr), 0) << cairn_last_error();
      EXPECT_EQ(rows.difference(version), "");
    }
    ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
  });
}

TEST_F(DamagedCheckpoint, FilesThatAreCut) {
  struct Case {
    std::string name;
    std::vector<uint64_t> sizes;
    int64_t found;
  };
  const std::vector<Case> cases = {
      {"slot-0002.manifest", {0, 100, 511, 515, 600, 1100, 1400}, 1},
      {"slot-0002.data", {0, regions_begin, regions_begin + 100, 2 * regions_begin + 50}, 1},
      {"slot-0001.data", {0}, 2},
      {name_with(".layout"), {0, 50, 200}, 2},
      {name_with(".decomposition"), {0, 50}, 2},
      {"set", {0, 100, 5000}, 0},
  };
  for (const Case& one : cases) {
    for (const uint64_t size : one.sizes) {
      cairn_file* file = open_file(one.name);
      std::string bytes(size_of(one.name), 0);
      ASSERT_EQ(cairn_pread(file, bytes.data(), bytes.size(), 0),
                static_cast<ssize_t>(bytes.size()));
      ASSERT_EQ(cairn_ftruncate(file, size), 0);
      const Found found = restart();
      EXPECT_EQ(found.number, one.found) << one.name << " " << size << ": " << found.why;
      if (one.found != 2) {
        EXPECT_NE(found.why, "");
      }
      ASSERT_EQ(cairn_pwrite(file, bytes.data(), bytes.size(), 0),
                static_cast<ssize_t>(bytes.size()));
      cairn_close(file);
    }
  }
  expect(restart(), 2, "as it was");
}

class ErasedFile : public DamagedCheckpoint,
                   public testing::WithParamInterface<std::pair<const char*, int64_t>> {};

TEST_P(ErasedFile, IsToldAndTheVersionBeforeIsFound) {
  const std::string name = name_with(GetParam().first);
  ASSERT_EQ(cairn_unlink(pool_.get(), CAIRN_ROOT, path_of(name).c_str()), 0);
  for (const char* when : {"at first", "again"}) {
    const Found found = restart();
    EXPECT_EQ(found.number, GetParam().second) << name << " " << when << ": " << found.why;
    if (found.number != 2) {
      EXPECT_NE(found.why, "") << when;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Files, ErasedFile,
                         testing::Values(std::pair{"0002.data", 1}, std::pair{"0001.data", 2},
                                         std::pair{"0002.manifest", 1},
                                         std::pair{"0001.manifest", 2}, std::pair{".layout", 2},
                                         std::pair{".decomposition", 2}, std::pair{"set", 0}),
                         [](const auto& file) {
                           std::string name = file.param.first;
                           std::erase_if(name, [](char c) { return std::isalnum(c) == 0; });
                           return name;
                         });

// After a fallback the damaged version never counts again, and the run goes on.
TEST_F(DamagedCheckpoint, TheRunGoesOnFromTheVersionBefore) {
  cairn_file* file = open_file("slot-0002.data");
  const uint8_t wrong = 0xee;
  ASSERT_EQ(cairn_pwrite(file, &wrong, 1, regions_begin + 100), 1);
  cairn_close(file);
  with_ranks(3, [&](uint32_t rank) {
    cairn_checkpoint* checkpoint = open(rank, 3);
    Rows rows(rows_of_all, rank, 3);
    ASSERT_EQ(rows.define(checkpoint), 0);
    auto info = empty_info();
    ASSERT_EQ(cairn_checkpoint_read(checkpoint, CAIRN_CHECKPOINT_LATEST, 0, &info), 0)
        << cairn_last_error();
    EXPECT_EQ(info.number, 1);
    EXPECT_EQ(info.skipped, 1U);
    EXPECT_EQ(cairn_checkpoint_read(checkpoint, 2, 0, &info), -EIO);
    EXPECT_EQ(rows.difference(1), "") << "the damaged one did not touch the array";
    ASSERT_EQ(cairn_checkpoint_read(checkpoint, 1, 0, &info), 0) << cairn_last_error();
    rows.set(3);
    ASSERT_EQ(cairn_checkpoint_write(checkpoint, 3), 0) << cairn_last_error();
    ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
  });
  const Found found = restart();
  EXPECT_EQ(found.number, 3) << found.why;
  EXPECT_EQ(found.skipped, 0U);
}

// What is damaged takes room until a run begins anew.
TEST_F(DamagedCheckpoint, AFreshRunDropsWhatIsDamaged) {
  cairn_file* file = open_file("slot-0002.manifest");
  const uint8_t wrong = 0xee;
  ASSERT_EQ(cairn_pwrite(file, &wrong, 1, 100), 1);
  cairn_close(file);
  ASSERT_EQ(cairn_unlink(pool_.get(), CAIRN_ROOT, path_of("slot-0001.data").c_str()), 0);
  EXPECT_EQ(restart().number, 0);
  with_ranks(2, [&](uint32_t rank) {
    cairn_checkpoint_options options{};
    options.rank = rank;
    options.ranks = 2;
    options.flags = CAIRN_CHECKPOINT_FRESH;
    cairn_checkpoint* checkpoint = open_set(pool_.get(), "field", options);
    Rows rows(rows_of_all, rank, 2);
    ASSERT_EQ(rows.define(checkpoint), 0);
    for (const int64_t version : {2, 3, 4}) {
      rows.set(version);
      ASSERT_EQ(cairn_checkpoint_write(checkpoint, version), 0) << cairn_last_error();
    }
    ASSERT_EQ(cairn_checkpoint_finalize(checkpoint), 0);
  });
  const Found found = restart();
  EXPECT_EQ(found.number, 4) << found.why;
  EXPECT_EQ(found.skipped, 0U) << found.why;
  const auto all = names();
  EXPECT_EQ(std::count_if(all.begin(), all.end(),
                          [](const std::string& name) { return name.starts_with("slot-"); }),
            4);
}

// The same of versions with ragged arrays, particles and bytes of ranks.
class DamagedCounted : public DamagedCheckpoint {
 protected:
  DamagedCounted() : DamagedCheckpoint(true) {}

  std::vector<uint8_t> bytes_of(const std::string& name, uint64_t offset, uint64_t size) {
    std::vector<uint8_t> bytes(static_cast<size_t>(size));
    cairn_file* file = open_file(name);
    EXPECT_EQ(cairn_pread(file, bytes.data(), bytes.size(), offset),
              static_cast<ssize_t>(bytes.size()));
    cairn_close(file);
    return bytes;
  }
  void put(const std::string& name, uint64_t offset, const void* bytes, size_t size) {
    cairn_file* file = open_file(name);
    EXPECT_EQ(cairn_pwrite(file, bytes, size, offset), static_cast<ssize_t>(size));
    cairn_close(file);
  }
  checkpoint::RootRecord root_of(uint32_t rank) {
    const auto bytes = bytes_of("slot-0002.manifest",
                                checkpoint::roots_offset + sizeof(checkpoint::RootRecord) * rank,
                                sizeof(checkpoint::RootRecord));
    return checkpoint::record_at<checkpoint::RootRecord>(bytes.data());
  }
  // An area of version 2 with other bytes and right checksums, as somebody would forge it.
  void forge(uint32_t rank, bool is_extent, const std::vector<uint8_t>& bytes) {
    namespace ckpt = cairn::checkpoint;
    auto manifest = bytes_of("slot-0002.manifest", 0, size_of("slot-0002.manifest"));
    uint8_t* const at = manifest.data() + ckpt::roots_offset + sizeof(ckpt::RootRecord) * rank;
    auto root = ckpt::record_at<ckpt::RootRecord>(at);
    const uint64_t offset = is_extent ? root.extent_offset : root.region_offset;
    // One block.
    const std::vector<uint32_t> list = {crc32c_bulk(0, bytes.data(), bytes.size())};
    (is_extent ? root.extent_list_crc : root.region_list_crc) = ckpt::crc_of_list(list);
    ckpt::seal_root(&root);
    std::memcpy(at, &root, sizeof root);
    const auto version = ckpt::read_version(manifest.data(), manifest.size());
    ASSERT_TRUE(version.ok()) << last_detail();
    const uint64_t decision =
        ckpt::decision_word(ckpt::Decision::committed, version->sequence,
                            ckpt::seal_of(manifest.data(), version->manifest_length));
    std::memcpy(manifest.data() + ckpt::decision_offset, &decision, sizeof decision);
    put("slot-0002.data", offset, bytes.data(), bytes.size());
    put("slot-0002.data", offset + ckpt::list_offset(bytes.size()), list.data(), sizeof list[0]);
    put("slot-0002.manifest", 0, manifest.data(), manifest.size());
  }
  std::vector<uint8_t> extent_of(uint32_t rank) {
    const auto root = root_of(rank);
    return bytes_of("slot-0002.data", root.extent_offset, root.extent_bytes);
  }
};

TEST_F(DamagedCounted, EachByteOfARoot) {
  for (uint64_t at = checkpoint::roots_offset; at < checkpoint::roots_offset + 2 * 128; ++at) {
    expect(with_changed("slot-0002.manifest", at, 0x21), 1, "byte " + std::to_string(at));
    ASSERT_FALSE(HasFailure()) << at;
  }
}

TEST_F(DamagedCounted, BytesOfExtentsAndTheirChecksums) {
  std::mt19937_64 random(test_seed());
  for (int i = 0; i < 200; ++i) {
    const auto root = root_of(static_cast<uint32_t>(random() % 2));
    const uint64_t list = checkpoint::list_offset(root.extent_bytes);
    const uint64_t position = i < 6 * 32   ? static_cast<uint64_t>(i)  // of the directory
                              : i % 4 == 0 ? list + random() % 4
                                           : random() % root.extent_bytes;
    const auto bits = static_cast<uint8_t>(1 + random() % 255);
    const uint64_t at = root.extent_offset + position;
    expect(with_changed("slot-0002.data", at, bits), 1, "offset " + std::to_string(at));
    ASSERT_FALSE(HasFailure());
  }
  expect(restart(), 2, "as it was");
}

TEST_F(DamagedCounted, FilesThatAreCut) {
  const std::string name = "slot-0002.data";
  const auto bytes = bytes_of(name, 0, size_of(name));
  std::vector<uint64_t> sizes;
  for (const uint32_t rank : {0U, 1U}) {
    const auto root = root_of(rank);
    for (const uint64_t at : {uint64_t{0}, uint64_t{31}, uint64_t{192}, root.extent_bytes - 1,
                              checkpoint::list_offset(root.extent_bytes) + 3})
      sizes.push_back(root.extent_offset + at);
  }
  for (const uint64_t size : sizes) {
    cairn_file* file = open_file(name);
    ASSERT_EQ(cairn_ftruncate(file, size), 0);
    expect(restart(), 1, "cut at " + std::to_string(size));
    ASSERT_EQ(cairn_pwrite(file, bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
    cairn_close(file);
  }
  expect(restart(), 2, "as it was");
}

// Somebody who knows the format changes what a directory, counts or keys say. A restart finds no
// version that cannot be, and never reads or writes what is not there.
TEST_F(DamagedCounted, ForgedNumbers) {
  is_forged_ = true;
  std::mt19937_64 random(test_seed());
  const uint64_t extremes[] = {0,          1,          0x7f,
                               0x80,       0xffff,     0x7fffffff,
                               0x80000000, 1ULL << 46, (1ULL << 62) + 1,
                               INT64_MAX,  1ULL << 63, UINT64_MAX - 7,
                               UINT64_MAX};
  const uint32_t rank = 1;
  const auto root = root_of(rank);
  const auto extent = extent_of(rank);
  const auto region = bytes_of("slot-0002.data", root.region_offset, root.region_bytes);
  // Of the region, where they come first.
  const uint64_t counts = CountedArrays(rank, 2).counts.size();
  const uint64_t directory = 5 * sizeof(checkpoint::DirectoryRecord);
  int read = 0;
  int refused = 0;
  const auto attempt = [&](bool is_extent, uint64_t at, size_t width, uint64_t value) {
    auto bytes = is_extent ? extent : region;
    std::memcpy(bytes.data() + at, &value, width);
    forge(rank, is_extent, bytes);
    const Found found = restart();
    EXPECT_TRUE(found.number == 1 || found.number == 2) << found.why;
    ++(found.number == 2 ? read : refused);
    forge(rank, is_extent, is_extent ? extent : region);
  };
  for (uint64_t at = 0; at < directory; at += 8)
    for (const uint64_t value : extremes) attempt(true, at, 8, value);
  EXPECT_GT(refused, 0);
  refused = 0;
  for (int i = 0; i < 150; ++i) {
    const uint64_t value = random() % 2 == 0 ? extremes[random() % std::size(extremes)] : random();
    attempt(true, directory + random() % (extent.size() - directory - 8), 8, value);
  }
  EXPECT_GT(read, 0) << "values are anybody's";
  for (int i = 0; i < 150; ++i) {
    const uint64_t value = random() % 2 == 0 ? extremes[random() % std::size(extremes)] : random();
    attempt(false, 4 * (random() % counts), 4, value);
  }
  EXPECT_GT(refused, 0) << "counts that do not sum to the values";
  is_forged_ = false;
  expect(restart(), 2, "as it was");
}

}  // namespace
}  // namespace cairn::test
