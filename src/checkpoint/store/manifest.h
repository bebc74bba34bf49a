// Manifest: the record in a slot that describes its version and part. It is written piece by piece
// on the medium, read as a whole, and checked before any of it is trusted.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "checkpoint/layout/packing.h"
#include "checkpoint/store/decision.h"
#include "checkpoint/store/records.h"

namespace cairn::checkpoint {

// The places of its pieces, from the counts in `version`. EOVERFLOW, EINVAL.
struct ManifestShape {
  uint64_t attributes = 0;
  uint64_t parts = 0;
  uint64_t length = 0;
};
Result<ManifestShape> shape_of(uint32_t part_ranks, uint32_t attributes_length, uint32_t parts);

// Fills in the offsets, the length and the head of a VERSION whose other fields are set, and checks
// the record. EINVAL, EOVERFLOW.
Status seal_version(VersionRecord* version);
void seal_root(RootRecord* root);
void seal_part(PartRecord* part);

// Reads the VERSION at the begin of a manifest. EUCLEAN: it is damaged or invalid. EPROTONOSUPPORT:
// a newer Cairn wrote it.
Result<VersionRecord> read_version(const uint8_t* bytes, size_t size);
bool is_sound(const RootRecord& root);  // its checksum
bool is_sound(const PartRecord& part);

// Returns the seal of a manifest: of everything but its mutable words.
uint32_t seal_of(const uint8_t* manifest, uint64_t length);

// Returns true if VERSIONs from manifests of different parts, or copies of one part, agree about
// the version.
bool is_same_version(const VersionRecord& a, const VersionRecord& b);
// Returns the CRC-32C of the fields that such VERSIONs agree on.
uint32_t common_crc_of(const VersionRecord& version);

class Manifest {
 public:
  // Checks everything that can be checked without the layout, except the decision. EUCLEAN,
  // EPROTONOSUPPORT.
  static Result<Manifest> read(std::vector<uint8_t> bytes);

  [[nodiscard]] const VersionRecord& version() const { return version_; }
  // Returns the bytes as they were read, with the mutable words.
  [[nodiscard]] const std::vector<uint8_t>& bytes() const { return bytes_; }
  // Returns the seal of these bytes.
  [[nodiscard]] uint32_t seal() const { return seal_of(bytes_.data(), version_.manifest_length); }
  // Returns true if this decision word commits exactly these bytes.
  [[nodiscard]] bool is_committed_by(uint64_t word) const;
  // Returns the decision as it was when the bytes were read.
  [[nodiscard]] uint64_t decision() const { return word(decision_offset); }
  // Returns one of the mutable words as it was when the bytes were read.
  [[nodiscard]] uint64_t word(uint64_t offset) const { return record_at<uint64_t>(at(offset)); }
  // Returns the size of the regions and extents of all parts.
  [[nodiscard]] uint64_t data_bytes() const;
  // Returns the end of its regions and extents in the data file, with their lists; their places
  // have been checked.
  [[nodiscard]] uint64_t data_end(uint64_t block_bytes) const;
  // i < version().part_ranks.
  [[nodiscard]] RootRecord root(uint32_t i) const {
    return record_at<RootRecord>(at(roots_offset + sizeof(RootRecord) * uint64_t{i}));
  }
  // i < version().parts.
  [[nodiscard]] PartRecord part(uint32_t i) const {
    return record_at<PartRecord>(at(version_.parts_offset + sizeof(PartRecord) * uint64_t{i}));
  }
  [[nodiscard]] std::string_view attributes() const {
    return {reinterpret_cast<const char*>(at(version_.attributes_offset)),
            version_.attributes_length};
  }
  // Returns the CRC-32C of the roots, as the part's descriptor has it if there are several parts.
  [[nodiscard]] uint32_t roots_crc() const;
  // Returns the CRC-32C of the parts, which all parts store.
  [[nodiscard]] uint32_t parts_crc() const;

  // Runs the check_places() below for its own roots.
  [[nodiscard]] Status check_places(const Contents& contents, uint64_t data_bytes) const;

 private:
  [[nodiscard]] const uint8_t* at(uint64_t offset) const { return bytes_.data() + offset; }
  [[nodiscard]] Status check_roots() const;
  [[nodiscard]] Status check_parts() const;

  std::vector<uint8_t> bytes_;
  VersionRecord version_{};
};

// Checks that the regions and extents of a part with these roots lie where the layout puts them, in
// a data file of this size. EUCLEAN.
Status check_places(const VersionRecord& version, const Contents& contents,
                    const std::vector<RootRecord>& roots, uint64_t data_bytes);

}  // namespace cairn::checkpoint
