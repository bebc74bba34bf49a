// TableBlocks: where this process has found the blocks of a table (inodes, open files) mapped. They
// never move, so what was found once stays true. Two levels, the second made as it is needed.
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

  // Null: not known.
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
  std::array<std::atomic<Page*>, 512> pages_{};  // blocks beyond are looked for each time
};

}  // namespace cairn::file
