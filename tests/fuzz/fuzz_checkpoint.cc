// Records of checkpoints made of arbitrary bytes, under checksums that are right: no crash, no hang,
// and what is believed can be used. The first byte says which record it is.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "checkpoint/layout/attributes.h"
#include "checkpoint/layout/decomposition.h"
#include "checkpoint/layout/head.h"
#include "checkpoint/layout/layout.h"
#include "checkpoint/store/manifest.h"

namespace {

using namespace cairn::checkpoint;  // NOLINT(google-build-using-namespace): a program of one file

void require(bool condition) {
  if (!condition) std::abort();
}

void try_decomposition(std::vector<uint8_t> record) {
  seal_record(record.data(), record.size(), magic_decomposition);
  const auto decomposition = Decomposition::read(std::move(record));
  if (!decomposition.ok() || is_counted(decomposition->kind())) return;
  // The whole array is what the ranks have, once each.
  uint64_t elements = 0;
  decomposition->for_each_part(decomposition->whole(), [&](uint32_t rank, const Box& part) {
    require(decomposition->box_of(rank) == part);
    elements += decomposition->elements_of(rank);
  });
  if (decomposition->owner() == Owner::nobody) require(elements == volume(decomposition->whole()));
}

void try_layout(std::vector<uint8_t> record) {
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size <= sizeof(RecordHead)) return 0;
  std::vector<uint8_t> record(data + 1, data + size);
  switch (data[0] % 3) {
    case 0:
      try_decomposition(std::move(record));
      break;
    case 1:
      try_layout(std::move(record));
      break;
    default:
      try_manifest(std::move(record));
  }
  return 0;
}
