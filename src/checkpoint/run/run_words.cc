#include "checkpoint/run/run_words.h"

namespace cairn::checkpoint {

Result<RunWords> RunWords::find(const SetFile& set) {
  RunWords words;
  for (size_t i = set_lock_offset / block_bytes; i < words.block_.size(); ++i) {
    CAIRN_TRY_ASSIGN(word, set.word(i * block_bytes));
    words.block_[i] = word;
  }
  return words;
}

}  // namespace cairn::checkpoint
