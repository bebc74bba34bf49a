// TableBlocks: a cache of the table blocks (inodes, open files) that this process has found mapped.
// Table blocks never move, so a cached address stays valid. The cache has two levels; the second is
// allocated as needed.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

namespace cairn::file {

class TableBlocks {
 public:
  TableBlocks() = default;
  TableBlocks(const TableBlocks&) = delete;
  TableBlocks& operator=(const TableBlocks&) = delete;
  ~TableBlocks() {
    for (auto& page : pages_) delete page.load();
  }

  // Returns null if the block is not cached.
  [[nodiscard]] uint8_t* find(uint64_t block) const {
    if (block >= page_size * pages_.size()) [[unlikely]]
      return nullptr;
    const Page* page = pages_[block / page_size].load(std::memory_order_acquire);
    return page == nullptr ? nullptr : (*page)[block % page_size].load(std::memory_order_acquire);
  }

  void remember(uint64_t block, uint8_t* place) {
    if (block >= page_size * pages_.size()) return;
    auto& slot = pages_[block / page_size];
    Page* page = slot.load(std::memory_order_acquire);
    if (page == nullptr) {
      auto fresh = std::make_unique<Page>();
      if (slot.compare_exchange_strong(page, fresh.get())) page = fresh.release();
    }
    (*page)[block % page_size].store(place, std::memory_order_release);
  }

 private:
  static constexpr uint64_t page_size = 512;
  using Page = std::array<std::atomic<uint8_t*>, page_size>;
  std::array<std::atomic<Page*>, 512> pages_{};  // blocks beyond these are looked up each time
};

}  // namespace cairn::file
