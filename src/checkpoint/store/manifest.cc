#include "checkpoint/store/manifest.h"

#include <algorithm>
#include <cstring>

#include "base/crc32c_bulk.h"
#include "checkpoint/record/attributes.h"

namespace cairn::checkpoint {
namespace {

Status damaged(const VersionRecord& version, const char* what, uint32_t which) {
  return fail(EUCLEAN, "version with sequence %llu: damaged: %s %u",
              static_cast<unsigned long long>(version.sequence), what, which);
}

bool ends(const char* text, size_t size) { return std::memchr(text, 0, size) != nullptr; }

constexpr uint64_t extent_unit = 4096;

}  // namespace

uint32_t seal_of(const uint8_t* manifest, uint64_t length) {
  const uint32_t version = crc32c_bulk(0, manifest, sizeof(VersionRecord));
  return crc32c_bulk(version, manifest + roots_offset, static_cast<size_t>(length - roots_offset));
}

Result<Manifest> Manifest::read(std::vector<uint8_t> bytes) {
  Manifest manifest;
  CAIRN_TRY_ASSIGN(version, read_version(bytes.data(), bytes.size()));
  if (version.manifest_length > bytes.size())
    return fail(EUCLEAN, "version with sequence %llu: manifest is cut off at %zu of %llu bytes",
                static_cast<unsigned long long>(version.sequence), bytes.size(),
                static_cast<unsigned long long>(version.manifest_length));
  bytes.resize(static_cast<size_t>(version.manifest_length));
  manifest.bytes_ = std::move(bytes);
  manifest.version_ = version;
  CAIRN_TRY(manifest.check_roots());
  if (!check_attributes(manifest.attributes()).ok()) return annotate(Status(EUCLEAN), "damaged");
  CAIRN_TRY(manifest.check_parts());
  return manifest;
}

bool Manifest::is_committed_by(uint64_t word) const {
  return word == decision_word(Decision::committed, version_.sequence, seal());
}

uint64_t Manifest::data_bytes() const {
  uint64_t bytes = 0;
  if (version_.parts == 1) {
    for (uint32_t i = 0; i < version_.part_ranks; ++i)
      bytes += root(i).region_bytes + root(i).extent_bytes;
  } else {
    for (uint32_t i = 0; i < version_.parts; ++i) bytes += part(i).bytes;
  }
  return bytes;
}

uint64_t Manifest::data_end(uint64_t block_bytes) const {
  uint64_t end = 0;
  for (uint32_t i = 0; i < version_.part_ranks; ++i) {
    const RootRecord one = root(i);
    end = std::max(end, one.region_offset + bytes_with_list(one.region_bytes, block_bytes));
    end = std::max(end, one.extent_offset + bytes_with_list(one.extent_bytes, block_bytes));
  }
  return align(end, region_unit);
}

uint32_t Manifest::roots_crc() const {
  return crc32c_bulk(0, at(roots_offset), sizeof(RootRecord) * size_t{version_.part_ranks});
}

uint32_t Manifest::parts_crc() const {
  return crc32c_bulk(0, at(version_.parts_offset), sizeof(PartRecord) * size_t{version_.parts});
}

Status Manifest::check_roots() const {
  uint32_t last = 0;
  for (uint32_t i = 0; i < version_.part_ranks; ++i) {
    const RootRecord one = root(i);
    if (!is_sound(one) || one.sequence != version_.sequence || one.rank >= version_.ranks ||
        (i != 0 && one.rank <= last) || one.block_table_offset != 0 || one.block_table_bytes != 0)
      return damaged(version_, "root", i);
    last = one.rank;
  }
  return Status();
}

// Checks that each rank is in one part. Roots name the ranks of irregular parts, and only the roots
// of this part are here.
Status Manifest::check_parts() const {
  std::vector<bool> taken;
  uint64_t ranks = 0;
  for (uint32_t i = 0; i < version_.parts; ++i) {
    const PartRecord one = part(i);
    const bool is_regular = (one.flags & part_is_irregular) == 0;
    if (!is_sound(one) || !ends(one.host, sizeof one.host) ||
        !ends(one.failure_domain, sizeof one.failure_domain) || one.error != 0 ||
        one.partner > version_.parts || one.count == 0 || one.count > max_ranks_of_part)
      return damaged(version_, "part", i);
    ranks += one.count;
    if (i == version_.part && one.count != version_.part_ranks) return damaged(version_, "part", i);
    if (!is_regular) continue;
    const uint64_t last = one.first + uint64_t{one.stride} * (one.count - 1);
    if (last >= version_.ranks) return damaged(version_, "part", i);
    // The bits are bounded by the bytes of the parts: a part has at most 1024 ranks.
    taken.resize(std::max<size_t>(taken.size(), static_cast<size_t>(last) + 1));
    for (uint32_t k = 0; k < one.count; ++k) {
      const uint64_t rank = one.first + uint64_t{one.stride} * k;
      if (taken[static_cast<size_t>(rank)]) return damaged(version_, "part", i);
      taken[static_cast<size_t>(rank)] = true;
      if (i == version_.part && root(k).rank != rank) return damaged(version_, "part", i);
    }
  }
  return ranks == version_.ranks ? Status() : damaged(version_, "number of ranks in parts of", 0);
}

Status Manifest::check_places(const Contents& contents, uint64_t data_bytes) const {
  std::vector<RootRecord> roots;
  for (uint32_t i = 0; i < version_.part_ranks; ++i) roots.push_back(root(i));
  return checkpoint::check_places(version_, contents, roots, data_bytes);
}

Status check_places(const VersionRecord& version, const Contents& contents,
                    const std::vector<RootRecord>& roots, uint64_t data_bytes) {
  if (contents.layout().ranks() != version.ranks ||
      std::memcmp(contents.layout().hash().data(), version.layout, sizeof version.layout) != 0)
    return fail(EUCLEAN, "version with sequence %llu: has another layout",
                static_cast<unsigned long long>(version.sequence));
  std::vector<uint32_t> ranks;
  for (const RootRecord& root : roots) ranks.push_back(root.rank);
  CAIRN_TRY_ASSIGN(regions, place_regions(contents, ranks));
  const uint64_t block = contents.layout().block_bytes();
  std::vector<std::pair<uint64_t, uint64_t>> extents;  // from, to
  for (uint32_t i = 0; i < roots.size(); ++i) {
    const RootRecord& one = roots[i];
    const uint64_t end = regions.offset[i] + bytes_with_list(regions.bytes[i], block);
    if (one.region_offset != regions.offset[i] || one.region_bytes != regions.bytes[i] ||
        (regions.bytes[i] != 0 && end > data_bytes))
      return damaged(version, "region of root", i);
    if (one.extent_offset == 0 && one.extent_bytes == 0) continue;
    if (one.extent_offset % extent_unit != 0 || one.extent_offset < regions.end ||
        one.extent_bytes > max_region || one.extent_offset > data_bytes ||
        bytes_with_list(one.extent_bytes, block) > data_bytes - one.extent_offset)
      return damaged(version, "extent of root", i);
    extents.emplace_back(one.extent_offset,
                         one.extent_offset + bytes_with_list(one.extent_bytes, block));
  }
  std::sort(extents.begin(), extents.end());
  for (size_t i = 1; i < extents.size(); ++i)
    if (extents[i].first < extents[i - 1].second)
      return damaged(version, "extents overlap:", static_cast<uint32_t>(i));
  return Status();
}

}  // namespace cairn::checkpoint
