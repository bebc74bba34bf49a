// RunWords: the words of the file `set` that the processes of a run share.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "checkpoint/store/set_file.h"

namespace cairn::checkpoint {

enum class RunState : uint64_t { none = 0, assembling = 1, running = 2, ended = 3, failed = 4 };

class RunWords {
 public:
  enum OfRun : unsigned { uuid = 0, state = 2, ranks, came, key, last_sequence = 7 };
  enum OfOpening : unsigned {
    sequence,
    slot,
    manifest,
    manifest_generation,
    data,
    data_generation,
    next_extent,
    number  // the user's
  };
  enum OfArrivals : unsigned { arrived, failed, decided, bytes, begun };
  enum OfMeeting : unsigned { met, value, hash, fault = 6 };
  enum OfMember : unsigned { lane, arrival, calls, meeting, said, length, uncopied, launcher };

  RunWords() = default;
  // Finds the words; they stay where they are while the set is open.
  static Result<RunWords> find(const SetFile& set);

  [[nodiscard]] Uuid run_uuid() const { return uuid_at(OfRun::uuid); }
  [[nodiscard]] Uuid uuid_at(unsigned i) const {
    Uuid found;
    for (unsigned k = 0; k < 2; ++k) {
      const uint64_t half = run(i + k).load();
      std::memcpy(found.data() + size_t{8} * k, &half, sizeof half);
    }
    return found;
  }

  [[nodiscard]] persist::Word& lock() const { return at(set_lock_offset); }
  [[nodiscard]] persist::Word& run(unsigned i) const { return at(set_run_offset + 8 * i); }
  [[nodiscard]] persist::Word& opening(unsigned i) const { return at(set_opening_offset + 8 * i); }
  [[nodiscard]] persist::Word& arrivals(uint64_t sequence_of, OfArrivals i) const {
    return at(set_arrivals_offset + 64 * (sequence_of & 1) + 8 * i);
  }
  [[nodiscard]] persist::Word& due() const { return at(set_due_offset); }
  [[nodiscard]] persist::Word& meetings(unsigned i) const { return at(set_meeting_offset + 8 * i); }
  [[nodiscard]] persist::Word& answer(uint64_t call) const {
    return at(set_answers_offset + 8 * (call % set_answers));
  }
  [[nodiscard]] persist::Word& member(uint32_t rank, OfMember i) const {
    return at(set_members_offset + 64 * uint64_t{rank} + 8 * i);
  }

 private:
  static constexpr uint64_t block_bytes = 4096;
  [[nodiscard]] persist::Word& at(uint64_t offset) const {
    return block_[offset / block_bytes][offset % block_bytes / sizeof(persist::Word)];
  }

  std::array<persist::Word*, set_bytes / block_bytes> block_{};
};

}  // namespace cairn::checkpoint
