#include "support/simulator/undo.h"

#include <cstring>

#include "persist/machine/machine.h"

namespace cairn::persist {
namespace {

UndoLog& log_of(RegionState& region) { return *static_cast<UndoLog*>(region.backend_state()); }

Status copy(RegionState& region, uint8_t* to, const void* from, size_t size) {
  log_of(region).save(to, size);
  std::memcpy(to, from, size);
  return Status();
}

Status zero(RegionState& region, uint8_t* to, size_t size) {
  log_of(region).save(to, size);
  std::memset(to, 0, size);
  return Status();
}

void flush(RegionState&, const void*, size_t, Site) {}

Status fence(RegionState&, Site) { return Status(); }

uint64_t word(RegionState& region, uint64_t* word, WordOperation operation, uint64_t value,
              uint64_t expected) {
  log_of(region).save(reinterpret_cast<uint8_t*>(word), sizeof *word);
  return perform(word, operation, value, expected);
}

}  // namespace

void UndoLog::save(uint8_t* at, size_t size) {
  entries_.push_back({at, size, bytes_.size()});
  bytes_.insert(bytes_.end(), at, at + size);
}

void UndoLog::rollback() {
  for (size_t i = entries_.size(); i-- > 0;) {
    std::memcpy(entries_[i].at, bytes_.data() + entries_[i].bytes, entries_[i].size);
  }
  entries_.clear();
  bytes_.clear();
}

const Backend undo_backend = {"undo", copy, zero, flush, fence, word, nullptr, false};

}  // namespace cairn::persist
