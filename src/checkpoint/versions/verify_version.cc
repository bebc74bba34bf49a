#include "checkpoint/versions/verify_version.h"

#include <algorithm>
#include <vector>

#include "base/coarse_clock.h"
#include "base/crc32c_bulk.h"
#include "checkpoint/layout/checksum_list.h"
#include "checkpoint/store/layout_files.h"
#include "checkpoint/store/slots.h"
#include "file/data/io.h"

namespace cairn::checkpoint {
namespace {

constexpr uint64_t read_at_once = uint64_t{64} << 10;

class Verifier {
 public:
  Verifier(Slot* slot, const Manifest& manifest, uint64_t block_bytes)
      : slot_(*slot),
        manifest_(manifest),
        block_bytes_(block_bytes),
        buffer_(static_cast<size_t>(read_at_once)) {}

  Result<Verified> verify() {
    for (uint32_t i = 0; i < manifest_.version().part_ranks; ++i) {
      const RootRecord root = manifest_.root(i);
      CAIRN_TRY(
          verify_bytes(root.rank, root.region_offset, root.region_bytes, root.region_list_crc));
      CAIRN_TRY(
          verify_bytes(root.rank, root.extent_offset, root.extent_bytes, root.extent_list_crc));
    }
    return std::move(found_);
  }

 private:
  void note_bad(uint64_t blocks, const std::string& text) {
    if (found_.bad_blocks == 0) found_.why = text;
    found_.bad_blocks += blocks;
  }

  [[nodiscard]] std::string name() { return data_name(slot_.ids().number); }

  // Reads bytes. A file that ends too early is damage, not a failure.
  Result<bool> read(void* to, uint64_t size, uint64_t offset) {
    CAIRN_TRY_ASSIGN(got, file::read_at(slot_.data_file(), to, static_cast<size_t>(size), offset));
    return got == size;
  }

  Status verify_bytes(uint32_t rank, uint64_t offset, uint64_t bytes, uint32_t list_crc) {
    if (bytes == 0) return Status();
    // The size is safe: check_places() has checked it against the file.
    std::vector<uint32_t> list(static_cast<size_t>(blocks_of(bytes, block_bytes_)));
    found_.blocks += list.size();
    CAIRN_TRY_ASSIGN(
        is_there, read(list.data(), list.size() * sizeof(uint32_t), offset + list_offset(bytes)));
    if (!is_there || crc_of_list(list) != list_crc) {
      note_bad(list.size(), name() + ": the checksums of rank " + std::to_string(rank) +
                                "'s bytes differ from their own checksum");
      return Status();
    }
    for (size_t i = 0; i < list.size(); ++i) {
      CAIRN_TRY_ASSIGN(is_right, is_block_right(offset, bytes, i, list[i]));
      if (is_right) continue;
      note_bad(1, name() + ": bytes of rank " + std::to_string(rank) +
                      " differ from their checksum: block " + std::to_string(i) + " of " +
                      std::to_string(list.size()));
    }
    return Status();
  }

  Result<bool> is_block_right(uint64_t offset, uint64_t bytes, uint64_t block, uint32_t expected) {
    const uint64_t end = std::min((block + 1) * block_bytes_, bytes);
    uint32_t crc = 0;
    for (uint64_t at = block * block_bytes_; at < end; at += read_at_once) {
      const uint64_t n = std::min(read_at_once, end - at);
      CAIRN_TRY_ASSIGN(is_there, read(buffer_.data(), n, offset + at));
      if (!is_there) return false;
      crc = crc32c_bulk(crc, buffer_.data(), static_cast<size_t>(n));
      found_.bytes += n;
    }
    return crc == expected;
  }

  Slot& slot_;
  const Manifest& manifest_;
  uint64_t block_bytes_;
  std::vector<uint8_t> buffer_;
  Verified found_;
};

}  // namespace

Result<Verified> verify_version(const SetFile& set, Slot* slot, uint64_t sequence) {
  CAIRN_TRY_ASSIGN(lease, slot->take_lease());
  CAIRN_TRY_ASSIGN(content, look_at(*slot));
  if (content.state == SlotState::damaged || content.state == SlotState::newer)
    return content.status;
  const std::string name = manifest_name(slot->ids().number);
  if (content.state == SlotState::free || content.manifest.version().sequence != sequence)
    return fail(ESTALE, "%s: holds another version", name.c_str());
  CAIRN_TRY_ASSIGN(contents,
                   load_contents(set.fs(), set.directory(), layout_of(content.manifest.version())));
  const uint64_t data_bytes = slot->data_file().inode->size.load();
  if (const Status placed = content.manifest.check_places(contents, data_bytes); !placed.ok())
    return annotate(placed, "%s", data_name(slot->ids().number).c_str());
  CAIRN_TRY_ASSIGN(found,
                   Verifier(slot, content.manifest, contents.layout().block_bytes()).verify());
  CAIRN_TRY_ASSIGN(decision, slot->decision());
  if (decision != content.manifest.decision())
    return fail(ESTALE, "%s: was retired while it was read", name.c_str());
  if (found.bad_blocks != 0) return found;
  const auto word = slot->word(verified_offset);
  if (!word.ok()) return found;  // a pool attached for reading
  set.fs().pool.store_flush(**word, fine_now_ns());
  CAIRN_TRY(set.fs().pool.fence());
  return found;
}

}  // namespace cairn::checkpoint
