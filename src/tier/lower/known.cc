#include "tier/lower/known.h"

namespace cairn::tier {

KnownCovers::~KnownCovers() {
  for (Known* known = first_.load(); known != nullptr;) {
    Known* next = known->next;
    delete known;
    known = next;
  }
}

const Known* KnownCovers::find(uint64_t top, uint64_t generation) const {
  for (const Known* known = first_.load(); known != nullptr; known = known->next) {
    if (known->top == top && known->generation == generation) return known;
  }
  return nullptr;
}

const Known* KnownCovers::add(const Known& known) {
  auto* made = new Known(known);
  made->next = first_.load();
  while (!first_.compare_exchange_weak(made->next, made)) {
  }
  return made;
}

}  // namespace cairn::tier
