// Redo records: change several words as one. The change is described in a record, which is made
// durable; then the words are stored and made durable, and the record is cleared. A process that
// finds a record after a crash stores its words again; they are absolute values of words that the
// owner had locked.
#pragma once

#include "pool/core/pool.h"

namespace cairn::pool {

class RedoChange {
 public:
  RedoChange(Pool& pool, LocalSeat& seat) : pool_(pool), redo_(seat.words->redo) {}
  RedoChange(const RedoChange&) = delete;
  RedoChange& operator=(const RedoChange&) = delete;

  // Sets a word; later values for the same word win. At most format::redo_words.
  void set(Word& word, uint64_t value);
  // Returns the word's future value: that of set() if there was one, else its present value.
  [[nodiscard]] uint64_t get(const Word& word) const;
  // Commits the change. Everything that the change makes reachable must have been flushed before.
  // On return the change has happened for good; a failure to write back is returned and leaves the
  // change to recovery.
  Status commit();

 private:
  Pool& pool_;
  format::Redo& redo_;
  [[nodiscard]] bool may_have(const Word& word) const { return (seen_ & bit_of(word)) != 0; }
  static uint64_t bit_of(const Word& word) {
    return 1ULL << (reinterpret_cast<uintptr_t>(&word) / sizeof(Word) % 64);
  }

  unsigned count_ = 0;
  uint64_t seen_ = 0;  // bits of the words set so far: most words are set once
  Word* word_[format::redo_words];
  uint64_t value_[format::redo_words];
};

// Stores and flushes the words of a valid record and clears it; does nothing for an empty or
// unfinished one. EUCLEAN: the record names an address outside the pool. Other errors: the failure
// to write back. The clearing is not durable yet: the caller fences before any process uses the
// record or what it named.
Status replay(Pool& pool, format::Redo& redo);

}  // namespace cairn::pool
