#include "cluster/rpc/held_files.h"

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "cluster/rpc/file_change.h"
#include "file/data/io.h"
#include "file/data/sync.h"
#include "file/data/truncate.h"
#include "file/inode/attributes.h"
#include "file/inode/moving.h"
#include "file/space/make_room.h"

namespace cairn::cluster {
namespace {

// Behind the bytes come as many zeros, of which room is made for what follows by other messages.
Result<int64_t> append(file::File& file, const uint8_t* bytes, size_t size, uint64_t zeros,
                       uint64_t* done) {
  constexpr size_t unit = size_t{1} << 20;
  constexpr uint64_t most_pieces = 1023;  // of a vector
  if (zeros > most_pieces * unit)
    return fail(EINVAL, "%llu bytes are too many for one append on another host",
                static_cast<unsigned long long>(zeros) + size);
  std::vector<uint8_t> nothing(std::min<uint64_t>(zeros, unit));
  // iovec has no form for bytes that are only read.
  auto* first = const_cast<uint8_t*>(bytes);  // not pool memory: a message
  std::vector<iovec> vector = {{first, size}};
  for (uint64_t left = zeros; left != 0; left -= vector.back().iov_len)
    vector.push_back({nothing.data(), std::min<uint64_t>(left, unit)});
  uint64_t offset = 0;
  auto n = file::append(file, vector.data(), static_cast<int>(vector.size()), &offset);
  if (!n.ok()) return n.status();
  *done = *n;
  return static_cast<int64_t>(offset);
}

file::Remote::RemoteAttributes state_of(file::FileSystem& fs, const file::Map& map) {
  const file::Attributes now = file::attributes_of(fs, map);
  return {now.size,  now.atime,         now.mtime,
          now.ctime, now.mode & 07777U, now.uid | static_cast<uint64_t>(now.gid) << 32};
}

}  // namespace

Status HeldFiles::hold(const Uuid& file, bool writing) {
  const std::lock_guard guard(mutex_);
  Held& held = held_[{file, writing}];
  if (held.file == nullptr) {
    uint64_t words[2];
    std::memcpy(words, file.data(), sizeof words);
    auto opened = std::make_shared<tier::PoolFile>(fs_, words[0], writing ? O_RDWR : O_RDONLY,
                                                   words[1], true);
    Status status = opened->status();
    // Counted as an opener first, as file/inode/moving.h asks for.
    if (status.ok() && file::is_moving(*(**opened).inode))
      status = fail(EAGAIN, "being moved to another node; retry");
    if (!status.ok()) {
      held_.erase({file, writing});
      return status;
    }
    held.file = std::move(opened);
  }
  ++held.count;
  return Status();
}

void HeldFiles::release(const Uuid& file, bool writing) {
  std::shared_ptr<tier::PoolFile> last;  // closed when nobody waits for it
  const std::lock_guard guard(mutex_);
  const auto held = held_.find({file, writing});
  if (held == held_.end() || --held->second.count != 0) return;
  last = std::move(held->second.file);
  held_.erase(held);
}

Result<std::shared_ptr<tier::PoolFile>> HeldFiles::find(const Uuid& file) {
  const std::lock_guard guard(mutex_);
  const auto held = held_.find({file, true});
  if (held == held_.end()) return fail(EIO, "the file is not open on this node");
  return held->second.file;
}

Result<int64_t> HeldFiles::answer(const Request& request, const ByteRun* runs, const uint8_t* bytes,
                                  uint8_t* reply, uint64_t* size) {
  CAIRN_TRY_ASSIGN(held, find(request.uuid));
  file::File& file = **held;
  const auto value = static_cast<uint64_t>(request.value);
  switch (request.op) {
    case Op::read_held: {
      if (request.runs != 1 || runs[0].length > most_bytes) break;
      CAIRN_TRY_ASSIGN(n, file::read_at(file, reply, runs[0].length, runs[0].offset));
      *size = n;
      return 0;
    }
    case Op::write_held: {
      CAIRN_TRY_ASSIGN(n, file::write_at(file, bytes, request.text, value));
      return static_cast<int64_t>(n);
    }
    case Op::append_held: {
      uint64_t done = 0;
      CAIRN_TRY_ASSIGN(offset, append(file, bytes, request.text, request.home, &done));
      std::memcpy(reply, &done, sizeof done);
      *size = sizeof done;
      return offset;
    }
    case Op::cut_held:
      CAIRN_TRY(file::with_room(fs_, [&] { return file::truncate(fs_, file.map(), value); }));
      return 0;
    case Op::change_held: {
      FileChange change;
      if (request.text != sizeof change) break;
      std::memcpy(&change, bytes, sizeof change);
      CAIRN_TRY(change_file(fs_, file.map(), 0, change));
      return 0;
    }
    case Op::sync_held:
      CAIRN_TRY(file::sync_file(fs_, file.map()));
      return 0;
    case Op::look_held: {
      const pool::SeatGuard seat(fs_.pool);
      if (!seat.ok()) return pool::no_seat(fs_.pool);
      const file::Remote::RemoteAttributes state = state_of(fs_, file.map());
      std::memcpy(reply, &state, sizeof state);
      *size = sizeof state;
      return 0;
    }
    default:
      break;
  }
  return fail(EINVAL, "invalid request about an open file");
}

}  // namespace cairn::cluster
