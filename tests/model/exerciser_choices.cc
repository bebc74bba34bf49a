// What the exerciser's operations are done to, drawn by lot.
#include "model/exerciser.h"

namespace cairn::test {
namespace {

void list_directories(const NodePtr& node, std::vector<NodePtr>* list) {
  list->push_back(node);
  for (const auto& [name, child] : node->entries) {
    if (child->is_directory()) list_directories(child, list);
  }
}

}  // namespace

std::vector<NodePtr> Exerciser::directories() const {
  std::vector<NodePtr> all;
  list_directories(root_, &all);
  return all;
}

NodePtr Exerciser::any_directory() {
  const std::vector<NodePtr> all = directories();
  return all[random_.below(all.size())];
}

Exerciser::Place Exerciser::any_place() {
  const uint64_t n = random_.below(14);
  std::string name = "n" + std::to_string(n);
  if (n == 0) name = std::string(255, 'x');
  if (n == 1) name = std::string(60 + random_.below(3), 'y');
  return {any_directory(), name};
}

Exerciser::Handle* Exerciser::any_handle() {
  if (handles_.empty()) open();
  return handles_.empty() || failed_ ? nullptr : &handles_[random_.below(handles_.size())];
}

uint64_t Exerciser::any_offset(const Node& node) {
  switch (random_.below(8)) {
    case 0:
    case 1:
      return random_.below(70'000);
    case 2:
      return node.bytes.size();
    case 3:
      return random_.below(node.bytes.size() + 5000);
    case 4:
      return random_.below(16) * 4096;
    case 5:
      return (1 + random_.below(4)) << 21;
    case 6:
      return (random_.below(3) << 30) + random_.below(10'000);
    default:  // far: where the map's roots change, and up to 16 TiB
      return (uint64_t{1} << (27 + random_.below(18))) - random_.below(20'000);
  }
}

uint64_t Exerciser::any_size() {
  switch (random_.below(6)) {
    case 0:
      return 1 + random_.below(100);
    case 1:
      return 4096;
    case 2:
      return 4096 * (1 + random_.below(10));
    case 3:
      return random_.one_in(20) ? (uint64_t{2} << 20) + random_.below(5000)
                                : 1 + random_.below(9000);
    default:
      return 1 + random_.below(random_.one_in(4) ? options_.most_bytes_a_write : 20'000);
  }
}

std::vector<uint8_t> Exerciser::any_bytes(uint64_t size) {
  std::vector<uint8_t> bytes(size);
  uint64_t word = random_.next() | 1;
  for (uint64_t i = 0; i < size; ++i) {
    if (i % 8 == 0) word = word * 0x5851f42d4c957f2dULL + 1;
    bytes[i] = static_cast<uint8_t>(word >> (i % 8 * 8)) | 1;
  }
  return bytes;
}

}  // namespace cairn::test
