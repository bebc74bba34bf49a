// Crash images: the images that a power loss may leave; the model behind the simulator.
//
//  - A store is durable for sure once its line was flushed after it and the flushing CPU has fenced
//    after that. copy() and zero() are flushed when issued. Locked instructions drain nothing.
//  - Before that its line may or may not have been evicted. Stores to one line reach the medium in
//    order; lines are independent of each other. So each line holds some prefix of its stores, at
//    least those that are durable for sure.
//  - A bulk store is old, new, or torn: each of its lines at a prefix of its own, and the line's
//    last bulk piece at any 8-byte words.
//  - Granularity::byte: the cache is safe, so stores need no flush, only the fence.
//  - Granularity::page: a flush takes whole pages. The lines of a page are still taken as
//    independent, because a device may read a page while it is being stored to.
//
// The history is replayed forward into `medium` (what is durable for sure) and a list of pending
// lines. Each image is made by applying pending stores to the medium, which are undone afterwards,
// so its cost depends on the pending stores, not on the size of the pool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "persist/core/granularity.h"
#include "support/simulator/history.h"

namespace cairn::persist {

inline constexpr size_t page_size = 4096;

class CrashImages {
 public:
  // `media[r]` holds region r as it was before the first event.
  CrashImages(Granularity granularity, const History& history, std::vector<uint8_t*> media);

  [[nodiscard]] uint64_t position() const { return position_; }
  // Replays up to `point`, which must not lie before position().
  void advance(uint64_t point);

  using Visit = std::function<bool()>;
  struct Outcome {
    uint64_t images = 0;
    bool exhaustive = false;
    bool stopped = false;
  };
  // `visit` sees the media as one image after the other, and must leave them as it found them.
  Outcome enumerate(uint64_t limit, uint64_t seed, const Visit& visit);
  // Visits the image with everything up to position() and, if the next event is a bulk store, a
  // part of that.
  Outcome visit_killed(uint64_t torn, uint64_t seed, const Visit& visit);

  // Describes the image being visited.
  [[nodiscard]] std::string describe() const;

 private:
  static constexpr size_t line_size = 64;

  // The part of a store in one line.
  struct Piece {
    uint64_t event;
    const uint8_t* bytes;
    uint8_t offset;
    uint8_t size;
    bool bulk;
  };
  struct Line {
    uint32_t region = 0;
    uint64_t offset = 0;
    std::vector<Piece> pieces;  // not yet durable, in order
  };
  struct Flushed {
    uint64_t line;
    uint64_t before;  // events before this one are flushed but not fenced
  };
  // The progress of a line in the image being built.
  struct Choice {
    size_t pieces = 0;
    uint8_t torn_words =
        0;  // of the piece after those, which words are there too (bit per 8 bytes)
  };
  // An independent event that may have happened or not: a line with words, or a bulk store.
  struct Variable {
    bool bulk = false;
    size_t line = 0;      // index into `shown_`, unless bulk
    uint64_t event = 0;   // of the bulk store
    uint64_t states = 0;  // 0 is the oldest; the newest is states - 1, or 1 of a bulk store's three
  };

  static uint64_t key_of(uint32_t region, uint64_t offset) {
    return uint64_t{region} << 48 | offset / line_size;
  }
  void replay(const Event& event, uint64_t number);
  void add_pieces(const Event& event, uint64_t number, const uint8_t* bytes, bool bulk);
  void note_flush(const Event& event, uint64_t number);
  void drain(uint16_t cpu);

  void collect_variables();
  void choose(const Variable& variable, uint64_t state, std::mt19937_64& random);
  [[nodiscard]] uint64_t newest(const Variable& variable) const;
  void begin_choice();
  bool show(const Visit& visit);
  void apply(const Piece& piece, uint8_t* line, uint8_t words) const;
  void sample(uint64_t limit, std::mt19937_64& random, const Visit& visit, Outcome& outcome);

  Granularity granularity_;
  const History& history_;
  std::vector<uint8_t*> media_;
  uint64_t position_ = 0;
  std::map<uint64_t, Line> pending_;
  std::vector<std::vector<Flushed>> flushed_;  // by CPU

  std::vector<Line*> shown_;
  std::vector<bool> has_words_;
  std::vector<Choice> choices_;
  std::vector<Variable> variables_;
  std::vector<uint8_t> saved_;
};

}  // namespace cairn::persist
