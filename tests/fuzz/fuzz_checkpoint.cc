// Records of checkpoints made of arbitrary bytes, under checksums that are right: no crash, no
// hang, and what is believed can be used. The first byte says which record it is. Records without a
// checksum are made as they should be and then changed at places that the bytes say.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "checkpoint/array/decomposition.h"
#include "checkpoint/define/definitions_record.h"
#include "checkpoint/layout/layout.h"
#include "checkpoint/layout/packing.h"
#include "checkpoint/record/attributes.h"
#include "checkpoint/record/head.h"
#include "checkpoint/restart/directory.h"
#include "checkpoint/store/manifest.h"
#include "checkpoint/versions/merged_inventory.h"

namespace {

using namespace cairn::checkpoint;  // NOLINT(google-build-using-namespace): a program of one file

void require(bool condition) {
  if (!condition) std::abort();
}

void try_decomposition(std::vector<uint8_t> record) {
  if (record.size() < sizeof(RecordHead)) return;
  seal_record(record.data(), record.size(), magic_decomposition);
  const auto decomposition = Decomposition::read(std::move(record));
  if (!decomposition.ok() || is_counted(decomposition->kind())) return;
  if (decomposition->ranks() > 65536) return;  // to list them takes long
  // The whole array is what the ranks have, once each.
  uint64_t elements = 0;
  for (const uint32_t rank : decomposition->holders_of(section_of(decomposition->whole()))) {
    require(!is_empty(decomposition->section_of(rank)));
    elements += decomposition->elements_of(rank);
  }
  if (decomposition->owner() == Owner::nobody) require(elements == volume(decomposition->whole()));
}

void try_layout(std::vector<uint8_t> record) {
  if (record.size() < sizeof(RecordHead)) return;
  seal_record(record.data(), record.size(), magic_layout);
  const auto layout = Layout::read(std::move(record));
  if (!layout.ok()) return;
  for (uint32_t i = 0; i < layout->variables(); ++i) {
    const Variable variable = layout->variable(i);
    require(layout->find(variable.name) == i);
    require(check_attributes(variable.attributes).ok());
  }
}

void try_manifest(std::vector<uint8_t> bytes) {
  if (bytes.size() < sizeof(VersionRecord)) return;
  seal_record(bytes.data(), sizeof(VersionRecord), magic_version);
  const auto version = read_version(bytes.data(), bytes.size());
  if (!version.ok() || version->manifest_length > bytes.size()) return;
  for (uint32_t i = 0; i < version->part_ranks; ++i) {
    auto root = record_at<RootRecord>(bytes.data() + roots_offset + sizeof(RootRecord) * i);
    seal_root(&root);
    std::memcpy(bytes.data() + roots_offset + sizeof(RootRecord) * i, &root, sizeof root);
  }
  for (uint32_t i = 0; i < version->parts; ++i) {
    uint8_t* at = bytes.data() + version->parts_offset + sizeof(PartRecord) * i;
    auto part = record_at<PartRecord>(at);
    seal_part(&part);
    std::memcpy(at, &part, sizeof part);
  }
  const auto manifest = Manifest::read(std::move(bytes));
  if (!manifest.ok()) return;
  for (uint32_t i = 0; i < manifest->version().part_ranks; ++i)
    require(manifest->root(i).rank < manifest->version().ranks);
}

// Changes of `record`: for each two bytes that say where, one that says what. Its length may
// change, too.
std::vector<uint8_t> changed(std::vector<uint8_t> record, const std::vector<uint8_t>& changes) {
  for (size_t i = 0; i + 3 <= changes.size(); i += 3) {
    const size_t at = changes[i] | size_t{changes[i + 1]} << 8;
    if (at < record.size()) record[at] = changes[i + 2];
    if (at == 0xffff) record.resize(std::min<size_t>(record.size(), changes[i + 2]));
  }
  return record;
}

constexpr uint32_t ranks = 2;

Definition definition_of(DecompositionKind kind, Type type, const char* over, const char* key) {
  ArrayShape shape;
  shape.type = type;
  const bool is_grid = kind == DecompositionKind::boxes;
  shape.dimensions = is_grid ? 2 : 1;
  shape.extent = {is_grid ? 4 : 100, 5};
  const auto view = ArrayView::make(shape);
  require(view.ok());
  Definition definition;
  definition.kind = kind;
  definition.place.view = *view;
  definition.over = over;
  definition.key = key;
  if (is_grid) definition.whole = whole_of(2, {4 * ranks, 5});
  return definition;
}

// Counts of a grid, lists of values for its cells, particles with and without them, and data of a
// rank.
std::vector<uint8_t> definitions_of(uint32_t rank) {
  using Kind = DecompositionKind;
  Definitions definitions;
  const auto put = [&](const char* name, Definition definition) {
    require(check_definition(name, &definition).ok());
    definitions.put(name, std::move(definition));
  };
  Definition grid = definition_of(Kind::boxes, Type::int32, "", "");
  grid.box.offset = {uint64_t{4} * rank, 0};
  put("counts", std::move(grid));
  put("values", definition_of(Kind::ragged, Type::float64, "counts", ""));
  put("cell", definition_of(Kind::particles, Type::int64, "counts", ""));
  put("mass", definition_of(Kind::particles, Type::float32, "counts", "cell"));
  put("plain", definition_of(Kind::particles, Type::float64, "", ""));
  put("own", definition_of(Kind::per_rank, Type::int16, "", ""));
  return encode_definitions(definitions, {ranks, 20});
}

// What ranks tell their node, or nodes each other.
void try_definitions(const std::vector<uint8_t>& changes, bool is_of_nodes) {
  std::vector<std::vector<uint8_t>> of_nodes;
  for (uint32_t node = 0; node < ranks; ++node) {
    const bool is_changed = node == ranks - 1;
    std::vector<uint8_t> own = definitions_of(node);
    if (is_changed && !is_of_nodes) own = changed(std::move(own), changes);
    auto joined = join_ranks({own}, {node});
    if (!joined.ok()) return;
    of_nodes.push_back(is_changed && is_of_nodes ? changed(std::move(*joined), changes)
                                                 : std::move(*joined));
  }
  const auto contents = join_nodes(of_nodes);
  if (!contents.ok()) return;
  require(changes.size() > 2 || contents->has_counted());
  for (uint32_t rank = 0; rank < contents->layout().ranks() && rank < 64; ++rank)
    pack_region(*contents, rank).status().ignore();
}

void try_directory(const std::vector<uint8_t>& changes) {
  const auto first = join_ranks({definitions_of(0)}, {0});
  const auto second = join_ranks({definitions_of(1)}, {1});
  require(first.ok() && second.ok());
  const auto contents = join_nodes({*first, *second});
  require(contents.ok());
  // As a rank writes it.
  std::vector<Piece> pieces;
  std::vector<DirectoryRecord> entries;
  for (uint32_t i = 0; i < contents->layout().variables(); ++i) {
    const Variable variable = contents->layout().variable(i);
    if (!is_counted(contents->decomposition_of(variable).kind())) continue;
    const uint64_t elements = 10 + i;
    entries.push_back({i, 0, elements, 0, elements * variable.element_size});
    pieces.push_back({i, 0, entries.back().bytes});
  }
  const auto packed = pack(contents->layout(), pieces, directory_bytes(*contents));
  require(packed.ok());
  for (const Piece& piece : packed->pieces)
    for (DirectoryRecord& entry : entries)
      if (entry.variable == piece.variable) entry.offset = piece.offset;
  std::vector<uint8_t> bytes(entries.size() * sizeof(DirectoryRecord));
  std::memcpy(bytes.data(), entries.data(), bytes.size());
  // Before them, how long the extent is.
  uint64_t extent = packed->bytes;
  for (size_t i = 0; i < sizeof extent && i < changes.size(); ++i)
    extent ^= uint64_t{changes[i]} << (8 * i);
  const std::vector<uint8_t> rest(
      changes.begin() + static_cast<ptrdiff_t>(std::min<size_t>(sizeof extent, changes.size())),
      changes.end());
  const auto directory = read_directory(*contents, changed(std::move(bytes), rest), extent, 0);
  if (!directory.ok()) return;
  for (const DirectoryRecord& entry : *directory) {
    const Variable variable = contents->layout().variable(entry.variable);
    require(entry.bytes == entry.elements * variable.element_size);
    require(entry.bytes <= extent);
    require(entry.bytes == 0 || entry.offset <= extent - entry.bytes);
  }
}

// What a node tells of its versions.
void try_inventory(const std::vector<uint8_t>& changes) {
  NodeInventory inventory;
  for (const uint64_t sequence : {5, 6}) {
    InventoryPart part;
    part.version.sequence = sequence;
    part.version.ranks = part.version.parts = 2;
    part.version.part_ranks = 1;
    part.is_committed = true;
    require(seal_version(&part.version).ok());
    inventory.parts.push_back(part);
  }
  inventory.damaged = {{"slot-0001.data: is missing", 0}};
  const auto told = decode_inventory(changed(encode_inventory(inventory), changes));
  if (!told.ok()) return;
  // Under a checksum that is right.
  NodeInventory forged = inventory;
  auto* const at = reinterpret_cast<uint8_t*>(&forged.parts[0].version);
  const std::vector<uint8_t> version = changed({at, at + sizeof forged.parts[0].version}, changes);
  if (version.size() != sizeof forged.parts[0].version) return;
  forged.parts[0].version = record_at<VersionRecord>(version.data());
  seal_record(&forged.parts[0].version, sizeof forged.parts[0].version, magic_version);
  std::vector<NodeInventory> nodes = {inventory, *told};
  const auto believed = decode_inventory(encode_inventory(forged));
  if (believed.ok()) nodes.push_back(*believed);
  for (const KnownVersion& known : join_versions(nodes, 0))
    require(known.holders.size() == known.version.parts);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::vector<uint8_t> record(data + 1, data + size);
  switch (data[0] % 7) {
    case 0:
      try_decomposition(std::move(record));
      break;
    case 1:
      try_layout(std::move(record));
      break;
    case 2:
      try_directory(record);
      break;
    case 3:
      try_definitions(record, false);
      break;
    case 4:
      try_definitions(record, true);
      break;
    case 5:
      try_inventory(record);
      break;
    default:
      try_manifest(std::move(record));
  }
  return 0;
}
