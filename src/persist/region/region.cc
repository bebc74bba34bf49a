#include "persist/region/region.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "persist/copy/streaming.h"
#include "persist/machine/machine.h"
#include "persist/region/write_window.h"

namespace cairn::persist {
namespace {

// The only entry of the table if first touch costs nothing.
constexpr uint16_t always_warm = first_touch::warm;

// The source for zeroing through the kernel; not const, so that it costs no room in the library.
uint8_t zeros[size_t{64} << 10];

size_t within_chunk(uint64_t offset, size_t size) {
  return std::min<size_t>(size, first_touch::chunk_size - (offset & (first_touch::chunk_size - 1)));
}

}  // namespace

Status Region::open(const RegionOptions& options) {
  return open(options, machine_backend(options.granularity), nullptr);
}

Status Region::open(const RegionOptions& options, const Backend* backend, void* backend_state) {
  if (options.base == nullptr || options.size == 0) {
    return fail(EINVAL, "region without a mapping");
  }
  close();
  if (backend->word == nullptr) {
    CAIRN_TRY(protect(options.base, options.size, options.writable));
  }
  bool small_pages = !options.large_pages && backend->word == nullptr;
  if (small_pages) warmth_table_ = first_touch::create_table(options.size);
  warmth_ = warmth_table_ != nullptr ? warmth_table_ : &always_warm;
  warmth_shift_ = warmth_table_ != nullptr ? first_touch::chunk_shift : 63;
  base_ = static_cast<uint8_t*>(options.base);
  size_ = options.size;
  fd_ = options.fd;
  fd_offset_ = options.fd_offset;
  granularity_ = options.granularity;
  writable_ = options.writable;
  backend_ = backend;
  recorded_ = backend->word != nullptr;
  must_flush_ = recorded_ || granularity_ != Granularity::none;
  size_t stream_min = SIZE_MAX;
  if (backend->streams) {
    stream_min =
        std::max<size_t>(options.stream_min != 0 ? options.stream_min : default_stream_min, 64);
  }
  state_ = RegionState(stream_min, backend_state);
  inline_copy_limit_ =
      static_cast<uint32_t>(std::min<size_t>(stream_min - 1, first_touch::chunk_size));
  if (must_flush_) inline_copy_limit_ = 0;
  // The kernel's copy into a dax file may rest on file-system metadata that only fsync makes
  // durable, so non-volatile memory is always written through the mapping.
  bool page_cache = granularity_ == Granularity::none || granularity_ == Granularity::page;
  bool kernel_copies = warmth_table_ != nullptr && fd_ >= 0 && page_cache;
  keeps_faulting_ = granularity_ == Granularity::page;
  kernel_read_min_ = kernel_copies ? first_touch::kernel_copy_min : SIZE_MAX;
  kernel_write_min_ = !kernel_copies    ? SIZE_MAX
                      : keeps_faulting_ ? first_touch::page_cache_write_min
                                        : first_touch::kernel_copy_min;
  const bool large_pages = warmth_table_ == nullptr && fd_ >= 0 && page_cache;
  if (kernel_copies || large_pages) note_file_size_limit();
  return Status();
}

void Region::close() {
  if (base_ == nullptr) return;
  if (backend_->forget != nullptr) backend_->forget(state_);
  first_touch::destroy_table(warmth_table_, size_);
  warmth_table_ = nullptr;
  warmth_ = nullptr;
  inline_copy_limit_ = 0;
  base_ = nullptr;
  size_ = 0;
  fd_ = -1;
  backend_ = nullptr;
  state_ = RegionState();
  untouched_chunk_ = UINT64_MAX;
  recorded_ = must_flush_ = false;
}

first_touch::MappedMemory Region::place() const {
  bool page_cache = granularity_ == Granularity::none || granularity_ == Granularity::page;
  return {base_, size_, writable_, page_cache};
}

void Region::charge(uint64_t offset, size_t size) const {
  first_touch::charge(place(), warmth_table_, offset, size);
}

void Region::forget_warmth(uint64_t offset, size_t size) {
  if (warmth_table_ == nullptr) return;
  for (uint64_t chunk = offset >> first_touch::chunk_shift;
       chunk << first_touch::chunk_shift < offset + size; ++chunk)
    __atomic_store_n(&warmth_table_[chunk], uint16_t{0}, __ATOMIC_RELAXED);
}

void Region::note_untouched(uint64_t offset) {
  const uint64_t chunk = offset >> first_touch::chunk_shift;
  if (warmth_table_ != nullptr)
    __atomic_store_n(&warmth_table_[chunk], first_touch::first_look, __ATOMIC_RELAXED);
  else if (fd_ >= 0 && is_volatile() && !recorded_)
    __atomic_store_n(&untouched_chunk_, chunk, __ATOMIC_RELAXED);
}

// Makes the first copy to a large page; it zeroes or fills all of the page.
Status Region::copy_untouched(uint64_t offset, const void* source, size_t size) {
  const SharedBytes shared;
  const auto* from = static_cast<const uint8_t*>(source);
  size_t first = within_chunk(offset, size);
  __atomic_store_n(&untouched_chunk_, UINT64_MAX, __ATOMIC_RELAXED);
  if (kernel_may_write(fd_offset_ + offset + first))
    CAIRN_TRY(kernel_write(offset, from, first));
  else
    first = 0;
  if (first == size) return Status();
  return backend_->copy(state_, base_ + offset + first, from + first, size - first);
}

Status Region::copy_general(uint64_t offset, const void* source, size_t size) {
  const SharedBytes shared;
  const auto* from = static_cast<const uint8_t*>(source);
  while (size > 0) {
    size_t piece = within_chunk(offset, size);
    if (warmth_table_ == nullptr) piece = size;
    bool was_warm = is_warm(offset);
    if (writes_through_kernel(offset, piece)) {
      CAIRN_TRY(kernel_write(offset, from, piece));
    } else {
      CAIRN_TRY(backend_->copy(state_, base_ + offset, from, piece));
    }
    if (!was_warm) charge(offset, piece);
    offset += piece;
    from += piece;
    size -= piece;
  }
  return Status();
}

Status Region::zero_general(uint64_t offset, size_t size) {
  const SharedBytes shared;
  while (size > 0) {
    size_t piece = within_chunk(offset, size);
    if (warmth_table_ == nullptr) piece = size;
    bool was_warm = is_warm(offset);
    if (writes_through_kernel(offset, piece)) {
      piece = std::min(piece, sizeof zeros);
      CAIRN_TRY(kernel_write(offset, zeros, piece));
    } else {
      CAIRN_TRY(backend_->zero(state_, base_ + offset, piece));
    }
    if (!was_warm) charge(offset, piece);
    offset += piece;
    size -= piece;
  }
  return Status();
}

Status Region::read_general(void* destination, uint64_t offset, size_t size) const {
  const SharedBytes shared;
  auto* to = static_cast<uint8_t*>(destination);
  while (size > 0) {
    size_t piece = warmth_table_ == nullptr ? size : within_chunk(offset, size);
    bool was_warm = is_warm(offset);
    if (reads_through_kernel(offset, piece)) {
      CAIRN_TRY(kernel_read(to, offset, piece));
    } else {
      copy_out(to, base_ + offset, piece, nullptr);
    }
    if (!was_warm) charge(offset, piece);
    offset += piece;
    to += piece;
    size -= piece;
  }
  return Status();
}

Status Region::kernel_write(uint64_t offset, const uint8_t* source, size_t size) {
  int saved = errno;
  uint64_t begin = offset;
  size_t left = size;
  while (left > 0) {
    ssize_t done = pwrite(fd_, source, left, static_cast<off_t>(fd_offset_ + offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      int error = done < 0 ? errno : EIO;
      errno = saved;
      return fail(error, "write of %zu bytes at segment offset %llu failed", left,
                  static_cast<unsigned long long>(fd_offset_) + offset);
    }
    offset += static_cast<uint64_t>(done);
    source += done;
    left -= static_cast<size_t>(done);
  }
  errno = saved;
  if (must_flush_) backend_->flush(state_, base_ + begin, size, Site::here());
  return Status();
}

Status Region::kernel_read(uint8_t* destination, uint64_t offset, size_t size) const {
  int saved = errno;
  while (size > 0) {
    ssize_t done = pread(fd_, destination, size, static_cast<off_t>(fd_offset_ + offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      // The mapping goes as far as the file should: an end before that is a damaged segment.
      int error = done < 0 ? errno : EIO;
      errno = saved;
      return fail(error, "read of %zu bytes at segment offset %llu failed", size,
                  static_cast<unsigned long long>(fd_offset_) + offset);
    }
    offset += static_cast<uint64_t>(done);
    destination += done;
    size -= static_cast<size_t>(done);
  }
  errno = saved;
  return Status();
}

Status Region::populate(uint64_t offset, size_t size) {
  if (offset > size_ || size > size_ - offset) {
    return fail(EINVAL, "populate beyond the region's %zu bytes", size_);
  }
  CAIRN_TRY(first_touch::populate(place(), offset, size));
  if (warmth_table_ == nullptr) return Status();
  uint64_t first = (offset + first_touch::chunk_size - 1) >> first_touch::chunk_shift;
  uint64_t end = (offset + size) >> first_touch::chunk_shift;
  if (offset + size == size_)
    end = (size_ + first_touch::chunk_size - 1) >> first_touch::chunk_shift;
  for (uint64_t chunk = first; chunk < end; ++chunk) {
    __atomic_store_n(&warmth_table_[chunk], first_touch::warm, __ATOMIC_RELAXED);
  }
  return Status();
}

}  // namespace cairn::persist
