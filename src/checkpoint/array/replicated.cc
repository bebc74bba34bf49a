// Replicated: all ranks hold the same array, and rank 0's is stored.
#include <algorithm>

#include "checkpoint/array/distribution.h"

namespace cairn::checkpoint {
namespace {

class ReplicatedPartition final : public Partition {
 public:
  explicit ReplicatedPartition(const Box& whole) : whole_(whole) {}

  [[nodiscard]] Section section_of(uint32_t rank) const override {
    const Box none{whole_.dimensions, {}, {}};
    return checkpoint::section_of(rank == 0 && !is_empty(whole_) ? whole_ : none);
  }
  [[nodiscard]] std::vector<uint32_t> holders_of(const Section& wanted) const override {
    if (!intersects(whole_, wanted)) return {};
    return {0};
  }

 private:
  Box whole_;
};

class ReplicatedDistribution final : public Distribution {
 public:
  Status take(const GivenDistribution& given, const ArrayView& view,
              DistributedArray* array) const override {
    CAIRN_TRY(Distribution::take(given, view, array));
    const auto is_zero = [](int64_t value) { return value == 0; };
    if (std::all_of(given.global.begin(), given.global.begin() + view.dimensions(), is_zero))
      array->whole.count = view.counts();
    return Status();
  }
  Status check(const ArrayView& view, DistributedArray* array) const override {
    CAIRN_TRY(check_shape(view, array->whole));
    array->box = array->whole;
    return check_box(view, *array);
  }
  [[nodiscard]] bool stores(uint32_t rank) const override { return rank == 0; }
  [[nodiscard]] Result<std::unique_ptr<const Partition>> parse(const DecompositionRecord& /*fixed*/,
                                                               const Box& whole,
                                                               BoundedReader* body) const override {
    CAIRN_TRY(check_no_body(*body));
    return {std::make_unique<const ReplicatedPartition>(whole)};
  }
};

}  // namespace

const Distribution& replicated_distribution() {
  static const ReplicatedDistribution replicated;
  return replicated;
}

}  // namespace cairn::checkpoint
