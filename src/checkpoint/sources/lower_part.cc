#include "checkpoint/sources/lower_part.h"

namespace cairn::checkpoint {
namespace {

class LowerPartReader : public PartReader {
 public:
  LowerPartReader(LowerSource* source, const VersionRecord& version, uint32_t part,
                  uint64_t block_bytes)
      : source_(*source), version_(version), part_(part), block_bytes_(block_bytes) {}

  Status verify(const Area& area, const std::vector<Blocks>& blocks) override {
    CAIRN_TRY_ASSIGN(file, open());
    CAIRN_TRY_ASSIGN(
        list, read_list(file, area.offset, area.bytes, block_bytes_, area.list_crc, area.rank));
    return check_blocks(file, area.offset, area.bytes, block_bytes_, list, blocks, area.rank);
  }
  Status read(const Area& area, uint64_t at, uint8_t* to, uint64_t size) override {
    CAIRN_TRY_ASSIGN(part, source_.part(version_, part_));
    const Status status = part->data.read(to, size, area.offset + at);
    return status.ok() ? status : annotate(Status(EIO), "%s", name().c_str());
  }

 private:
  [[nodiscard]] std::string name() const { return source_.name_of(version_, part_); }

  Result<CheckedFile> open() {
    const auto part = source_.part(version_, part_);
    if (!part.ok()) return annotate(part.status(), "the copy in lower");
    const LowerFile& data = (*part)->data;
    CAIRN_TRY_ASSIGN(size, data.size());
    return CheckedFile{name(), size, [&data](void* bytes, uint64_t n, uint64_t offset) {
                         return data.read(bytes, n, offset);
                       }};
  }

  LowerSource& source_;
  VersionRecord version_;
  uint32_t part_;
  uint64_t block_bytes_;
};

}  // namespace

std::unique_ptr<PartReader> read_lower(LowerSource* source, const VersionRecord& version,
                                       uint32_t part, uint64_t block_bytes) {
  return std::make_unique<LowerPartReader>(source, version, part, block_bytes);
}

}  // namespace cairn::checkpoint
