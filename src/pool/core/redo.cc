#include "pool/core/redo.h"

#include <cassert>

#include "base/crc32c.h"

namespace cairn::pool {
namespace {

uint64_t head_of(const format::Redo& redo, unsigned count) {
  return count | static_cast<uint64_t>(crc32c(count, redo.step, count * sizeof redo.step[0])) << 32;
}

// A word's region for stores, and its address in records.
struct WordHome {
  Region* region;
  uint64_t address;
};

WordHome home_of(const Pool& pool, const Word* word) {
  Segment& first = *pool.segment[0];
  const auto* p = reinterpret_cast<const uint8_t*>(word);
  if (p >= first.base && p < first.base + (first.blocks << format::block_shift)) [[likely]]
    return {&first.region, static_cast<uint64_t>(p - first.base)};
  return {&pool.segment_of(word).region, pool.address_of(word)};
}

}  // namespace

void RedoChange::set(Word& word, uint64_t value) {
  for (unsigned i = 0; may_have(word) && i < count_; ++i) {
    if (word_[i] == &word) {
      value_[i] = value;
      return;
    }
  }
  seen_ |= bit_of(word);
  assert(count_ < format::redo_words);
  word_[count_] = &word;
  value_[count_] = value;
  ++count_;
}

uint64_t RedoChange::get(const Word& word) const {
  for (unsigned i = 0; may_have(word) && i < count_; ++i) {
    if (word_[i] == &word) return value_[i];
  }
  return word.load();
}

Status RedoChange::commit() {
  Region& lanes = pool_.segment[0]->region;  // where all records lie
  Region* home[format::redo_words];
  for (unsigned i = 0; i < count_; ++i) {
    const WordHome at = home_of(pool_, word_[i]);
    home[i] = at.region;
    lanes.store(redo_.step[i].address, at.address);
    lanes.store(redo_.step[i].value, value_[i]);
  }
  lanes.flush(redo_.step, count_ * sizeof redo_.step[0]);
  // The head commits the change, so everything that the change makes reachable must have arrived
  // before it.
  CAIRN_TRY(pool_.fence());
  lanes.store(redo_.head, head_of(redo_, count_));
  lanes.flush(&redo_.head, sizeof redo_.head);
  CAIRN_TRY(pool_.fence());
  for (unsigned i = 0; i < count_; ++i) {
    home[i]->store(*word_[i], value_[i]);
    home[i]->flush(word_[i], sizeof(Word));
  }
  CAIRN_TRY(pool_.fence());
  lanes.store(redo_.head, 0);
  lanes.flush(&redo_.head, sizeof redo_.head);
  // The next record of this seat must not meet an older head, and a process that frees blocks of
  // this change relies on its end.
  return pool_.fence();
}

Status replay(Pool& pool, format::Redo& redo) {
  const uint64_t head = redo.head.load();
  if (head == 0) {
    // The owner may have died before the clearing was durable: replayed after a power loss, the
    // record would undo later changes by others. The caller fences before any process makes such
    // changes.
    pool.flush(&redo.head, sizeof redo.head);
    return Status();
  }
  const auto count = static_cast<unsigned>(head & 0xffffffff);
  if (count == 0 || count > format::redo_words || head_of(redo, count) != head) {
    // The record is torn: its change had not begun. The caller fences before any process uses the
    // record.
    pool.store_flush(redo.head, 0);
    return Status();
  }
  // The owner may have died before the record was durable, and the words must not be stored without
  // it. If it cannot be written back they are stored anyway: live processes must not see half a
  // change.
  pool.flush(&redo.head, sizeof redo.head);
  Status status = pool.fence();
  for (unsigned i = 0; i < count; ++i) {
    const uint64_t address = redo.step[i].address.load();
    if (Word* word = pool.word_at(address); word != nullptr) {
      pool.store_flush(*word, redo.step[i].value.load());
    } else {
      status = fail(EUCLEAN, "%s: a redo record names the address %#llx outside the pool",
                    pool.path.c_str(), static_cast<unsigned long long>(address));
    }
  }
  if (Status s = pool.fence(); !s.ok()) status = s;
  pool.store_flush(redo.head, 0);
  return status;
}

}  // namespace cairn::pool
