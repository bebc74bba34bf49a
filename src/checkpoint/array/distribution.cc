#include "checkpoint/array/distribution.h"

#include <algorithm>

namespace cairn::checkpoint {

const Distribution* find_distribution(uint8_t kind) {
  switch (static_cast<DecompositionKind>(kind)) {
#define CAIRN_STORED_KIND(name, number, NAME) \
  case DecompositionKind::name:               \
    return &name##_distribution();
#include "cairn/kinds.def"
  }
  return nullptr;
}

const Distribution& distribution_of(DecompositionKind kind) {
  return *find_distribution(static_cast<uint8_t>(kind));
}

Result<DecompositionKind> kind_given_as(uint32_t number) {
  switch (static_cast<GivenKind>(number)) {
#define CAIRN_KIND(NAME, number, counting, stored, ...) \
  case GivenKind::NAME:                                 \
    return DecompositionKind::stored;
#include "cairn/kinds.def"
  }
  return fail(EINVAL, "distribution of unknown kind %u", number);
}

std::string shown_kind(DecompositionKind kind) {
  std::string text;
  switch (given_kind(kind)) {
#define CAIRN_KIND(NAME, number, counting, stored, word, ...) \
  case GivenKind::NAME:                                       \
    text = word;                                              \
    break;
#include "cairn/kinds.def"
  }
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

Status Distribution::take(const GivenDistribution& given, const ArrayView& view,
                          DistributedArray* array) const {
  if (given.owner != 0 && !used_members().owner) return fail(EINVAL, "an owner rule is for blocks");
  if (is_counted(array->kind)) return Status();
  const unsigned d = view.dimensions();
  array->whole.dimensions = array->box.dimensions = d;
  for (unsigned k = 0; k < d; ++k) {
    if (given.global[k] < 0 || given.offset[k] < 0)
      return fail(EINVAL, "global extent or offset of dimension %u is negative", k);
    array->whole.count[k] = static_cast<uint64_t>(given.global[k]);
    array->box.offset[k] = static_cast<uint64_t>(given.offset[k]);
  }
  return Status();
}

Status Distribution::check(const ArrayView& view, DistributedArray* array) const {
  return check_shape(view, array->whole);
}

Section Distribution::section_of(const DistributedArray& array, uint32_t /*rank*/,
                                 uint32_t /*ranks*/) const {
  return checkpoint::section_of(array.box);
}

std::string Distribution::difference(const DistributedArray& /*first*/,
                                     const DistributedArray& /*other*/) const {
  return "";
}

Result<std::vector<uint8_t>> Distribution::join(const DistributedArray& /*array*/,
                                                uint32_t /*ranks*/,
                                                const std::vector<RankBox>& /*parts*/) const {
  return std::vector<uint8_t>();
}

Result<DecompositionBody> Distribution::encode(const DistributedArray& array, uint32_t /*ranks*/,
                                               const std::vector<uint8_t>& /*entries*/) const {
  DecompositionBody body;
  body.kind = array.kind;
  return body;
}

Status check_shape(const ArrayView& view, const Box& whole) {
  if (view.dimensions() != whole.dimensions)
    return fail(EINVAL, "the array has %u dimensions, its global array %u", view.dimensions(),
                whole.dimensions);
  if (!volume(whole)) return fail(EOVERFLOW, "more than 2^62 elements");
  return Status();
}

Status check_box(const ArrayView& view, const DistributedArray& array) {
  const Box& box = array.box;
  if (!fits(box, array.whole.count))
    return fail(EINVAL, "its block %s lies outside of the global array %s", shown(box).c_str(),
                shown(array.whole).c_str());
  if (!is_empty(box) && !has_counts(view, box))
    return fail(EINVAL, "the array has %s elements without halo, its block is %s",
                shown(counts_of(view)).c_str(), shown(box).c_str());
  return Status();
}

Status check_no_body(const BoundedReader& body) {
  if (body.left() != 0) return fail(EINVAL, "decomposition: %zu bytes too many", body.left());
  return Status();
}

}  // namespace cairn::checkpoint
