#include "checkpoint/sources/fallback_part.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/saved_failure.h"
#include "checkpoint/record/medium_errors.h"

namespace cairn::checkpoint {
namespace {

class FallbackPart : public PartReader {
 public:
  FallbackPart(std::unique_ptr<PartReader> first, std::unique_ptr<PartReader> second,
               uint64_t block_bytes, std::string* why)
      : first_(std::move(first)),
        second_(std::move(second)),
        block_bytes_(block_bytes),
        why_(*why) {}

  Status verify(const Area& area, const std::vector<Blocks>& blocks) override {
    const Status status = first_->verify(area, blocks);
    if (status.ok() || !is_of_medium(status)) return status;
    const SavedFailure saved(status);
    if (why_.empty()) why_ = saved.text();
    // A damaged block cannot be told from a good one without the list of checksums.
    if (!first_->verify(area, {}).ok()) return take_second(area, blocks, saved);
    for (const Blocks& range : blocks) CAIRN_TRY(verify_range(area, range, saved));
    return Status();
  }

  Status read(const Area& area, uint64_t at, uint8_t* to, uint64_t size) override {
    const auto look = seconds_.find({area.rank, area.is_extent});
    if (look == seconds_.end()) return first_->read(area, at, to, size);
    while (size != 0) {
      const uint64_t block = at / block_bytes_;
      const uint64_t n = std::min(size, (block + 1) * block_bytes_ - at);
      const bool is_second = look->second.contains(block);
      CAIRN_TRY((is_second ? second_ : first_)->read(area, at, to, n));
      at += n;
      to += n;
      size -= n;
    }
    return Status();
  }

 private:
  // Halves the range until each damaged block stands alone.
  Status verify_range(const Area& area, const Blocks& range, const SavedFailure& why) {
    const Status status = first_->verify(area, {range});
    if (status.ok() || !is_of_medium(status)) return status;
    if (range.count <= 1) return take_second(area, {range}, why);
    const uint64_t half = range.count / 2;
    CAIRN_TRY(verify_range(area, {range.first, half}, why));
    return verify_range(area, {range.first + half, range.count - half}, why);
  }

  // Reads blocks from the second part; if both are damaged, the text describes both.
  Status take_second(const Area& area, const std::vector<Blocks>& blocks, const SavedFailure& why) {
    const Status status = second_->verify(area, blocks);
    if (!status.ok() && is_of_medium(status))
      return fail(EUCLEAN, "%s; %s", why.text().c_str(), std::string(last_detail()).c_str());
    CAIRN_TRY(status);
    std::set<uint64_t>& seconds = seconds_[{area.rank, area.is_extent}];
    for (const Blocks& range : blocks)
      for (uint64_t i = 0; i < range.count; ++i) seconds.insert(range.first + i);
    return Status();
  }

  std::unique_ptr<PartReader> first_;
  std::unique_ptr<PartReader> second_;
  uint64_t block_bytes_;
  std::string& why_;
  // The blocks of an area that are read from the second part.
  std::map<std::pair<uint32_t, bool>, std::set<uint64_t>> seconds_;
};

}  // namespace

std::unique_ptr<PartReader> read_with_fallback(std::unique_ptr<PartReader> first,
                                               std::unique_ptr<PartReader> second,
                                               uint64_t block_bytes, std::string* why) {
  return std::make_unique<FallbackPart>(std::move(first), std::move(second), block_bytes, why);
}

}  // namespace cairn::checkpoint
