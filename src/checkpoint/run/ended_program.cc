#include "checkpoint/run/ended_program.h"

#include <cstring>
#include <string>

#include "base/sha256.h"
#include "checkpoint/run/run_words.h"
#include "checkpoint/store/set_names.h"
#include "checkpoint/store/slots.h"

namespace cairn::checkpoint {
namespace {

bool has_member_of(const RunWords& words, uint64_t launcher) {
  for (uint32_t rank = 0; rank < max_ranks_of_part; ++rank)
    if (words.member(rank, RunWords::launcher).load() == launcher) return true;
  return false;
}

Status note_in_set(file::FileSystem& fs, const std::string& name, uint64_t launcher, RunEnd end) {
  CAIRN_TRY_ASSIGN(set, SetFile::open(fs, name));
  CAIRN_TRY_ASSIGN(words, RunWords::find(*set));
  if (!has_member_of(words, launcher)) return Status();
  const uint32_t run = name_of_run(words.run_uuid());
  CAIRN_TRY_ASSIGN(listing, list_set(fs, set->directory()));
  for (const ListedSlot& listed : listing.slots) {
    const auto slot = Slot::open(fs, set->directory(), listed.number);
    if (!slot.ok()) continue;
    const auto word = (*slot)->word(attempts_offset);
    if (word.ok()) note_end(fs.pool, *word, run, end);
  }
  return Status();
}

}  // namespace

uint64_t launcher_of(std::string_view cairn_run) {
  if (cairn_run.empty()) return 0;
  const Sha256Hash hash = sha256(cairn_run.data(), cairn_run.size());
  uint64_t word = 0;
  std::memcpy(&word, hash.data(), sizeof word);
  return word | 1;
}

Status note_ended_program(file::FileSystem& fs, uint64_t launcher, RunEnd end) {
  CAIRN_TRY_ASSIGN(names, list_sets(fs));
  for (const std::string& name : names) note_in_set(fs, name, launcher, end).ignore();
  return fs.pool.fence();
}

}  // namespace cairn::checkpoint
