#include "checkpoint/sources/part_reader.h"

#include <algorithm>
#include <cstring>

#include "base/crc32c_bulk.h"
#include "checkpoint/layout/checksum_list.h"
#include "file/data/io.h"

namespace cairn::checkpoint {
namespace {

constexpr uint64_t most_held = uint64_t{64} << 20;

class LocalPart : public PartReader {
 public:
  LocalPart(Slot* slot, uint64_t block_bytes) : slot_(*slot), block_bytes_(block_bytes) {}

  Status verify(const Area& area, const std::vector<Blocks>& blocks) override {
    const CheckedFile data = in_pool(slot_.data_file(), data_name(slot_.ids().number));
    CAIRN_TRY_ASSIGN(
        list, read_list(data, area.offset, area.bytes, block_bytes_, area.list_crc, area.rank));
    return check_blocks(data, area.offset, area.bytes, block_bytes_, list, blocks, area.rank);
  }
  Status read(const Area& area, uint64_t at, uint8_t* to, uint64_t size) override {
    CAIRN_TRY_ASSIGN(
        got, file::read_at(slot_.data_file(), to, static_cast<size_t>(size), area.offset + at));
    return got == size
               ? Status()
               : fail(EIO, "%s: cut off while it was read", data_name(slot_.ids().number).c_str());
  }

 private:
  Slot& slot_;
  uint64_t block_bytes_;
};

class RemotePart : public PartReader {
 public:
  RemotePart(const PartClient& client, uint64_t sequence, uint64_t block_bytes, BlockCache* cache)
      : client_(client), sequence_(sequence), block_bytes_(block_bytes), cache_(*cache) {}

  Status verify(const Area& area, const std::vector<Blocks>& blocks) override {
    return client_.check_blocks(
        sequence_, {area.rank, area.list_crc, area.offset, area.bytes, block_bytes_}, blocks);
  }
  Status read(const Area& area, uint64_t at, uint8_t* to, uint64_t size) override {
    while (size != 0) {
      CAIRN_TRY_ASSIGN(block, fetch(area, at / block_bytes_));
      const uint64_t from = at % block_bytes_;
      if (from >= block->size()) return fail(EIO, "%s: cut off", client_.name().c_str());
      const uint64_t n = std::min<uint64_t>(size, block->size() - from);
      std::memcpy(to, block->data() + from, static_cast<size_t>(n));
      at += n;
      to += n;
      size -= n;
    }
    return Status();
  }

 private:
  Result<const std::vector<uint8_t>*> fetch(const Area& area, uint64_t block) {
    const BlockCache::Key key{area.rank, area.is_extent, block};
    if (const auto* held = cache_.find(key)) return held;
    CAIRN_TRY_ASSIGN(list, list_of(area));
    const uint64_t begin = block * block_bytes_;
    if (block >= list->size() || begin >= area.bytes)
      return fail(EIO, "%s: has no block %llu of rank %u", client_.name().c_str(),
                  static_cast<unsigned long long>(block), area.rank);
    std::vector<uint8_t> bytes(static_cast<size_t>(std::min(block_bytes_, area.bytes - begin)));
    CAIRN_TRY(client_.read_data(sequence_, area.offset + begin, bytes.data(), bytes.size()));
    if (crc32c_bulk(0, bytes.data(), bytes.size()) != (*list)[static_cast<size_t>(block)])
      return fail(EIO, "%s: block %llu of rank %u changed on the way", client_.name().c_str(),
                  static_cast<unsigned long long>(block), area.rank);
    return cache_.put(key, std::move(bytes));
  }

  Result<const std::vector<uint32_t>*> list_of(const Area& area) {
    const auto key = std::pair(area.rank, area.is_extent);
    const auto known = lists_.find(key);
    if (known != lists_.end()) return &known->second;
    CAIRN_TRY_ASSIGN(bytes,
                     client_.fetch_data(sequence_, area.offset + list_offset(area.bytes),
                                        blocks_of(area.bytes, block_bytes_) * sizeof(uint32_t)));
    std::vector<uint32_t> list(bytes.size() / sizeof(uint32_t));
    if (!list.empty()) std::memcpy(list.data(), bytes.data(), bytes.size());
    if (crc_of_list(list) != area.list_crc)
      return fail(EIO, "%s: checksums of rank %u changed on the way", client_.name().c_str(),
                  area.rank);
    return &lists_.emplace(key, std::move(list)).first->second;
  }

  PartClient client_;
  uint64_t sequence_;
  uint64_t block_bytes_;
  BlockCache& cache_;
  std::map<std::pair<uint32_t, bool>, std::vector<uint32_t>> lists_;
};

}  // namespace

const std::vector<uint8_t>* BlockCache::find(const Key& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  found->second.used = ++clock_;
  return &found->second.bytes;
}

const std::vector<uint8_t>* BlockCache::put(const Key& key, std::vector<uint8_t> bytes) {
  held_ += bytes.size();
  while (held_ > most_held && !entries_.empty()) {
    const auto oldest = std::min_element(
        entries_.begin(), entries_.end(),
        [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
    held_ -= oldest->second.bytes.size();
    entries_.erase(oldest);
  }
  Entry& entry = entries_[key];
  entry.bytes = std::move(bytes);
  entry.used = ++clock_;
  return &entry.bytes;
}

std::unique_ptr<PartReader> read_here(Slot* slot, uint64_t block_bytes) {
  return std::make_unique<LocalPart>(slot, block_bytes);
}

std::unique_ptr<PartReader> read_from(const PartClient& client, uint64_t sequence,
                                      uint64_t block_bytes, BlockCache* cache) {
  return std::make_unique<RemotePart>(client, sequence, block_bytes, cache);
}

}  // namespace cairn::checkpoint
