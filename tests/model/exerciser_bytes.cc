// The exerciser's operations on bytes.
#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "model/exerciser.h"

namespace cairn::test {

void Exerciser::wrote(Handle& h, uint64_t offset, const std::vector<uint8_t>& bytes,
                      ssize_t result) {
  if (options_.may_be_full && result == -ENOSPC) {
    ++refused_;
    compare(h, offset, bytes.size());
    return;
  }
  if (result < 0 || (static_cast<size_t>(result) != bytes.size() && !options_.may_be_full) ||
      static_cast<size_t>(result) > bytes.size()) {
    differs("write of " + std::to_string(bytes.size()) + " at " + std::to_string(offset) +
            " gave " + std::to_string(result));
    return;
  }
  h.node->bytes.write(offset, bytes.data(), static_cast<uint64_t>(result));
  if (random_.one_in(4)) compare(h, offset < 50 ? 0 : offset - 50, bytes.size() + 100);
}

void Exerciser::pwrite(Handle& h) {
  const auto bytes = any_bytes(any_size());
  const uint64_t offset = h.append ? h.node->bytes.size() : any_offset(*h.node);
  wrote(h, offset, bytes, cairn_pwrite(h.file, bytes.data(), bytes.size(), offset));
}

void Exerciser::write_vector(Handle& h) {
  auto bytes = any_bytes(any_size());
  const uint64_t a = random_.below(bytes.size() + 1);
  const uint64_t b = a + random_.below(bytes.size() - a + 1);
  const iovec vector[] = {
      {bytes.data(), a}, {bytes.data() + a, b - a}, {bytes.data() + b, bytes.size() - b}};
  const uint64_t offset = h.append ? h.node->bytes.size() : any_offset(*h.node);
  wrote(h, offset, bytes, cairn_pwritev(h.file, vector, 3, offset));
}

// Neighbours at equal distances, as a view has them; now and then one that is somewhere else.
std::vector<cairn_piece> Exerciser::any_pieces(const Node& node, std::vector<uint8_t>* bytes) {
  const uint64_t size = random_.below(3000);
  const uint64_t stride = size + random_.below(9000);
  uint64_t offset = any_offset(node);
  std::vector<cairn_piece> pieces;
  for (uint64_t left = random_.below(20); left > 0; --left) {
    pieces.push_back({nullptr, random_.one_in(10) ? any_size() : size, offset});
    offset = random_.one_in(10) ? any_offset(node) : offset + stride;
  }
  size_t total = 0;
  for (const cairn_piece& piece : pieces) total += piece.size;
  *bytes = any_bytes(total);
  size_t at = 0;
  for (cairn_piece& piece : pieces) {
    piece.buffer = bytes->data() + at;
    at += piece.size;
  }
  return pieces;
}

void Exerciser::write_pieces(Handle& h) {
  std::vector<uint8_t> bytes;
  const auto pieces = any_pieces(*h.node, &bytes);
  const int64_t result = cairn_write_pieces(h.file, pieces.data(), pieces.size());
  if (options_.may_be_full && result == -ENOSPC) {
    ++refused_;
    return;
  }
  if (result < 0 || (static_cast<size_t>(result) != bytes.size() && !options_.may_be_full)) {
    differs("write of " + std::to_string(pieces.size()) + " pieces gave " + std::to_string(result));
    return;
  }
  uint64_t left = static_cast<uint64_t>(result);
  for (const cairn_piece& piece : pieces) {
    const uint64_t size = std::min<uint64_t>(left, piece.size);
    if (size != 0) h.node->bytes.write(piece.offset, static_cast<uint8_t*>(piece.buffer), size);
    left -= size;
  }
  for (const cairn_piece& piece : pieces) compare(h, piece.offset, piece.size);
}

void Exerciser::read_pieces(Handle& h) {
  std::vector<uint8_t> bytes;
  const auto pieces = any_pieces(*h.node, &bytes);
  std::vector<uint8_t> expected;
  for (const cairn_piece& piece : pieces) {
    const auto part = h.node->bytes.read(piece.offset, piece.size);
    expected.insert(expected.end(), part.begin(), part.end());
    if (part.size() < piece.size) break;
  }
  const int64_t n = cairn_read_pieces(h.file, pieces.data(), pieces.size());
  if (n != static_cast<int64_t>(expected.size()) ||
      !std::equal(expected.begin(), expected.end(), bytes.begin()))
    differs("read of " + std::to_string(pieces.size()) + " pieces gave " + std::to_string(n) +
            " or other bytes");
}

void Exerciser::write_shared(Handle& h) {
  const auto bytes = any_bytes(any_size());
  if (!h.append && random_.one_in(2)) {
    h.offset = any_offset(*h.node);
    const int64_t at = cairn_seek(h.file, static_cast<int64_t>(h.offset), SEEK_SET);
    if (at != static_cast<int64_t>(h.offset)) differs("seek gave " + std::to_string(at));
  }
  if (h.append) h.offset = h.node->bytes.size();
  const ssize_t n = cairn_write(h.file, bytes.data(), bytes.size());
  wrote(h, h.offset, bytes, n);
  if (n > 0)
    h.offset += static_cast<uint64_t>(n);
  else if (h.append)
    h.offset = static_cast<uint64_t>(cairn_seek(h.file, 0, SEEK_CUR));
}

void Exerciser::pread(Handle& h) {
  const uint64_t offset = any_offset(*h.node);
  const uint64_t size = any_size();
  if (random_.one_in(2)) {
    compare(h, offset, size);
    return;
  }
  std::vector<uint8_t> a(size / 2);
  std::vector<uint8_t> b(size - size / 2);
  const iovec vector[] = {{a.data(), a.size()}, {b.data(), b.size()}};
  const auto expected = h.node->bytes.read(offset, size);
  const ssize_t n = cairn_preadv(h.file, vector, 2, offset);
  a.insert(a.end(), b.begin(), b.end());
  if (n != static_cast<ssize_t>(expected.size()) ||
      !std::equal(expected.begin(), expected.end(), a.begin()))
    differs("preadv gave " + std::to_string(n) + " or other bytes");
}

void Exerciser::read_shared(Handle& h) {
  std::vector<uint8_t> bytes(any_size());
  const auto expected = h.node->bytes.read(h.offset, bytes.size());
  const ssize_t n = cairn_read(h.file, bytes.data(), bytes.size());
  if (n != static_cast<ssize_t>(expected.size()) ||
      !std::equal(expected.begin(), expected.end(), bytes.begin())) {
    differs("read at the shared offset gave " + std::to_string(n) + " or other bytes");
    return;
  }
  h.offset += expected.size();
}

void Exerciser::truncate(Handle& h) {
  const uint64_t size = random_.one_in(3) ? random_.below(10'000) : any_offset(*h.node);
  const int result = random_.one_in(2) ? cairn_ftruncate(h.file, size)
                                       : cairn_truncate(pool_, h.node->ino, 0, size);
  if (!went(result, 0, "truncate", false)) return;
  h.node->bytes.resize(size);
  compare(h, size < 5000 ? 0 : size - 5000, 10'000);
}

void Exerciser::punch(Handle& h) {
  const uint64_t offset = any_offset(*h.node);
  const uint64_t size = random_.one_in(5) ? uint64_t{1} << (20 + random_.below(20)) : any_size();
  if (!went(cairn_fallocate(h.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, size), 0,
            "punch", false))
    return;
  h.node->bytes.zero(offset, size);
  compare(h, offset < 5000 ? 0 : offset - 5000, std::min<uint64_t>(size, 100'000) + 10'000);
}

void Exerciser::zero_range(Handle& h) {
  const uint64_t offset = any_offset(*h.node);
  const uint64_t size = any_size();
  const bool keep = random_.one_in(2);
  if (!went(cairn_fallocate(h.file, FALLOC_FL_ZERO_RANGE | (keep ? FALLOC_FL_KEEP_SIZE : 0), offset,
                            size),
            0, "zero range"))
    return;
  h.node->bytes.zero(offset, size);
  if (!keep) h.node->bytes.extend(offset + size);
  compare(h, offset < 5000 ? 0 : offset - 5000, size + 10'000);
}

void Exerciser::preallocate(Handle& h) {
  const uint64_t offset = any_offset(*h.node);
  const uint64_t size = any_size();
  const bool keep = random_.one_in(2);
  if (!went(cairn_fallocate(h.file, keep ? FALLOC_FL_KEEP_SIZE : 0, offset, size), 0, "fallocate"))
    return;
  if (!keep) h.node->bytes.extend(offset + size);
  compare(h, offset, size + 100);
}

void Exerciser::map(Handle& h) {
  const uint64_t end = h.node->bytes.size();
  if (end == 0) return;
  const uint64_t offset = random_.below(end) & ~uint64_t{4095};
  const uint64_t size = std::min<uint64_t>(end - offset, any_size());
  void* mapped = nullptr;
  const int result =
      cairn_mmap(h.file, nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, offset, &mapped);
  if (options_.may_be_full && result == -ENOMEM) {
    ++refused_;
    return;
  }
  if (!went(result, 0, "mmap")) return;
  auto* bytes = static_cast<uint8_t*>(mapped);
  const auto expected = h.node->bytes.read(offset, size);
  if (!std::equal(expected.begin(), expected.end(), bytes)) differs("a mapping shows other bytes");
  const auto stored = any_bytes(1 + random_.below(size));
  const uint64_t at = random_.below(size - stored.size() + 1);
  std::memcpy(bytes + at, stored.data(), stored.size());
  h.node->bytes.write(offset + at, stored.data(), stored.size());
  compare(h, offset, size);
  // And the other way round.
  const auto written = any_bytes(1);
  if (!h.append && cairn_pwrite(h.file, written.data(), 1, offset + at) == 1) {
    h.node->bytes.write(offset + at, written.data(), 1);
    if (bytes[at] != written[0]) differs("a mapping does not show what was written");
  }
  if (random_.one_in(2)) went(cairn_msync(pool_, mapped, size, MS_SYNC), 0, "msync");
  if (h.mapped != nullptr || random_.one_in(2)) {
    went(cairn_munmap(pool_, mapped, size), 0, "munmap");
    return;
  }
  h.mapped = bytes;
  h.mapped_from = offset;
  h.mapped_size = size;
}

// It shows the file, whatever has happened to that since; beyond the end, nothing is promised.
void Exerciser::compare_mapped(Handle& h) {
  if (h.mapped == nullptr || h.node->bytes.size() <= h.mapped_from) return;
  const auto expected = h.node->bytes.read(h.mapped_from, h.mapped_size);
  const auto [a, b] = std::mismatch(expected.begin(), expected.end(), h.mapped);
  if (a != expected.end())
    differs("a mapping that was made before shows another byte " +
            std::to_string(h.mapped_from + static_cast<uint64_t>(a - expected.begin())) +
            " of inode " + std::to_string(h.node->ino));
}

void Exerciser::close(Handle& h) {
  // Sometimes the descriptor goes first, as programs do it.
  const bool unmap_last = random_.one_in(2);
  if (unmap_last) went(cairn_close(h.file), 0, "close", false);
  if (h.mapped != nullptr)
    went(cairn_munmap(pool_, const_cast<uint8_t*>(h.mapped), h.mapped_size), 0, "munmap");
  if (!unmap_last) went(cairn_close(h.file), 0, "close", false);
}

void Exerciser::seek(Handle& h) {
  const Bytes& bytes = h.node->bytes;
  const uint64_t from = any_offset(*h.node);
  const int64_t data = cairn_seek(h.file, static_cast<int64_t>(from), SEEK_DATA);
  const int64_t hole = cairn_seek(h.file, static_cast<int64_t>(from), SEEK_HOLE);
  if (from >= bytes.size()) {
    if (data != -ENXIO || hole != -ENXIO) differs("seeking beyond the end gave an offset");
  } else {
    if (data == -ENXIO) {
      if (!bytes.is_zero(from, bytes.size() - from)) differs("SEEK_DATA did not find data");
    } else if (data < static_cast<int64_t>(from) ||
               !bytes.is_zero(from, static_cast<uint64_t>(data) - from)) {
      differs("SEEK_DATA went past data to " + std::to_string(data));
    }
    if (hole < static_cast<int64_t>(from) || hole > static_cast<int64_t>(bytes.size()) ||
        !bytes.is_zero(static_cast<uint64_t>(hole), 1))
      differs("SEEK_HOLE gave " + std::to_string(hole));
  }
  const int64_t back = cairn_seek(h.file, static_cast<int64_t>(h.offset), SEEK_SET);
  if (back != static_cast<int64_t>(h.offset)) differs("seek gave " + std::to_string(back));
}

}  // namespace cairn::test
