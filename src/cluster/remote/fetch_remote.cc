// An ordinary file of another node's pool comes into this one.
#include <fcntl.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/saved_failure.h"
#include "cluster/local/local_entry.h"
#include "cluster/local/paths_of.h"
#include "cluster/remote/remote_files.h"
#include "cluster/rpc/broadcast.h"
#include "file/data/io.h"
#include "file/data/sync.h"
#include "file/data/truncate.h"
#include "file/inode/attributes.h"
#include "file/inode/moving.h"
#include "file/namespace/names.h"
#include "file/space/make_room.h"
#include "pool/lanes/seats.h"
#include "tier/lower/lower.h"

namespace cairn::cluster {
namespace {

Result<std::unique_ptr<file::File>> make_unnamed(Job& job, const LocalEntry& entry, uint32_t mode) {
  return file::with_room(job.fs(), [&]() -> Result<std::unique_ptr<file::File>> {
    pool::SeatGuard seat(job.fs().pool);
    if (!seat.ok()) return pool::no_seat(job.fs().pool);
    auto directory = file::live_inode(job.fs(), entry.parent);
    if (!directory.ok()) return directory.status();
    auto made = file::create_unnamed(job.fs(), *seat, **directory, S_IFREG | (mode & 07777), true);
    if (!made.ok()) return made.status();
    // Its name may be taken back: nobody opens it by that until it is settled.
    file::mark_new(job.fs(), *seat, *made->inode);
    return file::open_unnamed(job.fs(), *seat, *made, O_RDWR);
  });
}

Status copy(Job& job, const RemoteFile& from, const std::string& path, file::File& to) {
  Buffer buffer = job.buffers().take(std::min<uint64_t>(from.state.size, most_bytes));
  for (uint64_t at = 0; at < from.state.size;) {
    const size_t size = std::min<uint64_t>(from.state.size - at, most_bytes);
    CAIRN_TRY(
        read_remote(job, from.node, from.state.file, {buffer.bytes.get(), size, at}).status());
    auto written = file::write_at(to, buffer.bytes.get(), size, at);
    if (!written.ok()) return written.status();
    if (*written != size)
      return fail(ENOSPC, "%s: the pool is full at offset %llu", path.c_str(),
                  static_cast<unsigned long long>(at) + *written);
    at += size;
  }
  job.buffers().give_back(std::move(buffer));
  return Status();
}

Status give_attributes(Job& job, const FileState& from, const file::Map& map) {
  pool::SeatGuard seat(job.fs().pool);
  if (!seat.ok()) return pool::no_seat(job.fs().pool);
  CAIRN_TRY(file::set_owner(job.fs(), *seat, map, from.uid, from.gid));
  CAIRN_TRY(file::set_mode(job.fs(), *seat, map, from.mode & 07777));
  return file::set_times(job.fs(), *seat, map, from.atime, from.mtime);
}

// How long a file is waited for that cannot be taken immediately. One that is open may be so for a
// moment only; one that is moving has its place in a few messages' time, unless who moves it was
// killed, and one that was just written is at rest in the next tick of its node's clock.
class Patience {
 public:
  bool has_more(Busy busy) {
    if (busy == Busy::soon ? steady_clock::now() >= until_ : --looks_ == 0) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return true;
  }

 private:
  using steady_clock = std::chrono::steady_clock;
  steady_clock::time_point until_ = steady_clock::now() + std::chrono::seconds(5);
  int looks_ = 8;
};

// One that cannot be taken is not copied before that is known. It may still be moving, for too
// long.
Result<RemoteFile> find_free(Job& job, const std::string& path) {
  Patience patience;
  while (true) {
    auto found = find_remote(job, path, true);
    if (!found.ok() || found->state.busy == Busy::no) return found;
    if (patience.has_more(found->state.busy)) continue;
    if (found->state.busy == Busy::soon) return found;
    return fail(EBUSY, "%s: it is open on node %s, or has other names or extended attributes there",
                path.c_str(), job.host_of(found->node));
  }
}

// ENOENT: it is not there any more.
Status ask_owner(Job& job, const RemoteFile& from, const std::string& path, Op op,
                 bool for_too_long = false) {
  Request request = {};
  request.op = op;
  request.value = for_too_long ? 1 : 0;
  std::string text = path + '\0';
  text.append(reinterpret_cast<const char*>(&from.state), sizeof from.state);
  const NodeAnswers answers = ask_nodes(job, {from.node}, request, text);
  CAIRN_TRY(answers.status);
  return answers.all.empty() || answers.all.front().value == 0 ? missing(path) : Status();
}

Status reserve(Job& job, const RemoteFile& from, const std::string& path) {
  Patience patience;
  for (bool for_too_long = from.state.busy == Busy::soon;;) {
    const Status status = ask_owner(job, from, path, Op::reserve_file, for_too_long);
    const bool is_moving = status.code() == EAGAIN;
    if (!is_moving && status.code() != EBUSY) return status;
    for_too_long = !patience.has_more(is_moving ? Busy::soon : Busy::yes);
    if (for_too_long && !is_moving) return status;
  }
}

// Its name here, in the place of what it replaces in the covered directory.
Status give_name(Job& job, const FileState& from, const LocalEntry& entry, uint64_t inode) {
  CAIRN_TRY(file::with_room(
      job.fs(), [&] { return file::link_inode(job.fs(), inode, entry.parent, entry.name); }));
  if (from.has_lower == 0) return Status();
  auto parent = file::live_inode(job.fs(), entry.parent);
  if (!parent.ok()) return parent.status();
  file::Witness lower = file::witness_of(from.lower);
  // This node may get another handle of the file.
  if ((lower.birth & tier::sys::birth_is_handle) != 0) lower.birth = 0;
  return tier::set_witness(job.fs(), {*parent, entry.parent}, entry.name, &lower);
}

Status fill(Job& job, const RemoteFile& from, const std::string& path, bool empty,
            file::File& file) {
  if (!empty) CAIRN_TRY(copy(job, from, path, file));
  CAIRN_TRY(give_attributes(job, from.state, file.map()));
  return file::sync_file(job.fs(), file.map());
}

// Under the name may be another one by now, and it under another one: a directory above may just
// have got that.
void take_back(Job& job, const FileState& from, const std::string& given, const file::Seen& inode) {
  const auto path = path_now(job, given, inode);
  if (!path.ok() || path->empty()) return;
  auto entry = local_entry(job, *path);
  if (!entry.ok() || !entry->is(inode)) return;
  entry->has_lower = from.has_lower != 0;
  forget(job, *entry).ignore();  // it is there twice, then, which the drains tell
}

// It is reserved, so nobody opens it there. First the name here, then the end there: killed between
// the two, there are two rather than none.
Status settle(Job& job, const RemoteFile& from, const std::string& path, const LocalEntry& entry,
              const file::Seen& inode) {
  Status status = give_name(job, from.state, entry, inode.number);
  if (!status.ok()) {
    const SavedFailure saved(status);
    take_back(job, from.state, path, inode);
    ask_owner(job, from, path, Op::release_reserved)
        .ignore();  // who waits for it does not for ever
    const auto now = local_entry(job, path);
    // Another process here was first.
    return now.ok() && now->exists() ? Status() : saved.restored();
  }
  status = ask_owner(job, from, path, Op::take_file);
  if (status.ok()) return status;
  // Removed, renamed or cut there by its name, by a process that did not open it; or nothing is
  // known.
  const SavedFailure saved(status);
  if (status.code() != EIO) take_back(job, from.state, path, inode);
  return saved.restored();
}

bool is_still(Job& job, const RemoteFile& from, const std::string& path) {
  const auto now = find_remote(job, path);
  return now.ok() && now->node == from.node && now->state.file == from.state.file;
}

// ESTALE: it was changed while it was copied, by a process that did not open it.
Status try_to_fetch(Job& job, const std::string& path, bool empty) {
  CAIRN_TRY_ASSIGN(from, find_free(job, path));
  CAIRN_TRY_ASSIGN(entry, local_entry(job, path));
  CAIRN_TRY_ASSIGN(file, make_unnamed(job, entry, from.state.mode));
  Status status = fill(job, from, path, empty, *file);
  if (!status.ok()) {
    const SavedFailure saved(status);
    // It may have given way to another one, or gone to another node, while it was copied.
    status = is_still(job, from, path) ? saved.restored() : missing(path);
  }
  if (status.ok()) status = reserve(job, from, path);
  if (status.ok())
    status = settle(job, from, path, entry, {file->number, file->inode->generation.load()});
  const pool::SeatGuard seat(job.fs().pool);
  if (!seat.ok()) return status;  // this process has had one until now
  const file::Map map = file->map();
  file::end_moving(job.fs(), *seat, map, map.inode->generation.load());
  file::close_file(*seat, std::move(file));
  return status;
}

}  // namespace

Status fetch_remote(Job& job, const std::string& path, bool empty) {
  constexpr int attempts = 3;
  for (int i = 0; i < attempts; ++i) {
    const Status status = try_to_fetch(job, path, empty);
    if (status.code() != ESTALE) return status;
  }
  return fail(EBUSY, "%s", std::string(last_detail()).c_str());
}

}  // namespace cairn::cluster
