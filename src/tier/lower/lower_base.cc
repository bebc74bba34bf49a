#include "tier/lower/lower_base.h"

#include "tier/lower/beneath.h"
#include "tier/lower/lower.h"

namespace cairn::tier {

int64_t lower_base(const std::string& covered, int flags) {
  return sys::open_beneath(covered.c_str(), flags | O_DIRECTORY);
}

int64_t open_lower(const Place& place, int flags) {
  const int64_t base = lower_base(place.cover->path);
  if (base < 0) return base;
  return Beneath(sys::Descriptor(static_cast<int>(base)), place.cover->path)
      .open(place.path, flags);
}

}  // namespace cairn::tier
