#include "checkpoint/store/manifest.h"

#include <gtest/gtest.h>

#include "checkpoint/record/head.h"
#include "support/sample_contents.h"
#include "support/sample_manifest.h"

namespace cairn::checkpoint {
namespace {

bool is_believed(const std::vector<uint8_t>& bytes) {
  const auto manifest = Manifest::read(bytes);
  return manifest.ok() && manifest->is_committed_by(manifest->decision());
}

TEST(Manifest, IsReadAsItWasMade) {
  SampleManifest sample(7, 3, 5);
  auto bytes = sample.bytes();
  bytes.resize(bytes.size() + 1000);  // a longer file
  const auto manifest = Manifest::read(bytes);
  ASSERT_TRUE(manifest.ok()) << last_detail();
  EXPECT_TRUE(manifest->is_committed_by(manifest->decision()));
  EXPECT_EQ(manifest->version().sequence, 5U);
  EXPECT_EQ(manifest->root(2).rank, 6U);
  EXPECT_STREQ(manifest->part(1).host, "node1");
  AttributeReader reader(manifest->attributes());
  Attribute attribute;
  ASSERT_TRUE(reader.next(&attribute));
  EXPECT_EQ(attribute.values, "noon");
}

TEST(Manifest, WithoutADecisionNothingIsCommitted) {
  SampleManifest sample(4, 1, 5);
  const auto manifest = Manifest::read(sample.bytes(false));
  ASSERT_TRUE(manifest.ok()) << last_detail();
  EXPECT_FALSE(manifest->is_committed_by(0));
  EXPECT_TRUE(is_free_word(manifest->decision()));
  for (const Decision decision : {Decision::aborted, Decision::retired}) {
    EXPECT_TRUE(is_free_word(decision_word(decision, 5, 0)));
    EXPECT_FALSE(is_free_word(decision_word(decision, 5, 1)));
    EXPECT_FALSE(manifest->is_committed_by(decision_word(decision, 5, 0)));
  }
  const auto seal = seal_of(sample.bytes().data(), sample.version.manifest_length);
  EXPECT_TRUE(manifest->is_committed_by(decision_word(Decision::committed, 5, seal)));
  EXPECT_FALSE(manifest->is_committed_by(decision_word(Decision::committed, 4, seal)));
  EXPECT_FALSE(is_free_word(decision_word(Decision::committed, 5, seal)));
}

// Changes every byte except the mutable words behind the decision, which the seal does not cover.
TEST(Manifest, NoChangedByteIsBelieved) {
  for (const uint32_t parts : {1U, 3U}) {
    SampleManifest sample(7, parts, 5);
    auto bytes = sample.bytes();
    ASSERT_TRUE(is_believed(bytes)) << last_detail();
    for (size_t at = 0; at < bytes.size(); ++at) {
      if (at >= attempts_offset && at < roots_offset) continue;
      const uint8_t before = bytes[at];
      for (const int change : {0x01, 0x80, 0xff}) {
        bytes[at] = static_cast<uint8_t>(before ^ change);
        ASSERT_FALSE(is_believed(bytes)) << "byte " << at;
      }
      bytes[at] = before;
    }
  }
}

TEST(Manifest, NoShorterFileIsBelieved) {
  SampleManifest sample(3, 1, 5);
  const auto bytes = sample.bytes();
  for (size_t size = 0; size < bytes.size(); ++size)
    ASSERT_EQ(
        Manifest::read({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}).code(),
        EUCLEAN)
        << size;
}

// Makes a manifest with valid checksums and invalid contents.
template <typename Change>
int code_of_forged(Change change, uint32_t parts = 3) {
  SampleManifest sample(7, parts, 50);
  static_cast<void>(sample.bytes());
  change(sample);
  for (RootRecord& root : sample.roots) seal_root(&root);
  for (PartRecord& part : sample.parts) seal_part(&part);
  auto bytes = sample.bytes_as_they_are();
  seal_record(bytes.data(), sizeof(VersionRecord), magic_version);
  return Manifest::read(bytes).code();
}

TEST(Manifest, RefusesVersionsThatCannotBe) {
  using S = SampleManifest;
  EXPECT_EQ(code_of_forged([](S&) {}), 0);
  EXPECT_EQ(code_of_forged([](S& s) { s.version.parent = 50; }), EUCLEAN);
  EXPECT_EQ(code_of_forged([](S& s) { s.version.sequence = 0; }), EUCLEAN);
  EXPECT_EQ(code_of_forged([](S& s) { s.version.sequence = UINT64_MAX; }), EUCLEAN);
  EXPECT_EQ(code_of_forged([](S& s) { s.version.horizon = 49; }), EUCLEAN);
  EXPECT_EQ(code_of_forged([](S& s) { s.version.ranks = UINT32_MAX; }), EUCLEAN);
  EXPECT_EQ(code_of_forged([](S& s) { s.version.part = 3; }), EUCLEAN);
  EXPECT_EQ(code_of_forged([](S& s) { s.version.base = 7; }), EUCLEAN);
  EXPECT_EQ(code_of_forged([](S& s) { s.version.range_count = 13; }), EUCLEAN);
  EXPECT_EQ(code_of_forged([](S& s) { s.version.roots_offset += 8; }), EUCLEAN);
  EXPECT_EQ(code_of_forged([](S& s) { s.version.parts_offset -= 64; }), EUCLEAN);
  EXPECT_EQ(code_of_forged([](S& s) { s.version.attributes_offset -= 8; }), EUCLEAN);
  EXPECT_EQ(code_of_forged([](S& s) { s.version.attributes_length += 8; }), EUCLEAN);
  EXPECT_EQ(code_of_forged([](S& s) { std::memset(s.version.code_version, 'a', 64); }), EUCLEAN);
  EXPECT_EQ(code_of_forged([](S& s) { s.version.head.incompatible = 1; }), EPROTONOSUPPORT);
}

TEST(Manifest, AbandonedRangesAscendBelowTheSequence) {
  const auto with = [](std::vector<RangeRecord> ranges, uint64_t parent = 20) {
    return code_of_forged([&](SampleManifest& s) {
      s.version.parent = parent;
      s.version.range_count = static_cast<uint32_t>(ranges.size());
      std::copy(ranges.begin(), ranges.end(), s.version.ranges);
    });
  };
  EXPECT_EQ(with({{3, 3}, {5, 9}, {21, 49}}), 0);
  EXPECT_EQ(with({{5, 9}, {3, 3}}), EUCLEAN);
  EXPECT_EQ(with({{5, 9}, {9, 10}}), EUCLEAN);
  EXPECT_EQ(with({{9, 5}}), EUCLEAN);
  EXPECT_EQ(with({{0, 5}}), EUCLEAN);
  EXPECT_EQ(with({{30, 50}}), EUCLEAN);
  EXPECT_EQ(with({{15, 25}}), EUCLEAN) << "contains the parent";
}

TEST(Manifest, EachRankIsInOnePart) {
  using S = SampleManifest;
  EXPECT_EQ(code_of_forged([](S& s) { s.parts[1].first = 0; }), EUCLEAN) << "twice";
  EXPECT_EQ(code_of_forged([](S& s) { s.parts[1].count = 1; }), EUCLEAN) << "one is missing";
  EXPECT_EQ(code_of_forged([](S& s) { s.parts[1].count = UINT32_MAX; }), EUCLEAN);
  EXPECT_EQ(code_of_forged([](S& s) { s.parts[1].stride = UINT32_MAX; }), EUCLEAN);
  EXPECT_EQ(code_of_forged([](S& s) { s.parts[1].stride = 0; }), EUCLEAN);
  EXPECT_EQ(code_of_forged([](S& s) { s.parts[1].first = UINT32_MAX; }), EUCLEAN);
  EXPECT_EQ(code_of_forged([](S& s) { s.roots[1].rank = 4; }), EUCLEAN) << "not this part's";
  EXPECT_EQ(code_of_forged([](S& s) { std::swap(s.roots[0], s.roots[1]); }), EUCLEAN);
  EXPECT_EQ(code_of_forged([](S& s) { s.roots[1].sequence = 49; }), EUCLEAN) << "an older one";
  EXPECT_EQ(code_of_forged([](S& s) { s.parts[2].flags = part_is_irregular; }), 0);
  EXPECT_EQ(code_of_forged([](S& s) { s.parts[1].partner = 4; }), EUCLEAN);
  EXPECT_EQ(code_of_forged([](S& s) { s.parts[1].error = 5; }), EUCLEAN);
  EXPECT_EQ(code_of_forged([](S& s) { std::memset(s.parts[1].host, 'a', 64); }), EUCLEAN);
}

TEST(Manifest, VersionsOfOneSequenceAreComparedWithoutTheirPart) {
  SampleManifest a(7, 3, 5);
  SampleManifest b(7, 3, 5);
  b.version.part = 1;
  b.version.part_ranks = 2;
  b.version.holder[3] = 9;
  ASSERT_TRUE(seal_version(&a.version).ok() && seal_version(&b.version).ok());
  EXPECT_TRUE(is_same_version(a.version, b.version));
  b.version.step = 1;
  EXPECT_FALSE(is_same_version(a.version, b.version));
}

// Puts regions where the layout puts them, extents behind them.
TEST(Manifest, PlacesAreThoseOfTheLayout) {
  SampleContents layout = sample_contents();
  const auto contents = layout.contents();
  ASSERT_TRUE(contents.ok()) << last_detail();
  const auto regions = place_regions(*contents, {0, 1, 2, 3});
  ASSERT_TRUE(regions.ok());
  const uint64_t data_bytes = regions->end + region_unit;
  const auto code = [&](auto change, uint64_t size) {
    SampleManifest sample(4, 1, 5);
    std::memcpy(sample.version.layout, contents->layout().hash().data(), 32);
    for (uint32_t rank = 0; rank < 4; ++rank) {
      sample.roots[rank].region_offset = regions->offset[rank];
      sample.roots[rank].region_bytes = regions->bytes[rank];
      sample.roots[rank].extent_offset = regions->end + uint64_t{8192} * rank;
      sample.roots[rank].extent_bytes = 100;
    }
    change(sample);
    const auto manifest = Manifest::read(sample.bytes());
    EXPECT_TRUE(manifest.ok()) << last_detail();
    return manifest->check_places(*contents, size).code();
  };
  using S = SampleManifest;
  EXPECT_EQ(code([](S&) {}, data_bytes), 0) << last_detail();
  EXPECT_EQ(code([](S&) {}, regions->offset[3]), EUCLEAN) << "the file ends before";
  EXPECT_EQ(code([](S&) {}, regions->end + 8192), EUCLEAN) << "before the extents";
  EXPECT_EQ(code([](S& s) { s.roots[1].region_offset += region_unit; }, data_bytes), EUCLEAN);
  EXPECT_EQ(code([](S& s) { s.roots[1].region_bytes += 1; }, data_bytes), EUCLEAN);
  EXPECT_EQ(code([](S& s) { s.roots[1].extent_offset = 0; }, data_bytes), EUCLEAN);
  EXPECT_EQ(code([](S& s) { s.roots[1].extent_offset += 1; }, data_bytes), EUCLEAN);
  EXPECT_EQ(code([](S& s) { s.roots[1].extent_offset = s.roots[0].extent_offset; }, data_bytes),
            EUCLEAN);
  EXPECT_EQ(code([](S& s) { s.roots[1].extent_bytes = UINT64_MAX; }, data_bytes), EUCLEAN);
  EXPECT_EQ(code([](S& s) { s.roots[1].extent_offset = uint64_t{0} - 4096; }, data_bytes), EUCLEAN);
  EXPECT_EQ(code([](S& s) { s.version.layout[3] ^= 1; }, data_bytes), EUCLEAN);
}

}  // namespace
}  // namespace cairn::checkpoint
