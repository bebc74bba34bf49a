#include "checkpoint/define/definitions_record.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/bounded_reader.h"
#include "checkpoint/record/text.h"

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
  fields.dimensions = is_counted(one.kind) ? 1 : one.whole.dimensions;
  fields.element_size = one.place.view.element_size();
  std::copy(one.whole.count.begin(), one.whole.count.end(), fields.extent);
  append(&bytes, fields);
  append(&bytes, static_cast<uint64_t>(one.aliases.size()));
  for (const std::string& alias : one.aliases) append_text(&bytes, alias);
  append_text(&bytes, one.over);
  append_text(&bytes, one.key);
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

// What all ranks of a node have defined: the fields that are equal on all of them, then, for each
// variable, its own fields and the number of its table of boxes, then the tables. Variables whose
// boxes are the same share a table.
struct NodeBegin {
  uint32_t ranks;  // of all nodes
  uint32_t block_shift;
  uint64_t variables;
  uint32_t first;  // number of the node's lowest rank
  uint32_t here;   // ranks of the node
  uint64_t tables;
};
struct NodeFields {
  Order order;  // as the lowest rank has it
  uint8_t reserved;
  Halo halo_low;
  Halo halo_high;
  uint32_t table;
};

Status parse_shared(std::string_view bytes, VariableDefinition* variable, SharedFields* fields) {
  BoundedReader reader(bytes.data(), bytes.size());
  variable->name = reader.text(reader.take<uint64_t>());
  *fields = reader.take<SharedFields>();
  variable->type = static_cast<Type>(fields->type);
  variable->is_required = fields->is_required != 0;
  variable->element_size = fields->element_size;
  variable->dimensions = fields->dimensions;
  const auto aliases = reader.take<uint64_t>();
  for (uint64_t i = 0; i < aliases && reader.ok(); ++i)
    variable->aliases.emplace_back(reader.text(reader.take<uint64_t>()));
  variable->over = reader.text(reader.take<uint64_t>());
  variable->key = reader.text(reader.take<uint64_t>());
  const std::string_view attributes = reader.text(reader.take<uint64_t>());
  variable->attributes.assign(attributes.begin(), attributes.end());
  if (!reader.ok() || fields->dimensions > max_dimensions)
    return fail(EINVAL, "definitions are cut off");
  return Status();
}

std::string shown_type(const SharedFields& fields) {
  const TypeTraits* const traits = traits_of(static_cast<Type>(fields.type));
  if (traits == nullptr) return "type " + std::to_string(fields.type);
  const std::string size = traits->size == 0 ? " of " + std::to_string(fields.element_size) +
                                                   (fields.element_size == 1 ? " byte" : " bytes")
                                             : "";
  return traits->name + size;
}

// As the kinds of cairn_distribution are called.
std::string shown_kind(uint8_t kind) {
  switch (static_cast<DecompositionKind>(kind)) {
    case DecompositionKind::replicated:
      return "replicated";
    case DecompositionKind::grid:
    case DecompositionKind::boxes:
    case DecompositionKind::darray:
      return "block";
    case DecompositionKind::ragged:
      return "ragged";
    case DecompositionKind::particles:
      return "particles";
    case DecompositionKind::per_rank:
      return "per rank";
  }
  return std::to_string(kind);
}

std::string shown_name(const std::string& name) {
  return name.empty() ? "none" : "'" + shown_text(name) + "'";
}

std::string shown_extents(const SharedFields& fields) {
  std::string text;
  for (unsigned k = 0; k < fields.dimensions; ++k)
    text += (k == 0 ? "" : " x ") + std::to_string(fields.extent[k]);
  return text.empty() ? "a scalar" : text;
}

// In what two ranks define a variable differently.
std::string find_difference(const VariableDefinition& a, const SharedFields& first,
                            const VariableDefinition& b, const SharedFields& other) {
  const auto both = [](const char* what, const std::string& one, const std::string& another) {
    return std::string(what) + " " + one + " and " + another;
  };
  if (first.kind != other.kind) return both("kind", shown_kind(first.kind), shown_kind(other.kind));
  if (shown_type(first) != shown_type(other))
    return both("type", shown_type(first), shown_type(other));
  if (shown_extents(first) != shown_extents(other))
    return both("global array", shown_extents(first), shown_extents(other));
  if (first.owner != other.owner)
    return both("owner", std::to_string(first.owner), std::to_string(other.owner));
  if (a.over != b.over) return both("over", shown_name(a.over), shown_name(b.over));
  if (a.key != b.key) return both("key", shown_name(a.key), shown_name(b.key));
  if (a.is_required != b.is_required) return "CAIRN_OPTIONAL";
  return a.attributes != b.attributes ? "attributes" : "aliases";
}

// How the definitions of one variable differ between two ranks.
Status differs(std::string_view first, std::string_view other, uint32_t first_rank,
               uint32_t other_rank) {
  VariableDefinition a;
  VariableDefinition b;
  SharedFields fields{};
  SharedFields other_fields{};
  CAIRN_TRY(parse_shared(first, &a, &fields));
  CAIRN_TRY(parse_shared(other, &b, &other_fields));
  if (a.name != b.name)
    return fail(EINVAL, "variable '%s' is defined on only one of the ranks %u and %u",
                shown_text(std::min(a.name, b.name)).c_str(), first_rank, other_rank);
  return fail(EINVAL, "variable '%s' is defined differently on ranks %u and %u: %s",
              shown_text(a.name).c_str(), first_rank, other_rank,
              find_difference(a, fields, b, other_fields).c_str());
}

Status count_differs(uint64_t first, uint64_t other, uint32_t first_rank, uint32_t other_rank) {
  return fail(EINVAL, "rank %u defines %llu variables, rank %u %llu", first_rank,
              static_cast<unsigned long long>(first), other_rank,
              static_cast<unsigned long long>(other));
}

void widen(Halo* widest, const Halo& other) {
  for (unsigned k = 0; k < max_dimensions; ++k) (*widest)[k] = std::max((*widest)[k], other[k]);
}

// Joins the records of a node's ranks.
class JoinRanks {
 public:
  JoinRanks(const std::vector<std::vector<uint8_t>>& records, const std::vector<uint32_t>& numbers)
      : numbers_(numbers) {
    for (const auto& record : records) readers_.emplace_back(record.data(), record.size());
  }

  Result<std::vector<uint8_t>> join() {
    CAIRN_TRY_ASSIGN(begin, take_begin());
    std::vector<uint8_t> variables;
    for (uint64_t i = 0; i < begin.variables; ++i) CAIRN_TRY(take_variable(&variables));
    std::vector<uint8_t> record;
    append(&record, NodeBegin{begin.ranks, begin.block_shift, begin.variables, numbers_.front(),
                              static_cast<uint32_t>(numbers_.size()), tables_.size()});
    record.insert(record.end(), variables.begin(), variables.end());
    for (const auto* table : tables_) append_text(&record, as_text(*table));
    return record;
  }

 private:
  static std::string_view as_text(const std::vector<uint8_t>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  Result<RecordBegin> take_begin() {
    RecordBegin first{};
    for (size_t i = 0; i < readers_.size(); ++i) {
      const auto begin = readers_[i].take<RecordBegin>();
      if (i == 0) first = begin;
      if (begin.ranks != first.ranks || begin.block_shift != first.block_shift)
        return fail(EINVAL, "ranks %u and %u have different options", numbers_[0], numbers_[i]);
      if (begin.variables != first.variables) return lacks_variable(first, begin, i);
    }
    return first;
  }

  // Names the first variable that only one of two ranks has. They come in order of their names.
  Status lacks_variable(const RecordBegin& first, const RecordBegin& other, size_t index) const {
    BoundedReader a = readers_[0];
    BoundedReader b = readers_[index];
    for (uint64_t i = 0; i <= std::min(first.variables, other.variables); ++i) {
      const auto name = [i](BoundedReader* reader, const RecordBegin& begin) {
        VariableDefinition variable;
        SharedFields fields{};
        if (i == begin.variables) return variable.name;
        const std::string_view shared = reader->text(reader->take<uint64_t>());
        reader->take<OwnFields>();
        parse_shared(shared, &variable, &fields).ignore();  // a name that is cut off is none
        return variable.name;
      };
      const std::string its = name(&a, first);
      const std::string others = name(&b, other);
      if (its == others && !its.empty()) continue;
      const bool only_first = others.empty() || (!its.empty() && its < others);
      return fail(EINVAL, "variable '%s' is defined on rank %u and not on rank %u",
                  shown_text(only_first ? its : others).c_str(),
                  only_first ? numbers_[0] : numbers_[index],
                  only_first ? numbers_[index] : numbers_[0]);
    }
    return count_differs(first.variables, other.variables, numbers_[0], numbers_[index]);
  }

  Status take_variable(std::vector<uint8_t>* variables) {
    std::string_view first;
    SharedFields shared{};
    NodeFields fields{};
    std::vector<uint8_t> boxes;
    for (size_t i = 0; i < readers_.size(); ++i) {
      BoundedReader& reader = readers_[i];
      const std::string_view its = reader.text(reader.take<uint64_t>());
      const auto own = reader.take<OwnFields>();
      if (!reader.ok()) return fail(EINVAL, "rank %u: its definitions are cut off", numbers_[i]);
      if (i == 0) {
        first = its;
        VariableDefinition variable;
        CAIRN_TRY(parse_shared(first, &variable, &shared));
        fields.order = own.order;
      }
      if (its != first) return differs(first, its, numbers_[0], numbers_[i]);
      widen(&fields.halo_low, own.halo_low);
      widen(&fields.halo_high, own.halo_high);
      if (static_cast<DecompositionKind>(shared.kind) == DecompositionKind::boxes)
        add_box(own, numbers_[i], shared.dimensions, &boxes);
    }
    const auto [known, is_new] =
        known_.emplace(std::move(boxes), static_cast<uint32_t>(tables_.size()));
    if (is_new) tables_.push_back(&known->first);
    fields.table = known->second;
    append_text(variables, first);
    append(variables, fields);
    return Status();
  }

  static void add_box(const OwnFields& own, uint32_t number, uint32_t dimensions,
                      std::vector<uint8_t>* boxes) {
    Box box{dimensions, {}, {}};
    std::copy(std::begin(own.offset), std::end(own.offset), box.offset.begin());
    std::copy(std::begin(own.count), std::end(own.count), box.count.begin());
    if (!is_empty(box)) append_box(boxes, number, box);
  }

  const std::vector<uint32_t>& numbers_;
  std::vector<BoundedReader> readers_;
  std::map<std::vector<uint8_t>, uint32_t> known_;
  std::vector<const std::vector<uint8_t>*> tables_;  // in known_
};

// Joins the records of all nodes.
class JoinNodes {
 public:
  explicit JoinNodes(const std::vector<std::vector<uint8_t>>& records) {
    for (const auto& record : records) nodes_.push_back({{record.data(), record.size()}, {}, {}});
  }

  Result<Contents> join() {
    CAIRN_TRY(take_begins());
    LayoutDefinition layout;
    layout.ranks = nodes_[0].begin.ranks;
    layout.block_shift = static_cast<uint8_t>(nodes_[0].begin.block_shift);
    std::vector<Defined> defined(static_cast<size_t>(nodes_[0].begin.variables));
    for (Defined& one : defined) CAIRN_TRY(take_variable(&one));
    CAIRN_TRY(take_tables());
    for (Defined& one : defined) {
      auto hash = decompose(one, layout.ranks);
      if (!hash.ok())
        return annotate(hash.status(), "variable '%s'", shown_text(one.variable.name).c_str());
      one.variable.decomposition = *hash;
      layout.variables.push_back(std::move(one.variable));
    }
    CAIRN_TRY_ASSIGN(made, Layout::make(layout));
    std::vector<Decomposition> in_order;
    for (uint32_t i = 0; i < made.decompositions(); ++i)
      in_order.push_back(std::move(decompositions_[made.decomposition_hash(i)]));
    return Contents::make(std::move(made), std::move(in_order));
  }

 private:
  struct Node {
    BoundedReader reader;
    NodeBegin begin;
    std::vector<std::string_view> tables;
  };
  struct Defined {
    VariableDefinition variable;
    SharedFields shared{};
    std::vector<uint32_t> tables;  // one a node
  };

  Status take_begins() {
    uint64_t here = 0;
    const NodeBegin* first = nullptr;
    for (Node& node : nodes_) {
      node.begin = node.reader.take<NodeBegin>();
      if (!node.reader.ok()) return fail(EINVAL, "definitions of a node are cut off");
      if (node.begin.variables > max_variables)
        return fail(EOVERFLOW, "%llu variables; at most %u",
                    static_cast<unsigned long long>(node.begin.variables), max_variables);
      if (first == nullptr) first = &nodes_[0].begin;
      here += node.begin.here;
      if (node.begin.ranks != first->ranks || node.begin.block_shift != first->block_shift)
        return fail(EINVAL, "ranks %u and %u have different options", first->first,
                    node.begin.first);
      if (node.begin.variables != first->variables)
        return count_differs(first->variables, node.begin.variables, first->first,
                             node.begin.first);
    }
    if (here != first->ranks)
      return fail(EINVAL, "%llu ranks define variables, of %u",
                  static_cast<unsigned long long>(here), first->ranks);
    return Status();
  }

  Status take_variable(Defined* one) {
    std::string_view first;
    for (Node& node : nodes_) {
      const std::string_view its = node.reader.text(node.reader.take<uint64_t>());
      const auto fields = node.reader.take<NodeFields>();
      if (!node.reader.ok() || fields.table >= node.begin.tables)
        return fail(EINVAL, "definitions of the node of rank %u are cut off", node.begin.first);
      if (&node == &nodes_[0]) {
        first = its;
        CAIRN_TRY(parse_shared(first, &one->variable, &one->shared));
        one->variable.order = fields.order;
      }
      if (its != first) return differs(first, its, nodes_[0].begin.first, node.begin.first);
      widen(&one->variable.halo_low, fields.halo_low);
      widen(&one->variable.halo_high, fields.halo_high);
      one->tables.push_back(fields.table);
    }
    return Status();
  }

  Status take_tables() {
    for (Node& node : nodes_) {
      for (uint64_t i = 0; i < node.begin.tables && node.reader.ok(); ++i)
        node.tables.push_back(node.reader.text(node.reader.take<uint64_t>()));
      if (!node.reader.ok())
        return fail(EINVAL, "boxes of the node of rank %u are cut off", node.begin.first);
    }
    return Status();
  }

  // Boxes of all ranks, by ascending rank.
  [[nodiscard]] std::vector<uint8_t> boxes_of(const Defined& one) const {
    const auto size = static_cast<size_t>(box_record_bytes(one.shared.dimensions));
    std::vector<std::string_view> boxes;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      std::string_view table = nodes_[i].tables[one.tables[i]];
      for (; table.size() >= size; table.remove_prefix(size))
        boxes.push_back(table.substr(0, size));
    }
    const auto by_rank = [](std::string_view a, std::string_view b) {
      return record_at<BoxRecord>(a.data()).rank < record_at<BoxRecord>(b.data()).rank;
    };
    if (!std::is_sorted(boxes.begin(), boxes.end(), by_rank))
      std::sort(boxes.begin(), boxes.end(), by_rank);
    std::vector<uint8_t> all;
    all.reserve(boxes.size() * size);
    for (const std::string_view box : boxes) all.insert(all.end(), box.begin(), box.end());
    return all;
  }

  // The hash of the variable's decomposition, made unless an earlier variable has the same.
  Result<Sha256Hash> decompose(const Defined& one, uint32_t ranks) {
    const auto kind = static_cast<DecompositionKind>(one.shared.kind);
    std::vector<uint8_t> key;
    append(&key, one.shared.dimensions);
    append(&key, uint32_t{one.shared.kind} << 8 | one.shared.owner);
    for (const uint64_t extent : one.shared.extent) append(&key, extent);
    if (kind == DecompositionKind::boxes)
      for (const uint32_t table : one.tables) append(&key, table);
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
    if (is_counted(kind)) {
      auto counted = Decomposition::make_counted(kind, ranks);
      if (!counted.ok()) return counted.status();
      const Sha256Hash its_hash = counted->hash();
      known_.emplace(std::move(key), its_hash);
      decompositions_.emplace(its_hash, std::move(*counted));
      return its_hash;
    }
    Extents extents{};
    std::copy(std::begin(one.shared.extent), std::end(one.shared.extent), extents.begin());
    const Box whole = whole_of(one.shared.dimensions, extents);
    auto made = kind == DecompositionKind::replicated
                    ? Decomposition::make_replicated(ranks, whole)
                    : Decomposition::make_boxes(ranks, whole, static_cast<Owner>(one.shared.owner),
                                                boxes_of(one));
    if (!made.ok()) return made.status();
    const Sha256Hash hash = made->hash();
    known_.emplace(std::move(key), hash);
    decompositions_.emplace(hash, std::move(*made));
    return hash;
  }

  std::vector<Node> nodes_;
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

Result<std::vector<uint8_t>> join_ranks(const std::vector<std::vector<uint8_t>>& records,
                                        const std::vector<uint32_t>& numbers) {
  return JoinRanks(records, numbers).join();
}

Result<Contents> join_nodes(const std::vector<std::vector<uint8_t>>& records) {
  return JoinNodes(records).join();
}

}  // namespace cairn::checkpoint
