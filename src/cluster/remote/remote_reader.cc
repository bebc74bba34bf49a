#include "cluster/remote/remote_reader.h"

#include <algorithm>
#include <cstring>

namespace cairn::cluster {
namespace {

constexpr size_t smallest_window = size_t{64} << 10;
constexpr size_t largest_window = size_t{1} << 20;

}  // namespace

// Fills the window from `offset` on.
Status RemoteReader::fetch(uint64_t offset) {
  const bool goes_on = offset == window_at_ + window_.size() && !window_.empty();
  next_ = goes_on ? std::min(next_ * 4, largest_window) : smallest_window;
  window_.resize(next_);
  window_at_ = offset;
  const Target target = {window_.data(), window_.size(), offset};
  auto n = read_(target);
  window_.resize(n.ok() ? *n : 0);
  return n.status();
}

Result<size_t> RemoteReader::read(void* buffer, size_t size, uint64_t offset) {
  const std::lock_guard guard(mutex_);
  if (!read_) return fail(EIO, "cannot read a file of other nodes after MPI_Finalize");
  if (size >= largest_window) {
    return read_({buffer, size, offset});
  }
  size_t done = 0;
  while (done < size) {
    const uint64_t at = offset + done;
    if (at < window_at_ || at >= window_at_ + window_.size()) {
      CAIRN_TRY(fetch(at));
      if (window_.empty()) break;
    }
    const size_t from = at - window_at_;
    const size_t n = std::min(size - done, window_.size() - from);
    std::memcpy(static_cast<uint8_t*>(buffer) + done, window_.data() + from, n);
    done += n;
  }
  return done;
}

void RemoteReader::end() {
  const std::lock_guard guard(mutex_);
  read_ = nullptr;
}

Result<std::unique_ptr<file::File>> open_with_reader(Job& job,
                                                     const tier::SourceAttributes& attributes,
                                                     int flags, RemoteReader::Read read) {
  auto reader = std::make_shared<RemoteReader>(std::move(read));
  job.add_contents(reader);
  return tier::open_source(job.fs(), attributes, flags, reader);
}

}  // namespace cairn::cluster
