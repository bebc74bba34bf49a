// Decomposition: which rank holds which elements of a global array. It owns the bytes of its
// record, which are all that goes to a medium.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/sha256.h"
#include "base/status.h"
#include "checkpoint/array/box.h"
#include "checkpoint/array/box_table.h"
#include "checkpoint/array/grid.h"

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
// How much a rank has is not part of a layout.
constexpr bool is_counted(DecompositionKind kind) { return kind >= DecompositionKind::ragged; }

enum class Owner : uint8_t { nobody = 0, lowest_rank = 1, highest_rank = 2 };

class Decomposition {
 public:
  Decomposition() = default;
  Decomposition(Decomposition&&) = default;
  Decomposition& operator=(Decomposition&&) = default;
  Decomposition(const Decomposition&) = delete;  // parts of it are found by address
  Decomposition& operator=(const Decomposition&) = delete;

  // Checks all of a record. EUCLEAN, EPROTONOSUPPORT; ENOSYS: a kind that this release does not
  // have.
  static Result<Decomposition> read(std::vector<uint8_t> record);

  // Making one. EINVAL: the boxes do not tile the array, with ranks and place in the text.
  // EOVERFLOW: beyond the limits.
  static Result<Decomposition> make_replicated(uint32_t ranks, const Box& whole);
  static Result<Decomposition> make_counted(DecompositionKind kind, uint32_t ranks);
  // `entries` as append_box() makes them, by ascending rank, none of them empty.
  static Result<Decomposition> make_boxes(uint32_t ranks, const Box& whole, Owner owner,
                                          const std::vector<uint8_t>& entries);

  [[nodiscard]] DecompositionKind kind() const { return kind_; }
  [[nodiscard]] Owner owner() const { return owner_; }
  [[nodiscard]] uint32_t ranks() const { return ranks_; }
  [[nodiscard]] unsigned dimensions() const { return whole_.dimensions; }
  [[nodiscard]] const Box& whole() const { return whole_; }
  // What is stored of a rank: of a replicated array rank 0's. Empty with a count of 0 in all
  // dimensions if that is nothing. Not for counted kinds.
  [[nodiscard]] Box box_of(uint32_t rank) const;
  // The same in elements.
  [[nodiscard]] uint64_t elements_of(uint32_t rank) const;
  // Calls visit(rank, part) by ascending rank for each rank that stores a part of `wanted`.
  void for_each_part(const Box& wanted,
                     const std::function<void(uint32_t rank, const Box& part)>& visit) const;

  [[nodiscard]] const std::vector<uint8_t>& record() const { return record_; }
  [[nodiscard]] const Sha256Hash& hash() const { return hash_; }

 private:
  static Result<Decomposition> seal(std::vector<uint8_t> record);
  Status parse();
  Status parse_grid();
  Status parse_boxes(uint64_t entries);
  Status check_boxes() const;
  void grid_parts(const Box& wanted,
                  const std::function<void(uint32_t rank, const Box& part)>& visit) const;
  [[nodiscard]] Box no_box() const { return {whole_.dimensions, {}, {}}; }

  std::vector<uint8_t> record_;
  Sha256Hash hash_{};
  DecompositionKind kind_ = DecompositionKind::replicated;
  Owner owner_ = Owner::nobody;
  uint32_t ranks_ = 0;
  Box whole_;
  Grid grid_;       // of kind grid
  BoxTable boxes_;  // of kind boxes: in record_
};

}  // namespace cairn::checkpoint
