// Forge: writes lies into the directories of a sound pool, as somebody can who has it attached.
// Each is consistent with what surrounds it: the hash is right, and the index leads to the name.
#pragma once

#include <sys/stat.h>

#include <cstdlib>
#include <string>

#include "capi/core/handles.h"
#include "file/namespace/directory.h"
#include "file/namespace/directory_slots.h"
#include "pool/lanes/seats.h"

namespace cairn::test {

class Forge {
 public:
  explicit Forge(cairn_pool* pool) : fs_(capi::fs_of(pool)), pool_(fs_.pool) {}

  // The name is these bytes from now on. They must not be longer than what its slot has room for.
  void name(cairn_ino directory, const std::string& before, const std::string& after) {
    const file::Map map = map_of(directory);
    const file::DirentSlot slot = find(map, before);
    unlink(map, slot, file::make_name(before.data(), before.size())->hash);
    const file::Name name = *file::make_name(after.data(), after.size());
    uint64_t head = slot.head & ~uint64_t{0xff'ffff'ffff};
    head |= name.hash | static_cast<uint64_t>(after.size()) << 32;
    if (!file::slots::fits_slot(head)) std::abort();
    const WriteWindow window;
    pool::Segment& segment = pool_.segment_of(slot.dirent);
    if (!segment.region
             .copy(pool::Pool::offset_in(segment, slot.dirent) + format::dirent_name_offset(head),
                   after.data(), after.size())
             .ok())
      std::abort();
    pool_.store(slot.dirent->head, head);
    link(map, slot, name.hash);
  }
  // The name leads to that inode.
  void inode(cairn_ino directory, const std::string& text, cairn_ino number) {
    const file::DirentSlot slot = find(map_of(directory), text);
    const WriteWindow window;
    pool_.store(slot.dirent->inode, number);
    if (const file::Inode* to = file::inode_at(fs_, number); to != nullptr)
      set_type(slot, static_cast<unsigned>(to->mode.load() & S_IFMT) >> 12);
  }
  void type(cairn_ino directory, const std::string& text, unsigned type) {
    const WriteWindow window;
    set_type(find(map_of(directory), text), type);
  }
  // The file is a device, /dev/null for one.
  void device(cairn_ino directory, const std::string& text, uint64_t device) {
    const file::DirentSlot slot = find(map_of(directory), text);
    const file::Map map = map_of(slot.inode);
    const WriteWindow window;
    pool_.store(map.inode->mode, (map.inode->mode.load() & ~uint64_t{S_IFMT}) | S_IFCHR);
    pool_.store(map.inode->rdev, device);
    set_type(slot, S_IFCHR >> 12);
  }
  // The name was removed.
  void whiteout(cairn_ino directory, const std::string& text) {
    const file::Map map = map_of(directory);
    const file::DirentSlot slot = find(map, text);
    const WriteWindow window;
    pool_.store(slot.dirent->head, slot.head | format::dirent_whiteout);
    pool_.store(slot.dirent->inode, 0);
    pool_.store(map.inode->directory.entries, map.inode->directory.entries.load() - 1);
  }
  void parent(cairn_ino directory, cairn_ino parent) {
    const WriteWindow window;
    pool_.store(map_of(directory).inode->directory.parent, parent);
  }
  // The name's length is another one; nothing else of it changes.
  void length(cairn_ino directory, const std::string& text, unsigned length) {
    const file::DirentSlot slot = find(map_of(directory), text);
    const WriteWindow window;
    pool_.store(slot.dirent->head,
                (slot.head & ~(uint64_t{0xff} << 32)) | static_cast<uint64_t>(length) << 32);
  }
  // The index does not lead to the name.
  void forget(cairn_ino directory, const std::string& text) {
    const file::Map map = map_of(directory);
    unlink(map, find(map, text), file::make_name(text.data(), text.size())->hash);
  }
  void link_text(cairn_ino link, const std::string& text) {
    const file::Map map = map_of(link);
    const WriteWindow window;
    pool::Segment& segment = pool_.segment_of(map.inode);
    if (!segment.region
             .copy(static_cast<uint64_t>(map.inode->text - segment.base), text.data(), text.size())
             .ok())
      std::abort();
    pool_.store(map.inode->size, text.size());
  }
  uint64_t unit(cairn_ino directory, const std::string& text) {
    return find(map_of(directory), text).unit;
  }

 private:
  file::Map map_of(cairn_ino number) {
    file::Inode* inode = file::inode_at(fs_, number);
    if (inode == nullptr) std::abort();
    return {inode, number};
  }
  file::DirentSlot find(const file::Map& map, const std::string& text) {
    const pool::SeatGuard seat(pool_);
    const auto slot = file::find_name(fs_, map, *file::make_name(text.data(), text.size()), true);
    if (!slot.ok()) std::abort();
    return *slot;
  }
  persist::Word* bucket(const file::Map& map, uint32_t hash) {
    return file::slots::bucket_word(
        fs_, map, file::slots::bucket_of(hash, map.inode->directory.buckets.load()));
  }
  void unlink(const file::Map& map, const file::DirentSlot& slot, uint32_t hash) {
    const WriteWindow window;
    persist::Word* link = bucket(map, hash);
    while (link->load() != slot.unit + 1)
      link = &file::slots::dirent_at(fs_, map, link->load() - 1)->next;
    pool_.store(*link, slot.dirent->next.load());
  }
  void link(const file::Map& map, const file::DirentSlot& slot, uint32_t hash) {
    persist::Word* first = bucket(map, hash);
    pool_.store(slot.dirent->next, first->load());
    pool_.store(*first, slot.unit + 1);
  }
  void set_type(const file::DirentSlot& slot, unsigned type) {
    pool_.store(slot.dirent->head,
                (slot.dirent->head.load() & ~(uint64_t{0xf} << 40)) | uint64_t{type} << 40);
  }

  file::FileSystem& fs_;
  pool::Pool& pool_;
};

}  // namespace cairn::test
