#include "tier/lower/known_cover.h"

namespace cairn::tier {

KnownCovers::~KnownCovers() {
  for (KnownCover* known = first_.load(); known != nullptr;) {
    KnownCover* next = known->next;
    delete known;
    known = next;
  }
}

const KnownCover* KnownCovers::find(uint64_t top, uint64_t generation) const {
  for (const KnownCover* known = first_.load(); known != nullptr; known = known->next) {
    if (known->top == top && known->generation == generation) return known;
  }
  return nullptr;
}

const KnownCover* KnownCovers::add(const KnownCover& known) {
  auto* made = new KnownCover(known);
  made->next = first_.load();
  while (!first_.compare_exchange_weak(made->next, made)) {
  }
  return made;
}

}  // namespace cairn::tier
