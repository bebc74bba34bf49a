#include "checkpoint/define/definitions_record.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/bounded_reader.h"
#include "checkpoint/array/box_table.h"
#include "checkpoint/define/definition_difference.h"
#include "checkpoint/define/definition_fields.h"
#include "checkpoint/record/text.h"

namespace cairn::checkpoint {
namespace {

// The begin of a rank's record. It has no version: processes of one run have the same Cairn.
struct RecordBegin {
  uint32_t ranks;
  uint32_t block_shift;
  uint64_t variables;
};

// The begin of a node's record. For each variable follow the fields that are equal on all ranks,
// then each rank's own fields and the number of its table of boxes, then the tables. Variables with
// the same boxes share a table.
struct NodeBegin {
  uint32_t ranks;  // of all nodes
  uint32_t block_shift;
  uint64_t variables;
  uint32_t first;  // number of the node's lowest rank
  uint32_t here;   // ranks of the node
  uint64_t tables;
};
struct NodeFields {
  Order order;  // that of the lowest rank
  uint8_t reserved;
  Halo halo_low;
  Halo halo_high;
  uint32_t table;
};

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
    ranks_ = begin.ranks;
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

  // Names the first variable that only one of two ranks has. Variables come in order of their
  // names.
  Status lacks_variable(const RecordBegin& first, const RecordBegin& other, size_t index) const {
    BoundedReader a = readers_[0];
    BoundedReader b = readers_[index];
    for (uint64_t i = 0; i <= std::min(first.variables, other.variables); ++i) {
      const auto name = [i](BoundedReader* reader, const RecordBegin& begin) {
        if (i == begin.variables) return std::string();
        const std::string_view shared = reader->text(reader->take<uint64_t>());
        reader->take<OwnFields>();
        const auto parsed = parse_shared(shared);
        return parsed.ok() ? parsed->variable.name : std::string();
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
    SharedDefinition shared;
    NodeFields fields{};
    std::vector<RankBox> parts;
    parts.reserve(readers_.size());
    for (size_t i = 0; i < readers_.size(); ++i) {
      BoundedReader& reader = readers_[i];
      const std::string_view its = reader.text(reader.take<uint64_t>());
      const auto own = reader.take<OwnFields>();
      if (!reader.ok()) return fail(EINVAL, "rank %u: its definitions are cut off", numbers_[i]);
      if (i == 0) {
        first = its;
        CAIRN_TRY_ASSIGN(parsed, parse_shared(first));
        shared = std::move(parsed);
        fields.order = own.order;
      }
      if (its != first) return differs(first, its, numbers_[0], numbers_[i]);
      widen(&fields.halo_low, own.halo_low);
      widen(&fields.halo_high, own.halo_high);
      parts.push_back({numbers_[i], box_of(own, shared.array.whole.dimensions)});
    }
    auto entries = distribution_of(shared.array.kind).join(shared.array, ranks_, parts);
    if (!entries.ok())
      return annotate(entries.status(), "variable '%s'", shown_text(shared.variable.name).c_str());
    const auto [known, is_new] =
        known_.emplace(std::move(*entries), static_cast<uint32_t>(tables_.size()));
    if (is_new) tables_.push_back(&known->first);
    fields.table = known->second;
    append_text(variables, first);
    append(variables, fields);
    return Status();
  }

  static Box box_of(const OwnFields& own, unsigned dimensions) {
    Box box{dimensions, {}, {}};
    std::copy(std::begin(own.offset), std::end(own.offset), box.offset.begin());
    std::copy(std::begin(own.count), std::end(own.count), box.count.begin());
    return box;
  }

  const std::vector<uint32_t>& numbers_;
  uint32_t ranks_ = 0;  // of all nodes
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
    DistributedArray array;
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
        CAIRN_TRY_ASSIGN(parsed, parse_shared(first));
        one->variable = std::move(parsed.variable);
        one->array = std::move(parsed.array);
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

  // Returns the entries of all ranks, by ascending rank.
  [[nodiscard]] std::vector<uint8_t> entries_of(const Defined& one) const {
    const auto size = static_cast<size_t>(box_record_bytes(one.array.whole.dimensions));
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

  // Returns the hash of the variable's decomposition, which is made unless an earlier variable has
  // the same.
  Result<Sha256Hash> decompose(const Defined& one, uint32_t ranks) {
    std::vector<uint8_t> key;
    append(&key, one.array.whole.dimensions);
    append(&key, uint32_t{static_cast<uint8_t>(one.array.kind)} << 8 |
                     static_cast<uint8_t>(one.array.owner));
    for (const uint64_t extent : one.array.whole.count) append(&key, extent);
    for (const uint32_t table : one.tables) append(&key, table);
    key.insert(key.end(), one.array.arguments.begin(), one.array.arguments.end());
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
    auto made = Decomposition::make(one.array, ranks, entries_of(one));
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
