#include "tier/lower/lower.h"

namespace cairn::tier {

LowerTree::~LowerTree() = default;

LowerTree& lower_of(file::FileSystem& fs) {
  // A pool that was attached without one gets it here, for good.
  if (fs.lower == nullptr) fs.lower = fs.lower_maker->make(fs).release();
  return *static_cast<LowerTree*>(fs.lower);
}

HoldsData holds_data_of(const file::FileSystem& fs) {
  return static_cast<const LowerHooks*>(fs.lower_maker)->holds_data;
}

}  // namespace cairn::tier
