#include "model/model.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace cairn::test {

void Bytes::write(uint64_t offset, const uint8_t* data, uint64_t size) {
  for (uint64_t done = 0; done < size;) {
    const uint64_t at = (offset + done) % block_size;
    const uint64_t n = std::min(size - done, block_size - at);
    auto [block, fresh] = block_.try_emplace((offset + done) / block_size);
    if (fresh) block->second.fill(0);
    std::memcpy(block->second.data() + at, data + done, n);
    done += n;
  }
  if (size != 0) extend(offset + size);
}

void Bytes::zero(uint64_t offset, uint64_t size) {
  const uint64_t end = offset + size;
  for (auto it = block_.lower_bound(offset / block_size);
       it != block_.end() && it->first * block_size < end;) {
    const uint64_t begin = it->first * block_size;
    const uint64_t from = std::max(offset, begin) - begin;
    const uint64_t to = std::min(end, begin + block_size) - begin;
    if (from == 0 && to == block_size) {
      it = block_.erase(it);
      continue;
    }
    std::memset(it->second.data() + from, 0, to - from);
    ++it;
  }
}

void Bytes::resize(uint64_t size) {
  if (size < size_) zero(size, UINT64_MAX / 2 - size);
  size_ = size;
}

std::vector<uint8_t> Bytes::read(uint64_t offset, uint64_t size) const {
  if (size == 0 || offset >= size_) return {};
  std::vector<uint8_t> result(std::min(size, size_ - offset), 0);
  const uint64_t end = offset + result.size();
  for (auto it = block_.lower_bound(offset / block_size);
       it != block_.end() && it->first * block_size < end; ++it) {
    const uint64_t begin = it->first * block_size;
    const uint64_t from = std::max(offset, begin);
    const uint64_t to = std::min(end, begin + block_size);
    std::memcpy(result.data() + (from - offset), it->second.data() + (from - begin), to - from);
  }
  return result;
}

bool Bytes::is_zero(uint64_t offset, uint64_t size) const {
  const uint64_t end = offset + size;
  for (auto it = block_.lower_bound(offset / block_size);
       it != block_.end() && it->first * block_size < end; ++it) {
    const uint64_t begin = it->first * block_size;
    const uint8_t* first = it->second.data() + (std::max(offset, begin) - begin);
    const uint8_t* last = it->second.data() + (std::min(end, begin + block_size) - begin);
    if (std::any_of(first, last, [](uint8_t b) { return b != 0; })) return false;
  }
  return true;
}

std::vector<uint64_t> Bytes::blocks() const {
  std::vector<uint64_t> offsets;
  for (const auto& [number, block] : block_) offsets.push_back(number * block_size);
  return offsets;
}

NodePtr make_node(uint32_t type, uint32_t mode) {
  auto node = std::make_shared<Node>();
  node->type = type;
  node->mode = mode;
  node->links = type == S_IFDIR ? 2 : 1;
  return node;
}

bool is_below(const Node* directory, const Node* ancestor) {
  for (; directory != nullptr; directory = directory->parent) {
    if (directory == ancestor) return true;
  }
  return false;
}

namespace {

void move_directory(Node& node, Node& from, Node& to) {
  if (!node.is_directory()) return;
  --from.links;
  ++to.links;
  node.parent = &to;
}

}  // namespace

int model_rename(Node& from, const std::string& old_name, Node& to, const std::string& new_name,
                 unsigned flags) {
  const auto source = from.entries.find(old_name);
  if (source == from.entries.end()) return ENOENT;
  const NodePtr moved = source->second;
  const auto target = to.entries.find(new_name);
  const NodePtr other = target == to.entries.end() ? nullptr : target->second;
  if (other != nullptr && flags == 1) return EEXIST;
  if (other == nullptr && flags == 2) return ENOENT;
  if (other == moved) return 0;
  if (moved->is_directory() && is_below(&to, moved.get())) return EINVAL;
  if (flags == 2) {
    if (other->is_directory() && is_below(&from, other.get())) return EINVAL;
    if (&from != &to) {
      move_directory(*moved, from, to);
      move_directory(*other, to, from);
    }
    source->second = other;
    target->second = moved;
    return 0;
  }
  if (other != nullptr) {
    if (other->is_directory() && is_below(&from, other.get())) return ENOTEMPTY;
    if (moved->is_directory() && !other->is_directory()) return ENOTDIR;
    if (!moved->is_directory() && other->is_directory()) return EISDIR;
    if (!other->entries.empty()) return ENOTEMPTY;
    if (other->is_directory()) {
      --to.links;
      other->links = 0;
    } else {
      --other->links;
    }
  }
  move_directory(*moved, from, to);
  from.entries.erase(source);
  to.entries[new_name] = moved;
  return 0;
}

}  // namespace cairn::test
