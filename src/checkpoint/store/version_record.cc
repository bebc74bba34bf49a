// VERSION: seals and checks records.
#include <algorithm>
#include <cstring>

#include "base/crc32c_bulk.h"
#include "checkpoint/record/head.h"
#include "checkpoint/store/manifest.h"

namespace cairn::checkpoint {
namespace {

constexpr uint64_t parts_alignment = 64;

Status wrong(const VersionRecord& version, const char* what) {
  return fail(EINVAL, "version with sequence %llu: %s",
              static_cast<unsigned long long>(version.sequence), what);
}

// Checks that ranges ascend, lie below the sequence, and do not contain the parent.
bool are_ranges_sound(const VersionRecord& version) {
  if (version.range_count > max_ranges) return false;
  uint64_t last = 0;
  for (uint32_t i = 0; i < version.range_count; ++i) {
    const RangeRecord& range = version.ranges[i];
    if (range.from <= last || range.to < range.from || range.to >= version.sequence) return false;
    if (version.parent >= range.from && version.parent <= range.to) return false;
    last = range.to;
  }
  return true;
}

Status check_fields(const VersionRecord& version) {
  if (version.sequence == 0 || version.sequence > max_sequence)
    return wrong(version, "no such sequence");
  if (version.parent >= version.sequence) return wrong(version, "does not follow its parent");
  if (version.horizon >= version.sequence ||
      (version.parent != 0 && version.parent <= version.horizon))
    return wrong(version, "its horizon is above its parent");
  if (!are_ranges_sound(version)) return wrong(version, "abandoned ranges are out of order");
  if (version.ranks == 0 || version.parts == 0 || version.parts > max_parts ||
      version.parts > version.ranks || version.part >= version.parts || version.part_ranks == 0 ||
      version.part_ranks > max_ranks_of_part ||
      version.part_ranks > version.ranks - (version.parts - 1) ||
      version.ranks > uint64_t{version.parts} * max_ranks_of_part ||
      (version.parts == 1 && version.part_ranks != version.ranks))
    return wrong(version, "its ranks and parts do not fit together");
  if (version.base != 0 || version.codec != 0) return wrong(version, "is incremental or packed");
  if (std::memchr(version.code_version, 0, sizeof version.code_version) == nullptr)
    return wrong(version, "its code version has no end");
  return Status();
}

bool has_shape(const VersionRecord& version, const ManifestShape& shape) {
  return version.roots_offset == roots_offset && version.attributes_offset == shape.attributes &&
         version.parts_offset == shape.parts && version.manifest_length == shape.length;
}

template <typename Record>
uint32_t crc_of(const Record& record) {
  return crc32c_bulk(0, &record, offsetof(Record, crc));
}

}  // namespace

Result<ManifestShape> shape_of(uint32_t part_ranks, uint32_t attributes_length, uint32_t parts) {
  if (attributes_length > max_attributes || attributes_length % 8 != 0)
    return fail(EINVAL, "version: attributes of %u bytes", attributes_length);
  if (part_ranks > max_ranks_of_part || parts > max_parts)
    return fail(EOVERFLOW, "version: %u ranks on a node, %u nodes; at most %u and %u", part_ranks,
                parts, max_ranks_of_part, max_parts);
  ManifestShape shape;
  shape.attributes = roots_offset + sizeof(RootRecord) * uint64_t{part_ranks};
  shape.parts = align(shape.attributes + attributes_length, parts_alignment);
  shape.length = shape.parts + sizeof(PartRecord) * uint64_t{parts};
  return shape;
}

Status seal_version(VersionRecord* version) {
  CAIRN_TRY(check_fields(*version));
  CAIRN_TRY_ASSIGN(shape,
                   shape_of(version->part_ranks, version->attributes_length, version->parts));
  version->roots_offset = roots_offset;
  version->attributes_offset = shape.attributes;
  version->parts_offset = shape.parts;
  version->manifest_length = shape.length;
  seal_record(version, sizeof *version, magic_version);
  return Status();
}

Result<VersionRecord> read_version(const uint8_t* bytes, size_t size) {
  CAIRN_TRY_ASSIGN(length, check_record(bytes, size, magic_version, sizeof(VersionRecord)));
  if (length != sizeof(VersionRecord))
    return fail(EUCLEAN, "version: record of %llu bytes", static_cast<unsigned long long>(length));
  const auto version = record_at<VersionRecord>(bytes);
  Status status = check_fields(version);
  if (status.ok()) {
    const auto shape = shape_of(version.part_ranks, version.attributes_length, version.parts);
    status = shape.status();
    if (status.ok() && !has_shape(version, *shape))
      status = wrong(version, "pieces lie at wrong offsets");
  }
  if (!status.ok()) return annotate(Status(EUCLEAN), "damaged");
  return version;
}

void seal_root(RootRecord* root) { root->crc = crc_of(*root); }
void seal_part(PartRecord* part) { part->crc = crc_of(*part); }
bool is_sound(const RootRecord& root) { return root.crc == crc_of(root); }
bool is_sound(const PartRecord& part) { return part.crc == crc_of(part); }

namespace {

// Clears the fields that differ between the manifests of a version.
VersionRecord common_of(VersionRecord version) {
  version.head.crc = 0;
  version.part = version.part_ranks = 0;
  version.begun = 0;
  version.roots_offset = version.parts_offset = version.attributes_offset = 0;
  version.manifest_length = 0;
  std::fill(std::begin(version.holder), std::end(version.holder), uint8_t{0});
  return version;
}

}  // namespace

bool is_same_version(const VersionRecord& a, const VersionRecord& b) {
  const VersionRecord of_a = common_of(a);
  const VersionRecord of_b = common_of(b);
  static_assert(std::has_unique_object_representations_v<VersionRecord>);
  return std::memcmp(&of_a, &of_b, sizeof of_a) == 0;
}

uint32_t common_crc_of(const VersionRecord& version) {
  const VersionRecord common = common_of(version);
  return crc32c_bulk(0, &common, sizeof common);
}

}  // namespace cairn::checkpoint
