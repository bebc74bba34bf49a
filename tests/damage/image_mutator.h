// Structure-aware damage: changes fields of superblock, state, lanes, redo records, inodes, entries
// and directory slots, and makes checksums right again where there are any.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/crc32c.h"
#include "format/dirent.h"
#include "format/lane.h"
#include "format/layout.h"

namespace cairn::test {

// A script is a row of 12-byte steps: kind, where, what.
class ImageMutator {
 public:
  // `image` is segment 0.
  explicit ImageMutator(std::vector<uint8_t>& image, uint32_t lanes)
      : image_(image),
        lanes_(lanes),
        layout_(format::layout_of(image.size() / format::block_size, lanes)) {}

  void apply(const uint8_t* script, size_t size) {
    constexpr size_t step = 12;
    for (size_t i = 0; i + step <= size && i < 16 * step; i += step) {
      uint16_t where;
      uint64_t value;
      std::memcpy(&where, script + i + 2, sizeof where);
      std::memcpy(&value, script + i + 4, sizeof value);
      change(script[i], script[i + 1], where, value);
    }
    mend();
  }

 private:
  void set(uint64_t offset, uint8_t how, uint64_t value) {
    if (offset + 8 > image_.size()) return;
    uint64_t word;
    std::memcpy(&word, image_.data() + offset, 8);
    switch (how % 6) {
      case 0:
        word = value;
        break;
      case 1:
        word ^= uint64_t{1} << (value % 64);
        break;
      case 2:
        word += value % 1024;
        break;
      case 3:
        word -= value % 1024;
        break;
      case 4:
        word = word == 0 ? value % 4096 : 0;
        break;
      default:
        std::memcpy(&word, image_.data() + value % (image_.size() / 8) * 8, 8);
        break;
    }
    std::memcpy(image_.data() + offset, &word, 8);
  }
  void change(uint8_t kind, uint8_t how, uint16_t where, uint64_t value) {
    const uint64_t data = layout_.data_start * format::block_size;
    switch (kind % 9) {
      case 0:
        set(where % 100 * 8, how, value);
        break;
      case 1:
        set(format::state_block * format::block_size + where % 512 * 8, how, value);
        break;
      case 2:
        set(format::lanes_block * format::block_size +
                where * 8ULL % (lanes_ * sizeof(format::Lane)),
            how, value);
        break;
      case 3:
        make_redo(where, how, value);
        break;
      case 8:
        lie(where, how, value);
        break;
      case 4:  // the chunk table and the records
        set(layout_.chunk_table + where * 8ULL, how, value);
        break;
      case 5:
        set(layout_.records + data / 256 + where % 4096 * 8ULL, how, value);
        break;
      default:  // the blocks that are in use: inodes, nodes, directory slots, attributes
        set(data + 64 * format::block_size + where * 8ULL % (48 * format::block_size), how, value);
        break;
    }
  }
  // A redo record with a right checksum that stores `value` somewhere.
  void make_redo(uint16_t where, uint8_t how, uint64_t value) {
    const uint64_t seat = format::lanes_block * format::block_size +
                          where % lanes_ * sizeof(format::Lane) + offsetof(format::Lane, seat);
    const uint64_t redo = seat + offsetof(format::Seat, redo);
    const uint64_t count = 1 + how % 3;
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t address =
          i == 0 && how % 5 == 0 ? value : (value >> 8) % (image_.size() / 8) * 8;
      set(redo + 16 + i * 16, 0, address);
      set(redo + 24 + i * 16, 0, value * (i + 1));
    }
    const uint32_t sum =
        crc32c(static_cast<uint32_t>(count), image_.data() + redo + 16, count * 16);
    set(redo, 0, count | uint64_t{sum} << 32);
  }
  // A directory's slot says something that no call makes it say: a name that no file can have,
  // another inode (so that directories run in circles), a name that was removed.
  void lie(uint16_t where, uint8_t how, uint64_t value) {
    const uint64_t begin = (layout_.data_start + 64) * format::block_size;
    const uint64_t end = std::min<uint64_t>(begin + 48 * format::block_size, image_.size());
    std::vector<uint64_t> slots;
    for (uint64_t at = begin; at + format::unit_size <= end; at += format::unit_size) {
      uint64_t head;
      std::memcpy(&head, image_.data() + at, sizeof head);
      const unsigned units = format::dirent_units(head);
      constexpr uint64_t flags = format::dirent_live | format::dirent_slot;
      if ((head & flags) == flags && head >> 52 == 0 && units >= 1 && units <= format::max_units &&
          format::dirent_length(head) != 0)
        slots.push_back(at);
    }
    if (slots.empty()) return;
    const uint64_t slot = slots[where % slots.size()];
    uint64_t head;
    std::memcpy(&head, image_.data() + slot, sizeof head);
    const unsigned length = format::dirent_length(head);
    uint8_t* name = image_.data() + slot + format::dirent_name_offset(head);
    switch (how % 5) {
      case 0:
        name[value % std::min(length, 8U)] = static_cast<uint8_t>("/\0."[value >> 8 & 3]);
        break;
      case 1:
        set(slot + offsetof(format::Dirent, inode), 0, value % 64);
        break;
      case 2:  // a length with which it runs over its slot, or over nothing
        set(slot, 0, (head & ~(uint64_t{0xff} << 32)) | (value & 0xff) << 32);
        break;
      case 3:
        set(slot, 1, 49);  // dirent_whiteout
        break;
      default:
        set(slot + offsetof(format::Dirent, next), 0, value % 256);
        break;
    }
  }
  void mend() {
    for (uint64_t copy : {format::superblock_a_block, format::superblock_b_block}) {
      uint8_t* block = image_.data() + copy * format::block_size;
      if (copy == 1) std::memcpy(block, image_.data(), format::block_size);
      const uint64_t sum = crc32c(0, block, format::block_size - 8);
      std::memcpy(block + format::block_size - 8, &sum, 8);
    }
  }

  std::vector<uint8_t>& image_;
  uint32_t lanes_;
  format::SegmentLayout layout_;
};

}  // namespace cairn::test
