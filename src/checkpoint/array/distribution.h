// Distribution: how the ranks' arrays make up one variable. One object for each kind of
// cairn/kinds.def answers all questions whose answer depends on the kind: what a program may give
// (take, check), what ranks must agree on (difference, join), what a record holds (encode, parse),
// and which elements a rank holds (section_of, Partition).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bounded_reader.h"
#include "base/status.h"
#include "checkpoint/array/array_view.h"
#include "checkpoint/array/box.h"
#include "checkpoint/array/section.h"
#include "checkpoint/record/records.h"

namespace cairn::checkpoint {

// Kinds of DECOMPOSITION records.
enum class DecompositionKind : uint8_t {
#define CAIRN_STORED_KIND(name, number, NAME) name = number,
#include "cairn/kinds.def"
};

// Kinds as programs give them (enum cairn_distribution_kind).
enum class GivenKind : uint32_t {
#define CAIRN_KIND(NAME, number, ...) NAME = number,
#include "cairn/kinds.def"
};

// Says what determines the number of a rank's elements; cairn/kinds.def explains each.
enum class Counting : uint8_t { by_layout, by_lists, by_keys, by_rank };

constexpr GivenKind given_kind(DecompositionKind kind) {
  switch (kind) {
#define CAIRN_STORED_KIND(name, number, NAME) \
  case DecompositionKind::name:               \
    return GivenKind::NAME;
#include "cairn/kinds.def"
  }
  return {};
}

constexpr Counting counting_of(DecompositionKind kind) {
  switch (given_kind(kind)) {
#define CAIRN_KIND(NAME, number, counting, ...) \
  case GivenKind::NAME:                         \
    return Counting::counting;
#include "cairn/kinds.def"
  }
  return {};
}

// Returns true if the number of a rank's elements is not part of the layout.
constexpr bool is_counted(DecompositionKind kind) {
  return counting_of(kind) != Counting::by_layout;
}

enum class Owner : uint8_t { nobody = 0, lowest_rank = 1, highest_rank = 2 };

// The numbers that a program gives, unchecked (struct cairn_distribution).
struct GivenDistribution {
  uint32_t owner = 0;
  uint32_t rank_order = 0;
#define CAIRN_KIND_ARGUMENT(type, name) std::array<type, max_dimensions> name{};
#include "cairn/kinds.def"
};

// An array of a variable, as one rank has defined it. All ranks must agree on the members before
// `box`.
struct DistributedArray {
  DecompositionKind kind = DecompositionKind::replicated;
  Owner owner = Owner::nobody;
  Box whole;                       // the global array; not of counted kinds
  std::vector<uint8_t> arguments;  // further numbers, as the kind encodes them
  // This rank's part of the global array. Where that is not a box: as many elements, from 0 on.
  Box box;
};

// An array's part, and the number of the rank that has it.
struct RankBox {
  uint32_t rank = 0;
  Box box;
};

// The content of a DECOMPOSITION record that depends on the kind: all but ranks and extents.
struct DecompositionBody {
  DecompositionKind kind = DecompositionKind::replicated;
  Owner owner = Owner::nobody;
  uint8_t rank_order = 0;
  uint64_t entries = 0;
  std::vector<uint8_t> bytes;
};

// The members of DecompositionRecord that a kind uses.
struct UsedMembers {
  bool dimensions = false;  // at least one
  bool owner = false;
  bool rank_order = false;
  bool entries = false;
};

// Partition: the elements that each rank stores, from a record.
class Partition {
 public:
  Partition() = default;
  Partition(const Partition&) = delete;
  Partition& operator=(const Partition&) = delete;
  virtual ~Partition() = default;

  // Returns the stored elements of a rank, which is one of the record's.
  [[nodiscard]] virtual Section section_of(uint32_t rank) const = 0;
  // Returns the ranks that store elements of `wanted`, as Decomposition::holders_of() does. Neither
  // `wanted` nor the array is empty.
  [[nodiscard]] virtual std::vector<uint32_t> holders_of(const Section& wanted) const = 0;
};

class Distribution {
 public:
  Distribution() = default;
  Distribution(const Distribution&) = delete;
  Distribution& operator=(const Distribution&) = delete;
  virtual ~Distribution() = default;

  // ---- one rank

  // Takes what a program gives of an array into `array`, whose kind is set. EINVAL, EOVERFLOW.
  virtual Status take(const GivenDistribution& given, const ArrayView& view,
                      DistributedArray* array) const;
  // Checks an array in memory, and completes `array->box`. EINVAL: the array does not hold its
  // part. EOVERFLOW.
  virtual Status check(const ArrayView& view, DistributedArray* array) const;
  // Returns true if arrays may have a halo, which a restart can fill.
  [[nodiscard]] virtual bool has_halo() const { return false; }
  // Returns true if this rank stores the elements that it defines, and their number is known.
  [[nodiscard]] virtual bool stores(uint32_t rank) const = 0;
  // Returns the part of the global array that a rank of `ranks` holds. All ranks have agreed on the
  // array; `array.box` is this rank's.
  [[nodiscard]] virtual Section section_of(const DistributedArray& array, uint32_t rank,
                                           uint32_t ranks) const;

  // ---- all ranks

  // Returns true if `arguments` can be decoded.
  [[nodiscard]] virtual bool is_sound(const std::vector<uint8_t>& arguments) const {
    return arguments.empty();
  }
  // Describes how the arguments of two ranks differ. "": they do not.
  [[nodiscard]] virtual std::string difference(const DistributedArray& first,
                                               const DistributedArray& other) const;
  // Checks the parts of some of all `ranks`, ascending, and returns entries (append_box()) of those
  // that a record lists. EINVAL: a rank has another part than it should; the text has the ranks.
  [[nodiscard]] virtual Result<std::vector<uint8_t>> join(const DistributedArray& array,
                                                          uint32_t ranks,
                                                          const std::vector<RankBox>& parts) const;
  // Returns what a record stores. `entries`: from join(), of all ranks. EINVAL: these arguments
  // do not distribute the array.
  [[nodiscard]] virtual Result<DecompositionBody> encode(const DistributedArray& array,
                                                         uint32_t ranks,
                                                         const std::vector<uint8_t>& entries) const;

  // ---- records

  [[nodiscard]] virtual UsedMembers used_members() const { return {}; }
  // Decodes what a record stores. `body` stands behind the extents; the partition may refer to its
  // bytes. EINVAL: unsound.
  [[nodiscard]] virtual Result<std::unique_ptr<const Partition>> parse(
      const DecompositionRecord& fixed, const Box& whole, BoundedReader* body) const = 0;
};

// The kinds' objects; each is defined in the file of its kind.
#define CAIRN_STORED_KIND(name, number, NAME) const Distribution& name##_distribution();
#include "cairn/kinds.def"

// Returns null if there is no such kind.
const Distribution* find_distribution(uint8_t kind);
// Returns the distribution of a kind that is known.
const Distribution& distribution_of(DecompositionKind kind);
// Returns the kind in which what a program gives is defined. EINVAL: unknown.
Result<DecompositionKind> kind_given_as(uint32_t number);
// Returns a kind's name for errors: "per rank".
std::string shown_kind(DecompositionKind kind);

// Parts of implementations:

// Checks that view and global array fit together. EINVAL, EOVERFLOW.
Status check_shape(const ArrayView& view, const Box& whole);
// Checks that the array in memory holds its box, which lies in the global array. EINVAL.
Status check_box(const ArrayView& view, const DistributedArray& array);
// Checks that a record ends here. EINVAL.
Status check_no_body(const BoundedReader& body);

template <typename T>
void append_values(std::vector<uint8_t>* bytes, const T* values, size_t count) {
  const auto* from = reinterpret_cast<const uint8_t*>(values);
  bytes->insert(bytes->end(), from, from + count * sizeof(T));
}

}  // namespace cairn::checkpoint
