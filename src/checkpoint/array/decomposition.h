// Decomposition: tells which rank holds which elements of a global array. It owns the bytes of its
// record, and only these go to a medium. The distribution of its kind encodes and decodes them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/sha256.h"
#include "base/status.h"
#include "checkpoint/array/box.h"
#include "checkpoint/array/distribution.h"
#include "checkpoint/array/section.h"

namespace cairn::checkpoint {

class Decomposition {
 public:
  Decomposition() = default;
  Decomposition(Decomposition&&) = default;
  Decomposition& operator=(Decomposition&&) = default;
  Decomposition(const Decomposition&) = delete;  // parts of it are found by address
  Decomposition& operator=(const Decomposition&) = delete;

  // Checks a whole record. EUCLEAN, EPROTONOSUPPORT.
  static Result<Decomposition> read(std::vector<uint8_t> record);

  // Makes a decomposition; equal meanings become equal records. `entries`: the tables of
  // Distribution::join(), of all ranks, by ascending rank. EINVAL: the ranks' parts do not make up
  // the array; the text has ranks and place. EOVERFLOW: beyond the limits.
  static Result<Decomposition> make(const DistributedArray& array, uint32_t ranks,
                                    const std::vector<uint8_t>& entries);

  [[nodiscard]] DecompositionKind kind() const { return kind_; }
  [[nodiscard]] Counting counting() const { return counting_of(kind_); }
  // Returns true if the number of a rank's elements is not part of the layout.
  [[nodiscard]] bool is_counted() const { return checkpoint::is_counted(kind_); }
  // Returns true if this rank stores elements, and the layout has their number.
  [[nodiscard]] bool stores(uint32_t rank) const { return distribution_of(kind_).stores(rank); }
  [[nodiscard]] Owner owner() const { return owner_; }
  [[nodiscard]] uint32_t ranks() const { return ranks_; }
  [[nodiscard]] unsigned dimensions() const { return whole_.dimensions; }
  [[nodiscard]] const Box& whole() const { return whole_; }
  // Returns the stored elements of a rank; those of a replicated array belong to rank 0. Not for
  // counted kinds.
  [[nodiscard]] Section section_of(uint32_t rank) const;
  // Returns the number of elements in section_of().
  [[nodiscard]] uint64_t elements_of(uint32_t rank) const;
  // Returns the ranks that store elements of `wanted`, in the order in which to store them: where
  // boxes overlap, the later one counts. A rank that another one of them covers is left out.
  [[nodiscard]] std::vector<uint32_t> holders_of(const Section& wanted) const;

  [[nodiscard]] const std::vector<uint8_t>& record() const { return record_; }
  [[nodiscard]] const Sha256Hash& hash() const { return hash_; }

 private:
  Status parse();

  std::vector<uint8_t> record_;
  Sha256Hash hash_{};
  DecompositionKind kind_ = DecompositionKind::replicated;
  Owner owner_ = Owner::nobody;
  uint32_t ranks_ = 0;
  Box whole_;
  std::unique_ptr<const Partition> partition_;  // may refer to bytes of record_
};

}  // namespace cairn::checkpoint
