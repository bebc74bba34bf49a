#include "pool/core/pool.h"

#include <cassert>

namespace cairn::pool {
namespace {

std::atomic<uint64_t> serials{0};
constexpr unsigned address_segment_shift = 40;

}  // namespace

Pool::Pool() : serial(++serials) {}

Pool::~Pool() {
  const uint32_t count = segments.load();
  for (uint32_t i = 0; i < count; ++i) {
    segment[i]->region.close();
    if (segment[i]->unmap) segment[i]->unmap();
  }
}

Status Pool::see_growth() const {
  if (!map_new_segments || superblock().segments.load() <= segments.load()) return Status();
  const std::lock_guard guard(growing);
  return map_new_segments(const_cast<Pool&>(*this));  // not pool memory: what is mapped of it
}

bool Pool::find_segment(uint64_t number) const {
  if (number >= superblock().segments.load()) return false;
  return see_growth().ok() && number < segments.load();
}

Segment& Pool::segment_of_slow(const uint8_t* p) const {
  const uint32_t count = segments.load(std::memory_order_acquire);
  for (uint32_t i = 1; i < count; ++i) {
    Segment& s = *segment[i];
    if (p >= s.base && p < s.base + (s.blocks << format::block_shift)) return s;
  }
  // A pool attached for reading keeps its seats and open files outside.
  assert(read_only);
  return *segment[0];
}

uint64_t Pool::address_of(const void* word) const {
  const auto* p = static_cast<const uint8_t*>(word);
  const uint32_t count = segments.load(std::memory_order_acquire);
  for (uint64_t i = 0; i < count; ++i) {
    const Segment& s = *segment[i];
    if (p >= s.base && p < s.base + (s.blocks << format::block_shift))
      return i << address_segment_shift | static_cast<uint64_t>(p - s.base);
  }
  assert(!"an address outside the pool");
  return UINT64_MAX;
}

Word* Pool::word_at(uint64_t address) const {
  const uint64_t number = address >> address_segment_shift;
  const uint64_t offset = address & ((1ULL << address_segment_shift) - 1);
  if (!has_segment(number) || offset % sizeof(Word) != 0 ||
      offset / format::block_size >= segment[number]->blocks)
    return nullptr;
  return reinterpret_cast<Word*>(segment[number]->base + offset);
}

Status Pool::check_writable() const {
  return read_only ? fail(EROFS, "pool %s is attached read-only", path.c_str()) : Status();
}

Status Pool::fence_bytes_all(persist::Site site) {
  if (segment[0]->region.granularity() != persist::Granularity::page) return fence_all(site);
  const uint32_t count = segments.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i) segment[i]->region.drop_flushes();
  return Status();
}

Status Pool::fence_all(persist::Site site) {
  Status worst;
  const uint32_t count = segments.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i) {
    if (Status status = segment[i]->region.fence(site); !status.ok()) worst = status;
  }
  return worst;
}

}  // namespace cairn::pool
