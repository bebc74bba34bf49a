// Decomposition: tells which rank holds which elements of a global array. It owns the bytes of its
// record, and only these go to a medium.
#pragma once

#include <cstdint>
#include <vector>

#include "base/sha256.h"
#include "base/status.h"
#include "checkpoint/array/box.h"
#include "checkpoint/array/box_table.h"
#include "checkpoint/array/darray.h"
#include "checkpoint/array/grid.h"
#include "checkpoint/array/section.h"

namespace cairn::checkpoint {

enum class DecompositionKind : uint8_t {
  replicated = 1,
  grid = 2,
  boxes = 3,
  darray = 4,
  ragged = 5,
  particles = 6,
  per_rank = 7,
};
// Returns true if the number of a rank's elements is not part of the layout.
constexpr bool is_counted(DecompositionKind kind) { return kind >= DecompositionKind::ragged; }

enum class Owner : uint8_t { nobody = 0, lowest_rank = 1, highest_rank = 2 };

class Decomposition {
 public:
  Decomposition() = default;
  Decomposition(Decomposition&&) = default;
  Decomposition& operator=(Decomposition&&) = default;
  Decomposition(const Decomposition&) = delete;  // parts of it are found by address
  Decomposition& operator=(const Decomposition&) = delete;

  // Checks a whole record. EUCLEAN, EPROTONOSUPPORT.
  static Result<Decomposition> read(std::vector<uint8_t> record);

  // These make a decomposition. EINVAL: the boxes do not tile the array; the text has ranks and
  // place. EOVERFLOW: beyond the limits.
  static Result<Decomposition> make_replicated(uint32_t ranks, const Box& whole);
  static Result<Decomposition> make_counted(DecompositionKind kind, uint32_t ranks);
  // Makes one of boxes. `entries` come from append_box(), by ascending rank, none of them empty.
  static Result<Decomposition> make_boxes(uint32_t ranks, const Box& whole, Owner owner,
                                          const std::vector<uint8_t>& entries);
  // Makes one of kind darray; equal meanings become equal records.
  static Result<Decomposition> make_darray(uint32_t ranks, const Box& whole, const Darray& darray);

  [[nodiscard]] DecompositionKind kind() const { return kind_; }
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
  static Result<Decomposition> seal(std::vector<uint8_t> record);
  Status parse();
  Status parse_grid();
  Status parse_boxes(uint64_t entries);
  Status check_boxes() const;
  Status parse_darray();
  [[nodiscard]] Box box_of(uint32_t rank) const;  // none in a darray
  [[nodiscard]] std::vector<uint32_t> holders_in_grid(const Section& wanted) const;
  [[nodiscard]] uint32_t processes_along(unsigned dimension) const;
  [[nodiscard]] Stripes stripes_of(unsigned dimension, uint32_t coordinate) const;
  [[nodiscard]] std::vector<uint32_t> coordinates_of(unsigned dimension,
                                                     const Stripes& wanted) const;
  [[nodiscard]] Box no_box() const { return {whole_.dimensions, {}, {}}; }

  std::vector<uint8_t> record_;
  Sha256Hash hash_{};
  DecompositionKind kind_ = DecompositionKind::replicated;
  Owner owner_ = Owner::nobody;
  uint32_t ranks_ = 0;
  Box whole_;
  Grid grid_;       // of kind grid
  Darray darray_;   // of kind darray
  BoxTable boxes_;  // of kind boxes: in record_
};

}  // namespace cairn::checkpoint
