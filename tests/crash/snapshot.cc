#include "crash/snapshot.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "file/namespace/directory.h"
#include "file/namespace/resolve.h"

namespace cairn::test {
namespace {

using file::Entry;
using file::Map;
using persist::Word;

constexpr uint64_t block_size = format::block_size;

class Reader final : public file::MapVisitor {
 public:
  Reader(const pool::Pool& pool, Item* item, std::string* trouble)
      : pool_(pool), item_(item), trouble_(trouble) {}
  bool data(Word& /*word*/, Entry entry, uint64_t file_block, uint64_t blocks) override {
    item_->mapped += blocks;
    for (uint64_t i = 0; i < blocks; ++i) {
      const uint64_t begin = (file_block + i) * block_size;
      std::string bytes(reinterpret_cast<const char*>(pool_.at(entry.block().plus(i))), block_size);
      const bool clean_tail =
          begin >= item_->size
              ? bytes.find_first_not_of('\0') == std::string::npos
              : item_->size - begin >= block_size ||
                    bytes.find_first_not_of('\0', item_->size - begin) == std::string::npos;
      if (!clean_tail)
        *trouble_ += "bytes beyond the end of file are not zero in block " +
                     std::to_string(file_block + i) + "; ";
      if (bytes.find_first_not_of('\0') != std::string::npos)
        item_->blocks[file_block + i] = std::move(bytes);
    }
    return true;
  }
  bool damage(Word& /*word*/, uint64_t file_block, unsigned /*level*/) override {
    *trouble_ += "damaged map at block " + std::to_string(file_block) + "; ";
    return true;
  }

 private:
  const pool::Pool& pool_;
  Item* item_;
  std::string* trouble_;
};

void add(file::FileSystem& fs, uint64_t number, const std::string& path, Snapshot* snapshot,
         std::string* trouble) {
  format::Inode* inode = file::inode_at(fs, number);
  if (inode == nullptr || (inode->state.load() & 7) != format::inode_live) {
    *trouble += path + ": names inode " + std::to_string(number) + ", which is not there; ";
    return;
  }
  Item item;
  item.mode = static_cast<uint32_t>(inode->mode.load());
  item.links = inode->links.load();
  item.number = number;
  item.generation = inode->generation.load();
  const Map map{inode, number};
  if (const Entry xattr{inode->xattr.load()}; xattr && fs.pool.valid(xattr.block()))
    item.attributes.assign(reinterpret_cast<const char*>(fs.pool.at(xattr.block())), block_size);
  if (S_ISREG(item.mode)) {
    item.size = inode->size.load();
    item.lazy = (inode->flags.load() & format::flag_lazy) != 0;
    item.synced = inode->file.synced_size.load();
    Reader reader(fs.pool, &item, trouble);
    file::visit_map(fs.pool, map, 0, file::max_file_blocks, reader);
  } else if (S_ISLNK(item.mode)) {
    auto text = file::link_text(fs, map);
    if (text.ok())
      item.target = *text;
    else
      *trouble += path + ": " + last_detail() + "; ";
  }
  (*snapshot)[path] = std::move(item);
  if (!S_ISDIR(inode->mode.load())) return;
  std::vector<file::Listed> batch(32);
  for (uint64_t cookie = 0;;) {
    auto n = file::list_names_unlocked(fs, map, cookie, batch.data(), batch.size(), false);
    if (!n.ok()) {
      *trouble += path + ": " + last_detail() + "; ";
      return;
    }
    if (*n == 0) return;
    for (size_t i = 0; i < *n; ++i)
      add(fs, batch[i].inode, path + "/" + std::string(batch[i].name, batch[i].length), snapshot,
          trouble);
    cookie = batch[*n - 1].cookie;
  }
}

std::string at(const Item& item, uint64_t block) {
  const auto it = item.blocks.find(block);
  return it == item.blocks.end() ? std::string(block_size, '\0') : it->second;
}

std::string differing(const std::string& path, const Item& a, const Item& b) {
  std::string text = path + ":";
  if (a.mode != b.mode) text += " mode";
  if (a.links != b.links)
    text += " links " + std::to_string(a.links) + " not " + std::to_string(b.links);
  if (a.size != b.size)
    text += " size " + std::to_string(a.size) + " not " + std::to_string(b.size);
  if (a.mapped != b.mapped)
    text += " mapped " + std::to_string(a.mapped) + " not " + std::to_string(b.mapped);
  if (a.blocks != b.blocks) text += " bytes";
  if (a.target != b.target) text += " target";
  if (a.attributes != b.attributes) text += " attributes";
  return text + "; ";
}

}  // namespace

Snapshot take_snapshot(file::FileSystem& fs, uint64_t number, std::string* trouble) {
  Snapshot snapshot;
  add(fs, number, "", &snapshot, trouble);
  return snapshot;
}

std::map<std::string, uint64_t> take_times(file::FileSystem& fs) {
  std::map<std::string, uint64_t> times;
  const uint64_t numbers = fs.pool.state->itable_blocks.load() * format::inodes_per_block;
  for (uint64_t n = format::root_inode; n < numbers; ++n) {
    const format::Inode* inode = file::inode_at(fs, n);
    if (inode != nullptr && (inode->state.load() & 7) == format::inode_live)
      times[std::to_string(n)] = inode->mtime.load();
  }
  return times;
}

std::string difference(const Snapshot& found, const Snapshot& expected) {
  std::string text;
  for (const auto& [path, item] : expected) {
    const auto it = found.find(path);
    if (it == found.end())
      text += path + ": missing; ";
    else if (!(it->second == item))
      text += differing(path, it->second, item);
  }
  for (const auto& [path, item] : found) {
    if (expected.count(path) == 0) text += path + ": should not be there; ";
  }
  return text;
}

std::string torn_difference(const Snapshot& found, const Snapshot& before, const Snapshot& after) {
  std::string text;
  Snapshot rest = found;
  Snapshot old = before;
  for (const auto& [path, item] : after) {
    // One that the operation made on the way: empty at first.
    if (before.count(path) != 0 || found.count(path) == 0) continue;
    old[path] = Item{item.mode, item.links, 0, 0, {}, {}, {}};
  }
  for (const auto& [path, old_item] : old) {
    const auto a = after.find(path);
    const auto f = rest.find(path);
    if (a == after.end() || f == rest.end() || a->second == old_item) continue;
    // One that the operation changed; everything else is compared whole below.
    const Item& item = f->second;
    const Item& new_item = a->second;
    // An extending write may have got part of the way.
    const auto [low, high] = std::minmax(old_item.size, new_item.size);
    if (item.size < low || item.size > high)
      text += path + ": size " + std::to_string(item.size) + "; ";
    for (const auto* source : {&old_item, &new_item, &item}) {
      for (const auto& [block, bytes] : source->blocks) {
        const std::string is = at(item, block);
        const std::string was = at(old_item, block);
        const std::string will = at(new_item, block);
        for (uint64_t i = 0; i < block_size; ++i) {
          const uint64_t offset = block * block_size + i;
          const bool beyond = offset >= item.size;
          // What extends a file is there before its size says so.
          const bool extended = !beyond && offset >= old_item.size;
          if ((is[i] != was[i] || extended) && is[i] != will[i] && !(beyond && is[i] == '\0')) {
            text += path + ": foreign bytes in block " + std::to_string(block) + " at " +
                    std::to_string(i) + "; ";
            break;
          }
        }
      }
    }
    f->second = old_item;
  }
  return text + difference(rest, old);
}

std::string unsynced_difference(const Snapshot& found, const Snapshot& before,
                                const Snapshot& after, const std::vector<const Snapshot*>& past,
                                bool detaching) {
  const auto without_bytes = [](Snapshot snapshot) {
    for (auto& [path, item] : snapshot) {
      item.size = item.mapped = 0;
      item.blocks.clear();
    }
    return snapshot;
  };
  const Snapshot names = without_bytes(found);
  const std::string old_names = difference(names, without_bytes(before));
  const std::string new_names = difference(names, without_bytes(after));
  if (!old_names.empty() && !new_names.empty())
    return "neither {" + old_names + "} nor {" + new_names + "}";
  std::string text;
  static const Item nothing;
  for (const auto& [path, item] : found) {
    const auto a = before.find(path);
    const auto b = after.find(path);
    const Item& one = a != before.end() ? a->second : nothing;
    const Item& other = b != after.end() ? b->second : nothing;
    const bool synced = item.size == one.synced || item.size == other.synced;
    if (S_ISREG(item.mode) && !synced && !(detaching && item.size == one.size))
      text += path + ": size " + std::to_string(item.size) + ", not " + std::to_string(one.synced) +
              " or " + std::to_string(other.synced) + "; ";
    std::vector<const Item*> earlier;
    for (const Snapshot* snapshot : past) {
      for (const auto& [name, was] : *snapshot) {
        if (was.number == item.number && was.generation == item.generation) earlier.push_back(&was);
      }
    }
    for (const auto& [block, bytes] : item.blocks) {
      std::vector<std::string> were;
      for (const Item* was : earlier) were.push_back(at(*was, block));
      for (uint64_t i = 0; i < block_size; ++i) {
        const char is = bytes[i];
        const auto was_so = [is, i](const std::string& was) { return was[i] == is; };
        if (is == '\0' || std::any_of(were.begin(), were.end(), was_so)) continue;
        text += path + ": foreign bytes in block " + std::to_string(block) + " at " +
                std::to_string(i) + "; ";
        break;
      }
    }
  }
  return text;
}

}  // namespace cairn::test
