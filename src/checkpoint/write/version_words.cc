#include "checkpoint/write/version_words.h"

#include <cerrno>
#include <string>

#include "checkpoint/record/limits.h"
#include "checkpoint/write/failure_text.h"

namespace cairn::checkpoint {
namespace {

constexpr uint64_t new_slot = uint64_t{1} << 32;  // in the word of the slot, above its number

// The word `decided`: the sequence above one of these.
constexpr uint64_t result_bits = 8;
enum Decided : uint64_t { committed = 1, aborted = 2 };

// The word `failed`: the rank above the errno.
constexpr unsigned rank_shift = 32;
uint64_t word_of(const RankFailure& failure) {
  return static_cast<uint64_t>(failure.error) | uint64_t{failure.rank} << rank_shift;
}

}  // namespace

void VersionWords::clear(uint64_t sequence) const {
  for (const auto word : {RunWords::arrived, RunWords::failed, RunWords::bytes})
    pool().store(words_.arrivals(sequence, word), 0);
}

void VersionWords::open(uint64_t sequence, const Opening& opening) const {
  const SlotIds& ids = opening.slot;
  pool().store(words_.opening(RunWords::slot), ids.number | (opening.is_new ? new_slot : 0));
  pool().store(words_.opening(RunWords::manifest), ids.manifest);
  pool().store(words_.opening(RunWords::manifest_generation), ids.manifest_generation);
  pool().store(words_.opening(RunWords::data), ids.data);
  pool().store(words_.opening(RunWords::data_generation), ids.data_generation);
  pool().store(words_.opening(RunWords::next_extent), opening.regions_end);
  pool().store(words_.opening(RunWords::number), static_cast<uint64_t>(opening.number));
  pool().store(words_.opening(RunWords::sequence), sequence);
}

bool VersionWords::is_open(uint64_t sequence) const {
  return words_.opening(RunWords::sequence).load() == sequence;
}

SlotIds VersionWords::slot(uint64_t sequence) const {
  SlotIds ids;
  if (!is_open(sequence)) return ids;
  ids.number = static_cast<uint32_t>(words_.opening(RunWords::slot).load());
  ids.manifest = words_.opening(RunWords::manifest).load();
  ids.manifest_generation = words_.opening(RunWords::manifest_generation).load();
  ids.data = words_.opening(RunWords::data).load();
  ids.data_generation = words_.opening(RunWords::data_generation).load();
  return ids;
}

bool VersionWords::has_new_slot() const {
  return (words_.opening(RunWords::slot).load() & new_slot) != 0;
}

int64_t VersionWords::number() const {
  return static_cast<int64_t>(words_.opening(RunWords::number).load());
}

uint64_t VersionWords::take_extent(uint64_t bytes) const {
  constexpr uint64_t page = 4096;
  persist::Word& next = words_.opening(RunWords::next_extent);
  uint64_t held = next.load();
  for (;;) {
    const uint64_t begin = align(held, bytes < region_unit ? page : region_unit);
    if (pool().compare_exchange(next, held, begin + align(bytes, page))) return begin;
  }
}

bool VersionWords::arrive(uint64_t sequence) const {
  pool().store(words_.member(run_.rank(), RunWords::arrival), sequence);
  const uint64_t before = pool().fetch_add(words_.arrivals(sequence, RunWords::arrived), 1);
  return before + 1 >= run_.ranks();
}

Arrivals VersionWords::arrivals(uint64_t sequence) const {
  Arrivals found;
  found.are_over = true;
  for (uint32_t rank = 0; rank < run_.ranks(); ++rank) {
    if (words_.member(rank, RunWords::arrival).load() >= sequence) continue;
    // The rank may have arrived before it died.
    if (run_.is_gone(rank) && words_.member(rank, RunWords::arrival).load() < sequence)
      return {true, rank};
    found.are_over = false;
  }
  return found;
}

bool VersionWords::close(uint64_t sequence) const {
  const Arrivals found = arrivals(sequence);
  if (found.dead && failure(sequence).error == 0)
    set_failure(sequence, {EOWNERDEAD, run_.number_of(*found.dead)});
  return found.are_over;
}

RankFailure VersionWords::failure(uint64_t sequence) const {
  const uint64_t failed = words_.arrivals(sequence, RunWords::failed).load();
  return {static_cast<int>(failed & 0xffff), static_cast<uint32_t>(failed >> rank_shift)};
}

void VersionWords::set_failure(uint64_t sequence, const RankFailure& failure) const {
  pool().store(words_.arrivals(sequence, RunWords::failed), word_of(failure));
}

void VersionWords::note_failure(uint64_t sequence, const Status& status) const {
  uint64_t none = 0;
  const std::string text = last_detail();
  const bool is_first = pool().compare_exchange(words_.arrivals(sequence, RunWords::failed), none,
                                                word_of({status.code(), run_.number()}));
  // The other ranks read the text after this rank has arrived, so it is there before they look.
  if (is_first && run_.ranks() > 1)
    tell_text(run_, place_of(sequence), tag_of(sequence, run_.number()), text);
}

uint64_t VersionWords::bytes(uint64_t sequence) const {
  return words_.arrivals(sequence, RunWords::bytes).load();
}

void VersionWords::add_bytes(uint64_t sequence, uint64_t bytes) const {
  pool().fetch_add(words_.arrivals(sequence, RunWords::bytes), bytes);
}

uint64_t VersionWords::begun(uint64_t sequence) const {
  return words_.arrivals(sequence, RunWords::begun).load();
}

void VersionWords::set_totals(uint64_t sequence, uint64_t bytes, uint64_t begun) const {
  pool().store(words_.arrivals(sequence, RunWords::bytes), bytes);
  pool().store(words_.arrivals(sequence, RunWords::begun), begun);
}

void VersionWords::decide(uint64_t sequence, bool is_committed) const {
  pool().store(words_.arrivals(sequence, RunWords::decided),
               sequence << result_bits | (is_committed ? committed : aborted));
}

bool VersionWords::is_decided(uint64_t sequence) const {
  return words_.arrivals(sequence, RunWords::decided).load() >> result_bits == sequence;
}

bool VersionWords::is_over(uint64_t sequence) const {
  return words_.arrivals(sequence, RunWords::decided).load() >> result_bits >= sequence;
}

bool VersionWords::is_committed(uint64_t sequence) const {
  return (words_.arrivals(sequence, RunWords::decided).load() & 0xff) == committed;
}

}  // namespace cairn::checkpoint
