// Counted kinds: lists of values, particles, and data of single ranks. Each rank has any number of
// elements, which the parts of a version say. So a record holds no more than the kind.
#include "checkpoint/array/distribution.h"

namespace cairn::checkpoint {
namespace {

class CountedPartition final : public Partition {
 public:
  [[nodiscard]] Section section_of(uint32_t /*rank*/) const override { return {}; }
  [[nodiscard]] std::vector<uint32_t> holders_of(const Section& /*wanted*/) const override {
    return {};
  }
};

class CountedDistribution final : public Distribution {
 public:
  Status check(const ArrayView& view, DistributedArray* array) const override {
    array->whole = array->box = {};
    if (view.dimensions() != 1 || view.halo_low(0) != 0 || view.halo_high(0) != 0)
      return fail(EINVAL, "expected an array of one dimension without halo");
    return Status();
  }
  [[nodiscard]] bool stores(uint32_t /*rank*/) const override { return false; }
  [[nodiscard]] Result<std::unique_ptr<const Partition>> parse(const DecompositionRecord& /*fixed*/,
                                                               const Box& /*whole*/,
                                                               BoundedReader* body) const override {
    CAIRN_TRY(check_no_body(*body));
    return {std::make_unique<const CountedPartition>()};
  }
};

}  // namespace

const Distribution& ragged_distribution() {
  static const CountedDistribution ragged;
  return ragged;
}

const Distribution& particles_distribution() {
  static const CountedDistribution particles;
  return particles;
}

const Distribution& per_rank_distribution() {
  static const CountedDistribution per_rank;
  return per_rank;
}

}  // namespace cairn::checkpoint
