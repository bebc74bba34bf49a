// Chooses images: all of them if they are few, extremes and seeded samples if they are many.
#include <algorithm>
#include <cstring>

#include "support/simulator/crash_images.h"

namespace cairn::persist {
namespace {

// The states of a bulk store.
constexpr uint64_t bulk_old = 0;
constexpr uint64_t bulk_new = 1;
constexpr uint64_t bulk_states = 3;  // the last one: torn

}  // namespace

// Collects the variables. A line with words in it is one; lines that only bulk stores touched
// follow the choice for the stores.
void CrashImages::collect_variables() {
  shown_.clear();
  has_words_.clear();
  variables_.clear();
  std::vector<uint64_t> bulk_events;
  for (auto& [key, line] : pending_) {
    (void)key;
    uint64_t torn = 0;
    bool words = false;
    for (const Piece& piece : line.pieces) {
      words |= !piece.bulk;
      torn += piece.bulk ? 1 : 0;
    }
    if (words) {
      variables_.push_back({false, shown_.size(), 0, line.pieces.size() + 1 + torn});
    } else {
      for (const Piece& piece : line.pieces) bulk_events.push_back(piece.event);
    }
    shown_.push_back(&line);
    has_words_.push_back(words);
  }
  std::sort(bulk_events.begin(), bulk_events.end());
  bulk_events.erase(std::unique(bulk_events.begin(), bulk_events.end()), bulk_events.end());
  for (uint64_t event : bulk_events) variables_.push_back({true, 0, event, bulk_states});
  choices_.resize(shown_.size());
  saved_.resize(shown_.size() * line_size);
}

void CrashImages::begin_choice() { std::fill(choices_.begin(), choices_.end(), Choice()); }

uint64_t CrashImages::newest(const Variable& variable) const {
  return variable.bulk ? bulk_new : shown_[variable.line]->pieces.size();
}

// Chooses a state. States 0..n of a line are prefixes; a state beyond n tears its k-th bulk piece
// after a prefix up to it.
void CrashImages::choose(const Variable& variable, uint64_t state, std::mt19937_64& random) {
  if (!variable.bulk) {
    const std::vector<Piece>& pieces = shown_[variable.line]->pieces;
    if (state <= pieces.size()) {
      choices_[variable.line].pieces = state;
      return;
    }
    uint64_t wanted = state - pieces.size();
    for (size_t p = 0; p < pieces.size(); ++p) {
      if (!pieces[p].bulk || --wanted != 0) continue;
      choices_[variable.line] = {p, static_cast<uint8_t>(random())};
      return;
    }
    return;
  }
  if (state == bulk_old) return;
  for (size_t i = 0; i < shown_.size(); ++i) {
    if (has_words_[i]) continue;
    const std::vector<Piece>& pieces = shown_[i]->pieces;
    for (size_t p = 0; p < pieces.size(); ++p) {
      if (pieces[p].event != variable.event || choices_[i].pieces > p) continue;
      // Later stores to a line come after earlier ones, so this one's presence implies theirs.
      if (state == bulk_new || random() % 3 == 0) {
        choices_[i] = {p + 1, 0};
      } else if (random() % 2 == 0) {
        choices_[i] = {p, static_cast<uint8_t>(random())};
      }
    }
  }
}

// Builds the chosen image, shows it, and undoes it.
bool CrashImages::show(const Visit& visit) {
  for (size_t i = 0; i < shown_.size(); ++i) {
    const Line& line = *shown_[i];
    uint8_t* target = media_[line.region] + line.offset;
    std::memcpy(&saved_[i * line_size], target, line_size);
    size_t whole = choices_[i].pieces;
    for (size_t p = 0; p < whole; ++p) apply(line.pieces[p], target, 0xFF);
    if (choices_[i].torn_words != 0 && whole < line.pieces.size() && line.pieces[whole].bulk) {
      apply(line.pieces[whole], target, choices_[i].torn_words);
    }
  }
  bool go_on = visit();
  for (size_t i = 0; i < shown_.size(); ++i) {
    std::memcpy(media_[shown_[i]->region] + shown_[i]->offset, &saved_[i * line_size], line_size);
  }
  return go_on;
}

CrashImages::Outcome CrashImages::enumerate(uint64_t limit, uint64_t seed, const Visit& visit) {
  collect_variables();
  std::mt19937_64 random(seed ^ (position_ * 0x9E3779B97F4A7C15));
  uint64_t total = 1;
  for (const Variable& variable : variables_) {
    total = total > limit ? total : total * variable.states;
  }
  Outcome outcome;
  if (total > limit) {
    sample(limit, random, visit, outcome);
    return outcome;
  }
  outcome.exhaustive = true;
  for (uint64_t number = 0; number < total && !outcome.stopped; ++number) {
    begin_choice();
    uint64_t rest = number;
    for (const Variable& variable : variables_) {
      choose(variable, rest % variable.states, random);
      rest /= variable.states;
    }
    ++outcome.images;
    outcome.stopped = !show(visit);
  }
  return outcome;
}

// Samples the images. First come those that find most mistakes of order: none of the pending stores
// arrived, all, all but one, none but one. Then come draws, each with a bias of its own. If much is
// pending, the draws get half of the images.
void CrashImages::sample(uint64_t limit, std::mt19937_64& random, const Visit& visit,
                         Outcome& outcome) {
  const uint64_t extremes =
      std::min<uint64_t>(2 + 2 * variables_.size(), std::max<uint64_t>(2, limit / 2));
  for (uint64_t number = 0; number < limit && !outcome.stopped; ++number) {
    begin_choice();
    uint64_t bias = random() % 5;
    for (size_t v = 0; v < variables_.size(); ++v) {
      const Variable& variable = variables_[v];
      uint64_t state;
      if (number < extremes) {
        bool others_new = number % 2 == 1;
        bool odd_one_out = number >= 2 && v == (number - 2) / 2;
        state = others_new != odd_one_out ? newest(variable) : 0;
      } else if (random() % 4 < bias) {
        state = bias % 2 == 0 ? newest(variable) : 0;
      } else {
        state = random() % variable.states;
      }
      choose(variable, state, random);
    }
    ++outcome.images;
    outcome.stopped = !show(visit);
  }
}

CrashImages::Outcome CrashImages::visit_killed(uint64_t torn, uint64_t seed, const Visit& visit) {
  collect_variables();
  for (size_t i = 0; i < shown_.size(); ++i) choices_[i] = {shown_[i]->pieces.size(), 0};
  Outcome outcome;
  outcome.images = 1;
  outcome.exhaustive = true;
  outcome.stopped = !show(visit);
  if (position_ >= history_.events.size()) return outcome;
  const Event& next = history_.events[position_];
  if (next.kind != EventKind::bulk) return outcome;
  outcome.exhaustive = false;
  // A copy that is cut short has stored its bytes up to some word.
  std::mt19937_64 random(seed ^ (position_ * 0x9E3779B97F4A7C15));
  std::vector<uint8_t> saved(next.size);
  for (uint64_t i = 0; i < torn && !outcome.stopped; ++i) {
    ++outcome.images;
    outcome.stopped = !show([&] {
      uint64_t done = std::min<uint64_t>(next.size, random() % (next.size / 8 + 1) * 8);
      uint8_t* target = media_[next.region] + next.offset;
      std::memcpy(saved.data(), target, next.size);
      std::memcpy(target, next.bytes, done);
      bool go_on = visit();
      std::memcpy(target, saved.data(), next.size);
      return go_on;
    });
  }
  return outcome;
}

}  // namespace cairn::persist
