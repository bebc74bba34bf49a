#include "tier/lower/lower_base.h"

#include "tier/lower/beneath.h"
#include "tier/lower/lower.h"

namespace cairn::tier {

int64_t lower_base(const std::string& covered, int flags) {
  return sys::open_beneath(covered.c_str(), flags | O_DIRECTORY);
}

int64_t open_lower(const LowerLocation& place, int flags, sys::Descriptor* base) {
  const int64_t opened = lower_base(place.cover->path);
  if (opened < 0) return opened;
  Beneath beneath(sys::Descriptor(static_cast<int>(opened)), place.cover->path);
  const int64_t result = beneath.open(place.path, flags);
  if (base != nullptr) *base = beneath.take();
  return result;
}

}  // namespace cairn::tier
