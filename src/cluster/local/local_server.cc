#include "cluster/local/local_server.h"

#include <dirent.h>
#include <fcntl.h>

#include <cstring>

#include "base/coarse_clock.h"
#include "base/saved_failure.h"
#include "cluster/local/local_entry.h"
#include "cluster/rpc/file_change.h"
#include "file/data/io.h"
#include "file/inode/attributes.h"
#include "file/inode/moving.h"
#include "file/inode/open_table.h"
#include "file/inode/pins.h"
#include "file/namespace/names.h"
#include "file/space/make_room.h"
#include "pool/lanes/seats.h"

namespace cairn::cluster {
namespace {

Uuid id_of(const file::Map& map) {
  const uint64_t words[2] = {map.number, map.inode->generation.load()};
  Uuid id = {};
  static_assert(sizeof words == sizeof id);
  std::memcpy(id.data(), words, sizeof words);
  return id;
}

struct Life {
  uint64_t inode;
  uint64_t generation;
};
Life life_of(const Uuid& id) {
  Life life = {};
  static_assert(sizeof life == sizeof id);
  std::memcpy(&life, id.data(), sizeof life);
  return life;
}

// What lies in the covered directory only is the same to all, until a node changes it or has
// claimed it.
bool is_own(const file::Inode& inode) {
  if (!S_ISREG(inode.mode.load())) return false;
  const uint64_t flags = inode.flags.load();
  return (flags & format::flag_lazy) == 0 || (flags & format::flag_evicted) != 0 ||
         inode.stamps.load() != 0 || inode.ctime.load() != inode.drained.load();
}

Result<LocalEntry> own_entry(Job& job, const std::string& path) {
  auto entry = local_entry(job, path);
  if (!entry.ok()) return entry;
  return entry->exists() && is_own(*entry->map.inode) ? entry : Result<LocalEntry>(missing(path));
}

Result<FileState> state_of(Job& job, const LocalEntry& entry) {
  file::Witness lower;
  if (entry.has_lower) {
    auto known = lower_of(job, entry);
    if (!known.ok()) return known.status();
    lower = *known;
  }
  const file::Map& map = entry.map;
  const pool::SeatGuard seat(job.fs().pool);
  if (!seat.ok()) return pool::no_seat(job.fs().pool);
  const file::Attributes from = file::attributes_of(job.fs(), map);
  return FileState{id_of(map),
                   from.size,
                   from.blocks,
                   from.atime,
                   from.mtime,
                   from.ctime,
                   from.btime,
                   from.mode,
                   from.uid,
                   from.gid,
                   from.links,
                   Busy::no,
                   0,
                   entry.has_lower ? 1U : 0U,
                   file::words_of(lower)};
}

bool is_moving(Job& job, const file::Map& map) {
  const pool::SeatGuard seat(job.fs().pool);
  return seat.ok() ? file::is_still_moving(job.fs(), *seat, map) : file::is_moving(*map.inode);
}

Status about_to_move(const std::string& path) {
  return fail(EAGAIN, "%s: being moved to another node; retry", path.c_str());
}

// EBUSY if it cannot have another place; EAGAIN: it is just getting one.
Status check_free(Job& job, const LocalEntry& entry, const std::string& path) {
  if (is_moving(job, entry.map)) return about_to_move(path);
  if (file::is_open(job.fs(), entry.map.number) || file::is_pinned(job.fs(), entry.map.number))
    return fail(EBUSY, "%s: it is open", path.c_str());
  if (entry.map.inode->links.load() != 1 || entry.map.inode->xattr.load() != 0)
    return fail(EBUSY, "%s: it has more names, or extended attributes", path.c_str());
  return Status();
}

void end_moving(Job& job, const file::Map& map, uint64_t generation) {
  const pool::SeatGuard seat(job.fs().pool);
  if (seat.ok()) file::end_moving(job.fs(), *seat, map, generation);
}

}  // namespace

namespace {

// The name as it is while it stays the same: files come and go, and with one that gives way the
// note comes back that an older one was removed.
Result<LocalEntry> settled_entry(Job& job, const std::string& path, bool* removed) {
  while (true) {
    auto entry = local_entry(job, path);
    if (!entry.ok()) return entry;
    *removed = !entry->exists() && is_removed(job, *entry);
    if (*removed || (entry->exists() && is_own(*entry->map.inode))) return entry;
    auto again = local_entry(job, path);
    if (!again.ok()) return again;
    if (again->map.number == entry->map.number && (again->exists() || !is_removed(job, *again)))
      return missing(path);
  }
}

}  // namespace

Result<FileState> look_own(Job& job, const std::string& path, bool asks_busy) {
  bool removed = false;
  auto entry = settled_entry(job, path, &removed);
  if (!entry.ok()) return entry.status();
  if (removed) {
    FileState none = {};
    none.removed = 1;
    return none;
  }
  auto state = state_of(job, *entry);
  if (state.ok() && asks_busy) {
    const int busy = check_free(job, *entry, path).code();
    // A change in the same tick of the clock would not be told from this state, while it is copied.
    const bool is_at_rest = coarse_now_ns() > state->ctime;
    state->busy = busy == EBUSY ? Busy::yes : busy == EAGAIN || !is_at_rest ? Busy::soon : Busy::no;
  }
  return state;
}

Result<FileState> hold_own(Job& job, const std::string& path, bool writing, bool for_too_long) {
  constexpr int attempts = 16;
  for (int i = 0; i < attempts; ++i) {
    auto entry = own_entry(job, path);
    if (!entry.ok()) return entry.status();
    if (for_too_long) end_moving(job, entry->map, entry->map.inode->generation.load());
    if (is_moving(job, entry->map)) return about_to_move(path);
    const Status held = job.held().hold(id_of(entry->map), writing);
    if (held.code() == ESTALE) continue;  // replaced by another one meanwhile
    if (held.code() == EAGAIN) return about_to_move(path);
    CAIRN_TRY(held);
    auto state = state_of(job, *entry);
    if (!state.ok()) job.held().release(id_of(entry->map), writing);
    return state;
  }
  return fail(EBUSY, "%s: other processes keep replacing it; retry", path.c_str());
}

Status read_runs(file::File& file, const ByteRun* runs, uint64_t count, const std::string& whose,
                 uint8_t* bytes, uint64_t* size) {
  uint64_t total = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (runs[i].length > most_bytes || runs[i].count > most_bytes ||
        (total += runs[i].bytes()) > most_bytes)
      return fail(EINVAL, "invalid request: more bytes than fit into a reply");
  }
  for (uint64_t i = 0; i < count; ++i) {
    for (uint64_t k = 0; k < runs[i].count; ++k) {
      const uint64_t at = runs[i].offset + k * runs[i].stride;
      auto n = file::read_at(file, bytes, runs[i].length, at);
      if (!n.ok()) return n.status();
      if (*n != runs[i].length)
        return fail(EIO, "%s ends at offset %llu, before %llu", whose.c_str(),
                    static_cast<unsigned long long>(at) + *n,
                    static_cast<unsigned long long>(at) + runs[i].length);
      bytes += runs[i].length;
    }
  }
  *size = total;
  return Status();
}

Status read_own(Job& job, const Request& request, const ByteRun* runs, uint8_t* bytes,
                uint64_t* size) {
  const Life life = life_of(request.uuid);
  std::unique_ptr<file::File> file;
  {
    pool::SeatGuard seat(job.fs().pool);
    if (!seat.ok()) return pool::no_seat(job.fs().pool);
    // Moving or not, these are its bytes.
    auto opened = file::open_inode(job.fs(), *seat, life.inode, O_RDONLY, life.generation, true);
    if (opened.code() == ESTALE) return fail(EIO, "the file was removed since it was opened");
    if (!opened.ok()) return opened.status();
    file = std::move(*opened);
  }
  const Status status = read_runs(*file, runs, request.runs, "the file", bytes, size);
  pool::SeatGuard seat(job.fs().pool);
  if (seat.ok()) file::close_file(*seat, std::move(file));
  return status;
}

Status change_own(Job& job, const std::string& path, const FileChange& change) {
  CAIRN_TRY_ASSIGN(entry, own_entry(job, path));
  const Status status = change_file(job.fs(), entry.map, entry.generation, change);
  // Replaced by another one meanwhile, as if it had come too late.
  return status.code() == ESTALE ? missing(path) : status;
}

Status rename_own(Job& job, const std::string& from, const std::string& to, unsigned flags) {
  auto source = own_entry(job, from);
  if (!source.ok()) return source.status();
  auto target = local_entry(job, to);
  if (!target.ok()) return target.status();
  return file::with_room(job.fs(), [&] {
    return file::rename(job.fs(), {source->parent, source->name, false},
                        {target->parent, target->name, false}, flags);
  });
}

Status remove_own(Job& job, const std::string& path) {
  auto entry = own_entry(job, path);
  if (!entry.ok()) return entry.status();
  return file::unlink_name(job.fs(), entry->parent, entry->name);
}

namespace {

// The file as it was seen.
Result<LocalEntry> seen_entry(Job& job, const std::string& path, const FileState& seen) {
  auto entry = own_entry(job, path);
  if (!entry.ok()) return entry;
  auto now = state_of(job, *entry);
  if (!now.ok()) return now.status();
  if (now->file != seen.file || now->ctime != seen.ctime || now->size != seen.size)
    return fail(ESTALE, "%s: it was changed meanwhile", path.c_str());
  return entry;
}

}  // namespace

Status reserve_own(Job& job, const std::string& path, const FileState& seen, bool for_too_long) {
  CAIRN_TRY_ASSIGN(entry, seen_entry(job, path, seen));
  if (for_too_long) end_moving(job, entry.map, life_of(seen.file).generation);
  CAIRN_TRY(check_free(job, entry, path));
  CAIRN_TRY(file::begin_moving(job.fs(), entry.map));
  // A process that had it open a moment ago may have written it.
  const Status status = seen_entry(job, path, seen).status();
  if (!status.ok()) end_moving(job, entry.map, life_of(seen.file).generation);
  return status;
}

void release_own(Job& job, const FileState& seen) {
  const Life life = life_of(seen.file);
  auto inode = file::live_inode(job.fs(), life.inode);
  if (inode.ok()) end_moving(job, {*inode, life.inode}, life.generation);
}

Status take_own(Job& job, const std::string& path, const FileState& seen) {
  auto entry = seen_entry(job, path, seen);
  if (!entry.ok()) {
    release_own(job, seen);
    return entry.status();
  }
  if (!file::is_moving(*entry->map.inode))
    return fail(ESTALE, "%s: it was reserved for too long", path.c_str());
  ++job.taken;  // first: who does not find it here any more hears of that
  // A process that changes it by its name does not open it, and so does not wait for its place.
  const Status status = forget(job, *entry, seen.ctime);
  if (!status.ok()) {
    const SavedFailure saved(status);
    release_own(job, seen);
    return saved.restored();
  }
  return status;
}

Result<int64_t> list_own(Job& job, const std::string& directory, uint64_t position,
                         std::vector<uint8_t>* names) {
  auto number = directory_at(job, directory);
  if (!number.ok()) return number.status();
  auto inode = file::live_inode(job.fs(), *number);
  if (!inode.ok()) return inode.status();
  std::vector<file::Listed> batch(32);
  constexpr size_t largest = sizeof(ListedFile) + NAME_MAX;
  while (names->size() + batch.size() * largest <= most_listed) {
    pool::SeatGuard seat(job.fs().pool);
    if (!seat.ok()) return pool::no_seat(job.fs().pool);
    auto n =
        file::list_names(job.fs(), *seat, {*inode, *number}, position, batch.data(), batch.size());
    if (!n.ok()) return n.status();
    if (*n == 0) return 0;
    for (size_t i = 0; i < *n; ++i) {
      auto child = file::live_inode(job.fs(), batch[i].inode);
      if (!child.ok() || !is_own(**child)) continue;
      const ListedFile listed = {batch[i].inode, batch[i].length};
      const auto* bytes = reinterpret_cast<const uint8_t*>(&listed);
      names->insert(names->end(), bytes, bytes + sizeof listed);
      names->insert(names->end(), batch[i].name, batch[i].name + batch[i].length);
    }
    position = batch[*n - 1].cookie;
  }
  return static_cast<int64_t>(position);
}

}  // namespace cairn::cluster
