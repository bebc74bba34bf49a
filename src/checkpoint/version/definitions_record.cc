#include "checkpoint/version/definitions_record.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/bounded_reader.h"
#include "checkpoint/layout/text.h"

namespace cairn::checkpoint {
namespace {

// Processes of one run have the same Cairn, so these have no version. What is equal on all ranks
// comes first of each variable.
struct RecordBegin {
  uint32_t ranks;
  uint32_t block_shift;
  uint64_t variables;
};

struct SharedFields {
  uint8_t kind;
  uint8_t owner;
  uint8_t type;
  uint8_t is_required;
  uint32_t dimensions;
  uint64_t element_size;
  uint64_t extent[max_dimensions];
};

struct OwnFields {
  Order order;
  uint8_t reserved1;
  Halo halo_low;
  Halo halo_high;
  uint32_t reserved2;
  uint64_t offset[max_dimensions];
  uint64_t count[max_dimensions];
};

template <typename T>
void append(std::vector<uint8_t>* bytes, const T& value) {
  static_assert(std::has_unique_object_representations_v<T>);
  const auto* begin = reinterpret_cast<const uint8_t*>(&value);
  bytes->insert(bytes->end(), begin, begin + sizeof value);
}

void append_text(std::vector<uint8_t>* bytes, std::string_view text) {
  append(bytes, static_cast<uint64_t>(text.size()));
  bytes->insert(bytes->end(), text.begin(), text.end());
}

std::vector<uint8_t> encode_shared(const std::string& name, const Definition& one) {
  std::vector<uint8_t> bytes;
  append_text(&bytes, name);
  SharedFields fields{};
  fields.kind = static_cast<uint8_t>(one.kind);
  fields.owner = static_cast<uint8_t>(one.owner);
  fields.type = static_cast<uint8_t>(one.place.view.type());
  fields.is_required = one.is_required ? 1 : 0;
  fields.dimensions = one.whole.dimensions;
  fields.element_size = one.place.view.element_size();
  std::copy(one.whole.count.begin(), one.whole.count.end(), fields.extent);
  append(&bytes, fields);
  append(&bytes, static_cast<uint64_t>(one.aliases.size()));
  for (const std::string& alias : one.aliases) append_text(&bytes, alias);
  append(&bytes, static_cast<uint64_t>(one.attributes.size()));
  bytes.insert(bytes.end(), one.attributes.begin(), one.attributes.end());
  return bytes;
}

OwnFields own_fields(const Definition& one) {
  OwnFields own{};
  own.order = one.place.view.order();
  for (unsigned k = 0; k < one.whole.dimensions; ++k) {
    own.halo_low[k] = static_cast<uint16_t>(one.place.view.halo_low(k));
    own.halo_high[k] = static_cast<uint16_t>(one.place.view.halo_high(k));
  }
  std::copy(one.box.offset.begin(), one.box.offset.end(), own.offset);
  std::copy(one.box.count.begin(), one.box.count.end(), own.count);
  return own;
}

// The variable that comes next in the records of all ranks.
struct NextVariable {
  VariableDefinition variable;
  SharedFields shared{};
  std::vector<uint8_t> boxes;  // as append_box() makes them
};

class Join {
 public:
  explicit Join(const std::vector<std::vector<uint8_t>>& records) {
    for (const auto& record : records) readers_.emplace_back(record.data(), record.size());
  }

  Result<Contents> join() {
    LayoutDefinition layout;
    CAIRN_TRY_ASSIGN(begin, take_begin());
    layout.ranks = begin.ranks;
    layout.block_shift = static_cast<uint8_t>(begin.block_shift);
    for (uint64_t i = 0; i < begin.variables; ++i) {
      CAIRN_TRY_ASSIGN(next, take_variable());
      auto hash = decompose(next, begin.ranks);
      if (!hash.ok())
        return annotate(hash.status(), "variable '%s'", shown_text(next.variable.name).c_str());
      next.variable.decomposition = *hash;
      layout.variables.push_back(std::move(next.variable));
    }
    CAIRN_TRY_ASSIGN(made, Layout::make(layout));
    std::vector<Decomposition> in_order;
    for (uint32_t i = 0; i < made.decompositions(); ++i)
      in_order.push_back(std::move(decompositions_[made.decomposition_hash(i)]));
    return Contents::make(std::move(made), std::move(in_order));
  }

 private:
  Result<RecordBegin> take_begin() {
    RecordBegin first{};
    for (size_t rank = 0; rank < readers_.size(); ++rank) {
      const auto begin = readers_[rank].take<RecordBegin>();
      if (rank == 0) first = begin;
      if (begin.ranks != readers_.size() || begin.block_shift != first.block_shift)
        return fail(EINVAL, "ranks 0 and %zu have different options", rank);
      if (begin.variables != first.variables)
        return fail(EINVAL, "rank 0 defines %llu variables, rank %zu %llu",
                    static_cast<unsigned long long>(first.variables), rank,
                    static_cast<unsigned long long>(begin.variables));
    }
    return first;
  }

  Result<NextVariable> take_variable() {
    NextVariable next;
    std::string_view first;
    for (size_t rank = 0; rank < readers_.size(); ++rank) {
      BoundedReader& reader = readers_[rank];
      const std::string_view shared = reader.text(reader.take<uint64_t>());
      const auto own = reader.take<OwnFields>();
      if (!reader.ok()) return fail(EINVAL, "rank %zu: its definitions are cut off", rank);
      if (rank == 0) {
        first = shared;
        CAIRN_TRY(parse_shared(shared, &next));
        next.variable.order = own.order;
      }
      if (shared != first) return differs(first, shared, rank);
      take_own(own, static_cast<uint32_t>(rank), &next);
    }
    return next;
  }

  static Status differs(std::string_view first, std::string_view other, size_t rank) {
    NextVariable a;
    NextVariable b;
    CAIRN_TRY(parse_shared(first, &a));
    CAIRN_TRY(parse_shared(other, &b));
    if (a.variable.name != b.variable.name)
      return fail(EINVAL, "variable '%s' is defined on only one of the ranks 0 and %zu",
                  shown_text(std::min(a.variable.name, b.variable.name)).c_str(), rank);
    return fail(EINVAL, "variable '%s' is defined differently on ranks 0 and %zu",
                shown_text(a.variable.name).c_str(), rank);
  }

  static Status parse_shared(std::string_view bytes, NextVariable* next) {
    BoundedReader reader(bytes.data(), bytes.size());
    VariableDefinition& variable = next->variable;
    variable.name = reader.text(reader.take<uint64_t>());
    const auto fields = reader.take<SharedFields>();
    next->shared = fields;
    variable.type = static_cast<Type>(fields.type);
    variable.is_required = fields.is_required != 0;
    variable.element_size = fields.element_size;
    variable.dimensions = fields.dimensions;
    const auto aliases = reader.take<uint64_t>();
    for (uint64_t i = 0; i < aliases && reader.ok(); ++i)
      variable.aliases.emplace_back(reader.text(reader.take<uint64_t>()));
    const std::string_view attributes = reader.text(reader.take<uint64_t>());
    variable.attributes.assign(attributes.begin(), attributes.end());
    if (!reader.ok() || fields.dimensions > max_dimensions)
      return fail(EINVAL, "definitions are cut off");
    return Status();
  }

  static void take_own(const OwnFields& own, uint32_t rank, NextVariable* next) {
    for (unsigned k = 0; k < next->shared.dimensions; ++k) {
      next->variable.halo_low[k] = std::max(next->variable.halo_low[k], own.halo_low[k]);
      next->variable.halo_high[k] = std::max(next->variable.halo_high[k], own.halo_high[k]);
    }
    Box box{next->shared.dimensions, {}, {}};
    std::copy(std::begin(own.offset), std::end(own.offset), box.offset.begin());
    std::copy(std::begin(own.count), std::end(own.count), box.count.begin());
    if (!is_empty(box)) append_box(&next->boxes, rank, box);
  }

  // The hash of the variable's decomposition, made unless an earlier variable has the same.
  Result<Sha256Hash> decompose(const NextVariable& next, uint32_t ranks) {
    const auto kind = static_cast<DecompositionKind>(next.shared.kind);
    std::vector<uint8_t> key;
    append(&key, next.shared.dimensions);
    append(&key, uint32_t{next.shared.kind} << 8 | next.shared.owner);
    for (const uint64_t extent : next.shared.extent) append(&key, extent);
    if (kind == DecompositionKind::boxes)
      key.insert(key.end(), next.boxes.begin(), next.boxes.end());
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
    Extents extents{};
    std::copy(std::begin(next.shared.extent), std::end(next.shared.extent), extents.begin());
    const Box whole = whole_of(next.shared.dimensions, extents);
    auto made = kind == DecompositionKind::replicated
                    ? Decomposition::make_replicated(ranks, whole)
                    : Decomposition::make_boxes(ranks, whole, static_cast<Owner>(next.shared.owner),
                                                next.boxes);
    if (!made.ok()) return made.status();
    const Sha256Hash hash = made->hash();
    known_.emplace(std::move(key), hash);
    decompositions_.emplace(hash, std::move(*made));
    return hash;
  }

  std::vector<BoundedReader> readers_;
  std::map<std::vector<uint8_t>, Sha256Hash> known_;
  std::map<Sha256Hash, Decomposition> decompositions_;
};

}  // namespace

std::vector<uint8_t> encode_definitions(const Definitions& definitions,
                                        const LayoutChoice& choice) {
  std::vector<uint8_t> bytes;
  append(&bytes, RecordBegin{choice.ranks, choice.block_shift, definitions.all().size()});
  for (const auto& [name, definition] : definitions.all()) {
    const std::vector<uint8_t> shared = encode_shared(name, definition);
    append(&bytes, static_cast<uint64_t>(shared.size()));
    bytes.insert(bytes.end(), shared.begin(), shared.end());
    append(&bytes, own_fields(definition));
  }
  return bytes;
}

Result<Contents> join_definitions(const std::vector<std::vector<uint8_t>>& records) {
  return Join(records).join();
}

}  // namespace cairn::checkpoint
