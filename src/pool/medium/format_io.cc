#include "pool/medium/format_io.h"

#include <sys/random.h>

#include <cassert>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "base/crc32c.h"

namespace cairn::pool {
namespace {

using format::Superblock;

uint32_t checksum(const void* block) { return crc32c(0, block, format::block_size - 8); }

Superblock& copy_of(Pool& pool, uint64_t block) {
  return *reinterpret_cast<Superblock*>(pool.segment[0]->base + block * format::block_size);
}

uint64_t realtime_ns() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

// Stores the checksum of the present contents, and flushes the block.
Status seal_block(Pool& pool, Word& sum, const void* block) {
  pool.store(sum, checksum(block));
  pool.flush(block, format::block_size);
  return pool.fence();
}

Status write_superblock(Pool& pool, uint64_t at, const Superblock& from, uint64_t sequence) {
  Superblock& to = copy_of(pool, at);
  const auto* source = reinterpret_cast<const Word*>(&from);
  auto* target = reinterpret_cast<Word*>(&to);
  for (size_t i = 0; i + 1 < sizeof(Superblock) / sizeof(Word); ++i) {
    if (&source[i] == &from.sequence) continue;
    pool.store(target[i], source[i].load());
  }
  pool.store(to.sequence, sequence);
  return seal_block(pool, to.checksum, &to);
}

bool is_sound(const Superblock& copy) {
  return copy.magic.load() == format::superblock_magic && copy.checksum.load() == checksum(&copy);
}

// Stores through the segment's own region, because the segment may not be counted yet.
Status write_segment_header(const Pool& pool, uint32_t number) {
  const Segment& segment = *pool.segment[number];
  Region& region = pool.segment[number]->region;
  auto& header = *reinterpret_cast<format::SegmentHeader*>(segment.base);
  region.store(header.magic, format::segment_magic);
  region.store(header.version, format::version);
  for (int i = 0; i < 2; ++i) region.store(header.uuid[i], pool.superblock().uuid[i].load());
  region.store(header.number, number);
  region.store(header.blocks, segment.blocks);
  region.store(header.data_start, segment.data_start);
  region.store(header.checksum, checksum(&header));
  region.flush(&header, format::block_size);
  return region.fence();
}

}  // namespace

void lay_out(Segment& segment, uint32_t lanes) {
  const format::SegmentLayout layout = format::layout_of(segment.blocks, lanes);
  segment.data_start = layout.data_start;
  segment.chunks = layout.chunks;
  segment.chunk = reinterpret_cast<format::Chunk*>(segment.base + layout.chunk_table);
  segment.record = reinterpret_cast<format::BlockRecord*>(segment.base + layout.records);
}

Status write_format(Pool& pool, uint32_t lanes, uint64_t seed) {
  pool.lane_count = lanes;
  const uint32_t count = pool.segments.load();
  for (uint32_t s = 0; s < count; ++s) {
    lay_out(*pool.segment[s], s == 0 ? lanes : 0);
    if (pool.segment[s]->data_start >= pool.segment[s]->blocks)
      return fail(EINVAL, "segment %u of %s is too small for its own tables", s, pool.path.c_str());
  }
  pool.state = reinterpret_cast<format::State*>(pool.segment[0]->base +
                                                format::state_block * format::block_size);
  pool.orphans = reinterpret_cast<format::OrphanShard*>(pool.segment[0]->base +
                                                        format::orphan_block * format::block_size);
  pool.lanes = reinterpret_cast<format::Lane*>(pool.segment[0]->base +
                                               format::lanes_block * format::block_size);
  for (uint32_t s = 0; s < count; ++s) {
    Segment& segment = *pool.segment[s];
    const auto tables =
        static_cast<uint64_t>(reinterpret_cast<uint8_t*>(segment.record) - segment.base);
    if (segment.reserve) CAIRN_TRY(segment.reserve(0, tables));
    if (!segment.fresh_zero) CAIRN_TRY(segment.region.zero(0, tables));
  }
  Superblock& a = copy_of(pool, format::superblock_a_block);
  uint64_t uuid[2] = {seed, seed};
  if (seed == 0 && getrandom(uuid, sizeof uuid, 0) != sizeof uuid)
    return fail(errno, "getrandom: %s", strerror(errno));
  pool.identity = &a;
  pool.store(a.magic, format::superblock_magic);
  pool.store(a.version, format::version);
  if (pool.segment[0]->region.granularity() == persist::Granularity::page)
    pool.store(a.features_read_only, format::feature_synced_size);
  pool.store(a.features_incompatible, format::feature_evictions | format::feature_witness);
  for (int i = 0; i < 2; ++i) pool.store(a.uuid[i], uuid[i]);
  pool.store(a.created_ns, realtime_ns());
  pool.store(a.lanes, lanes);
  pool.store(a.segments, count);
  for (uint32_t s = 0; s < count; ++s) {
    pool.store(a.segment[s].blocks, pool.segment[s]->blocks);
    pool.store(a.segment[s].data_start, pool.segment[s]->data_start);
  }
  pool.store(pool.state->epoch, 1);
  pool.store(pool.state->attach_generation, 1);
  pool.attach_generation = 1;
  pool.flush(pool.state, sizeof *pool.state);
  for (uint32_t s = 1; s < count; ++s) CAIRN_TRY(write_segment_header(pool, s));
  return Status();
}

Status publish_identity(Pool& pool) {
  const Superblock& a = copy_of(pool, format::superblock_a_block);
  const uint64_t sequence = a.sequence.load() + 1;
  // B is written first: at every moment one of the two is whole.
  CAIRN_TRY(write_superblock(pool, format::superblock_b_block, a, sequence));
  pool.store(copy_of(pool, format::superblock_a_block).sequence, sequence);
  return seal_block(pool, copy_of(pool, format::superblock_a_block).checksum, &a);
}

Status publish_segment(Pool& pool, uint32_t number) {
  CAIRN_TRY(write_segment_header(pool, number));
  Superblock& a = copy_of(pool, format::superblock_a_block);
  Superblock& b = copy_of(pool, format::superblock_b_block);
  const uint64_t sequence = a.sequence.load() + 1;
  for (Superblock* copy : {&b, &a}) {
    pool.store(copy->segment[number].blocks, pool.segment[number]->blocks);
    pool.store(copy->segment[number].data_start, pool.segment[number]->data_start);
    pool.store(copy->segments, number + 1);
    pool.store(copy->sequence, sequence);
    CAIRN_TRY(seal_block(pool, copy->checksum, copy));
  }
  pool.segments.store(number + 1, std::memory_order_release);
  return Status();
}

Status read_format(Pool& pool) {
  const char* path = pool.path.c_str();
  Segment& first = *pool.segment[0];
  if (first.blocks < format::chunk_blocks)
    return fail(EUCLEAN, "%s: segment 0 has only %llu bytes; it is cut off or not a pool", path,
                static_cast<unsigned long long>(first.blocks) * format::block_size);
  const Superblock* good = nullptr;
  for (uint64_t at : {format::superblock_a_block, format::superblock_b_block}) {
    const Superblock& copy = copy_of(pool, at);
    // The second one is usually no newer, and then needs no checksum.
    if ((good == nullptr || copy.sequence.load() > good->sequence.load()) && is_sound(copy))
      good = &copy;
  }
  if (good == nullptr) {
    const bool ours = copy_of(pool, 0).magic.load() == format::superblock_magic ||
                      copy_of(pool, 1).magic.load() == format::superblock_magic;
    return fail(EUCLEAN,
                ours ? "%s: both superblocks are damaged (checksums do not match)"
                     : "%s: not a Cairn pool (no superblock)",
                path);
  }
  if (good->version.load() != format::version)
    return fail(EPROTONOSUPPORT, "%s: its format is version %llu, this program knows version %u",
                path, static_cast<unsigned long long>(good->version.load()), format::version);
  const uint64_t unknown = good->features_incompatible.load() & ~format::known_incompatible;
  const uint64_t unknown_write = good->features_read_only.load() & ~format::known_read_only;
  if (unknown != 0 || (unknown_write != 0 && !pool.read_only))
    return fail(EPROTONOSUPPORT,
                "%s: it uses format features %#llx that this program does not know", path,
                static_cast<unsigned long long>(unknown | unknown_write));
  const uint64_t lanes = good->lanes.load();
  const uint64_t segments = good->segments.load();
  if (lanes == 0 || lanes > format::max_lanes || segments == 0 || segments > format::max_segments)
    return fail(EUCLEAN, "%s: superblock names %llu lanes and %llu segments", path,
                static_cast<unsigned long long>(lanes), static_cast<unsigned long long>(segments));
  pool.identity = good;
  pool.lane_count = static_cast<uint32_t>(lanes);
  for (uint32_t s = 0; s < segments; ++s) {
    const uint64_t blocks = good->segment[s].blocks.load();
    const format::SegmentLayout layout = format::layout_of(blocks, s == 0 ? pool.lane_count : 0);
    if (blocks == 0 || blocks % format::chunk_blocks != 0 || blocks > format::max_segment_blocks ||
        good->segment[s].data_start.load() != layout.data_start || layout.data_start >= blocks)
      return fail(EUCLEAN,
                  "%s: superblock describes segment %u wrongly (%llu blocks, data from %llu)", path,
                  s, static_cast<unsigned long long>(blocks),
                  static_cast<unsigned long long>(good->segment[s].data_start.load()));
    if (s < pool.segments.load() && blocks > pool.segment[s]->blocks)
      return fail(EUCLEAN, "%s: segment %u is cut off: %llu of %llu bytes are there", path, s,
                  static_cast<unsigned long long>(pool.segment[s]->blocks) * format::block_size,
                  static_cast<unsigned long long>(blocks) * format::block_size);
  }
  first.blocks = good->segment[0].blocks.load();
  lay_out(first, pool.lane_count);
  pool.state =
      reinterpret_cast<format::State*>(first.base + format::state_block * format::block_size);
  pool.orphans = reinterpret_cast<format::OrphanShard*>(first.base +
                                                        format::orphan_block * format::block_size);
  pool.lanes =
      reinterpret_cast<format::Lane*>(first.base + format::lanes_block * format::block_size);
  pool.attach_generation = pool.state->attach_generation.load();
  // Walks of the tables rely on these counts: an impossible count would take for ever.
  uint64_t blocks = 0;
  for (uint32_t s = 0; s < segments; ++s) blocks += good->segment[s].blocks.load();
  if (pool.state->itable_blocks.load() > blocks || pool.state->otable_blocks.load() > blocks)
    return fail(EUCLEAN, "%s: its tables are damaged (%llu blocks of inodes, %llu of open files)",
                path, static_cast<unsigned long long>(pool.state->itable_blocks.load()),
                static_cast<unsigned long long>(pool.state->otable_blocks.load()));
  return Status();
}

Status check_segment_header(Pool& pool, uint32_t number) {
  const Segment& segment = *pool.segment[number];
  const auto& header = *reinterpret_cast<const format::SegmentHeader*>(segment.base);
  const Superblock& a = pool.superblock();
  if (header.magic.load() != format::segment_magic || header.checksum.load() != checksum(&header))
    return fail(EUCLEAN, "%s: the header of segment %u is damaged", pool.path.c_str(), number);
  if (header.number.load() != number || header.uuid[0].load() != a.uuid[0].load() ||
      header.uuid[1].load() != a.uuid[1].load() || header.blocks.load() != segment.blocks)
    return fail(EUCLEAN, "%s: segment %u belongs to another pool or place", pool.path.c_str(),
                number);
  return Status();
}

void read_boot_id(uint64_t words[2]) {
  words[0] = words[1] = 0;
  char text[64] = {};
  if (FILE* file = std::fopen("/proc/sys/kernel/random/boot_id", "re")) {
    const size_t n = std::fread(text, 1, sizeof text - 1, file);
    std::fclose(file);
    int digits = 0;
    for (size_t i = 0; i < n && digits < 32; ++i) {
      const char c = text[i];
      const int v = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
      if (v < 0) continue;
      uint64_t& word = words[digits / 16];
      word = word << 4 | static_cast<uint64_t>(v);
      ++digits;
    }
  }
}

}  // namespace cairn::pool
