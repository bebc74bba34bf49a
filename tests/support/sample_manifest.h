// Manifests for the tests of checkpoint.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "checkpoint/record/attributes.h"
#include "checkpoint/store/manifest.h"

namespace cairn::checkpoint {

struct SampleManifest {
  VersionRecord version{};
  std::vector<RootRecord> roots;
  std::vector<uint8_t> attributes;
  std::vector<PartRecord> parts;

  // Part 0 of a version: rank r is in part r % parts.
  SampleManifest(uint32_t ranks, uint32_t part_count, uint64_t sequence) {
    version.sequence = sequence;
    version.parent = sequence - 1;
    version.number = 10 * static_cast<int64_t>(sequence);
    version.set[0] = 1;
    version.ranks = ranks;
    version.parts = part_count;
    version.part_ranks = (ranks + part_count - 1) / part_count;
    std::snprintf(version.code_version, sizeof version.code_version, "model 1.2");
    EXPECT_TRUE(append_attribute(&attributes, {"time", Type::character, 4, "noon"}).ok());
    version.attributes_length = static_cast<uint32_t>(attributes.size());
    for (uint32_t rank = 0; rank < ranks; rank += part_count) {
      RootRecord root{};
      root.rank = rank;
      root.sequence = sequence;
      root.region_offset = region_unit * (1 + roots.size());
      root.region_bytes = 1000;
      roots.push_back(root);
    }
    for (uint32_t i = 0; i < part_count; ++i) {
      PartRecord part{};
      std::snprintf(part.host, sizeof part.host, "node%u", i);
      part.first = i;
      part.stride = part_count;
      part.count = (ranks - i + part_count - 1) / part_count;
      parts.push_back(part);
    }
  }

  // With all checksums, and the decision if `decided`.
  [[nodiscard]] std::vector<uint8_t> bytes(bool decided = true) {
    for (RootRecord& root : roots) seal_root(&root);
    for (PartRecord& part : parts) seal_part(&part);
    EXPECT_TRUE(seal_version(&version).ok()) << last_detail();
    return bytes_as_they_are(decided);
  }
  // Offsets as in `version`; checksums that are there.
  [[nodiscard]] std::vector<uint8_t> bytes_as_they_are(bool decided = true) const {
    std::vector<uint8_t> all(static_cast<size_t>(version.manifest_length));
    const auto put = [&](uint64_t offset, const void* from, size_t size) {
      if (size != 0) std::memcpy(all.data() + offset, from, size);
    };
    put(0, &version, sizeof version);
    put(roots_offset, roots.data(), roots.size() * sizeof(RootRecord));
    put(version.attributes_offset, attributes.data(), attributes.size());
    put(version.parts_offset, parts.data(), parts.size() * sizeof(PartRecord));
    const uint64_t word = decided ? decision_word(Decision::committed, version.sequence,
                                                  seal_of(all.data(), all.size()))
                                  : 0;
    put(decision_offset, &word, sizeof word);
    return all;
  }
};

}  // namespace cairn::checkpoint
