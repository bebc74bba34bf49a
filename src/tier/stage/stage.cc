#include "tier/stage/stage.h"

#include <fcntl.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "file/data/io.h"
#include "file/data/sync.h"
#include "file/data/truncate.h"
#include "file/inode/attributes.h"
#include "file/namespace/tree.h"
#include "file/space/make_room.h"
#include "file/space/missing_space.h"
#include "pool/core/redo.h"
#include "pool/lanes/lock.h"
#include "pool/space/space.h"
#include "tier/lower/import_lock.h"
#include "tier/lower/lower_base.h"
#include "tier/record/announced.h"
#include "tier/record/locate.h"
#include "tier/stage/import.h"
#include "tier/system/listing.h"
#include "tier/system/pool_file.h"
#include "tier/system/same_directory.h"
#include "tier/system/temp_file.h"

namespace cairn::tier {
namespace {

constexpr size_t piece = 1 << 20;
// Smaller files are copied without a check for space first.
constexpr uint64_t worth_a_look = 1 << 20;

using file::is_lazy;

// Was the inode made by open_source()? Such a file has no name, and never had one in lower.
bool has_source(const file::Map& map) {
  return map.inode->links.load() == 0 && map.inode->lower_parent.load() == 0;
}

Status changed(const LowerLocation& place) {
  return fail(ESTALE,
              place.was_evicted
                  ? "%s: it was changed or replaced since the pool evicted it, which left the only "
                    "copy of its bytes there"
                  : "%s: it was changed or replaced since its directory was covered",
              place.path.c_str());
}

Status gone(const LowerLocation& place) {
  if (!place.was_evicted) return changed(place);
  return fail(
      ESTALE,
      "%s: it was removed or moved away since the pool evicted it, which left the only copy "
      "of its bytes there; move it back",
      place.path.c_str());
}

uint64_t free_bytes(file::FileSystem& fs) {
  const pool::Usage usage = pool::usage(fs.pool);
  return (usage.free - std::min(usage.free, usage.reserve)) * format::block_size;
}

// Makes room for `bytes`, if necessary by evicting other files. A file larger than the pool evicts
// no others.
Status check_space(file::FileSystem& fs, uint64_t bytes, const std::string& what) {
  uint64_t free = free_bytes(fs);
  const uint64_t most = pool::usage(fs.pool).usable * format::block_size;
  while (bytes > free && bytes <= most && file::evict_for(fs, bytes - free)) free = free_bytes(fs);
  if (bytes <= free) return Status();
  return fail(ENOSPC, "%s: %llu bytes do not fit into pool %s, where %llu are free", what.c_str(),
              static_cast<unsigned long long>(bytes), fs.pool.path.c_str(),
              static_cast<unsigned long long>(free));
}

Status copy_data(file::FileSystem& fs, int fd, const file::Map& to, uint64_t size,
                 const LowerLocation& place) {
  const std::string& path = place.path;
  std::vector<uint8_t> buffer(std::min<uint64_t>(size, piece));
  uint64_t from = 0;
  uint64_t end = 0;
  for (uint64_t at = 0; next_data(fd, at, size, &from, &end); at = end) {
    for (uint64_t offset = from; offset < end;) {
      const int64_t n =
          sys::pread(fd, buffer.data(), std::min<uint64_t>(buffer.size(), end - offset), offset);
      if (n < 0) {
        const std::string what = "read at offset " + std::to_string(offset);
        return sys::failed(n, what.c_str(), path);
      }
      if (n == 0) return changed(place);
      const Status status = file::with_room(
          fs,
          [&] { return file::fill_bytes(fs, to, buffer.data(), static_cast<size_t>(n), offset); },
          size - offset);
      if (!status.ok()) return annotate(status, "%s", path.c_str());
      offset += static_cast<uint64_t>(n);
    }
  }
  return Status();
}

struct Times {
  uint64_t mtime;
  uint64_t ctime;
};

// Ends the lazy state, and sets the size and, if they are given, the times in the same change.
// Staging gives no times: it changes none, and a program may have set them meanwhile.
Status finish(file::FileSystem& fs, const file::Map& map, uint64_t size,
              const std::optional<Times>& times, uint64_t generation = 0) {
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  pool::LockGuard lock(fs.pool, *seat, map.inode->lock);
  CAIRN_TRY(file::check_generation(map, generation));
  pool::RedoChange change(fs.pool, *seat);
  change.set(map.inode->size, size);
  if (file::is_page_medium(fs.pool)) change.set(map.inode->file.synced_size, size);
  if (times) {
    change.set(map.inode->mtime, times->mtime);
    change.set(map.inode->ctime, times->ctime);
  }
  change.set(map.inode->flags, map.inode->flags.load() & ~format::flag_lazy);
  return change.commit();
}

Result<size_t> read_own(file::FileSystem& fs, uint64_t inode, void* buffer, size_t size,
                        uint64_t offset) {
  PoolFile file(fs, inode, O_RDONLY, 0, true);
  CAIRN_TRY(file.status());
  return file::read_at(*file, buffer, size, offset);
}

}  // namespace

Result<sys::Descriptor> open_file(const LowerLocation& place, sys::FileStat* st,
                                  sys::Descriptor* base) {
  const int64_t fd = open_lower(place, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, base);
  if (fd == -ENOENT || fd == -ENOTDIR) return gone(place);
  if (fd == -ELOOP) return changed(place);
  if (fd < 0) return sys::failed(fd, "open", place.path);
  sys::Descriptor file(static_cast<int>(fd));
  if (const int64_t result = sys::fstat(file.get(), st); result < 0)
    return sys::failed(result, "stat", place.path);
  if (!S_ISREG(st->st_mode) || !is_remembered(*place.cover, place.witness, *st))
    return changed(place);
  // The pool has given the file other rights, which are for the bytes that were there then.
  if (!place.owner && !may_have_rights(*place.cover, place.witness, *st, place.rights, no_owner))
    return changed(place);
  // Another user may be able to make a file of the same number, size and times, but not of the same
  // owner.
  if (place.owner && st->st_uid != *place.owner && !is_trusted_owner(st->st_uid, no_owner))
    return changed(place);
  return file;
}

Result<size_t> Stager::read_lower(const file::Map& map, void* buffer, size_t size,
                                  uint64_t offset) {
  const DescriptorCache::DescriptorKey key = DescriptorCache::key_of(map);
  const int64_t kept = lower_.descriptors().pread(key, buffer, size, offset);
  if (kept >= 0) return static_cast<size_t>(kept);
  sys::FileStat st = {};
  auto place = locate(fs_, map.number);
  if (!place.ok()) return place.status();
  // Open until the file is kept: so if descriptors are short, enough for the next read stay.
  sys::Descriptor base;
  auto opened = open_file(*place, &st, &base);
  if (!opened.ok()) return opened.status();
  const int64_t n = sys::pread(opened->get(), buffer, size, offset);
  if (n < 0) return sys::failed(n, "read", place->path);
  sys::FileStat after = {};
  if (sys::fstat(opened->get(), &after) < 0 || !is_remembered(*place->cover, place->witness, after))
    return changed(*place);
  lower_.descriptors().keep(key, st, std::move(*opened));
  return static_cast<size_t>(n);
}

template <typename Look>
auto Stager::undisturbed(const file::Map& map, Look look) {
  auto seen = look();
  if (seen.code() == ESTALE && is_lazy(*map.inode) && !fs_.pool.read_only) {
    // A drain that is setting the file's times holds this lock.
    const ImportLock lock(fs_, map);
    if (lock.ok() && is_lazy(*map.inode)) {
      seen = look();
      if (seen.code() == ESTALE) {
        take_announced(fs_, map).ignore();  // if it fails, the look returns the same error again
        seen = look();
      }
    }
  }
  return seen;
}

Result<size_t> Stager::read(uint64_t number, void* buffer, size_t size, uint64_t offset) {
  auto inode = file::live_inode(fs_, number);
  if (!inode.ok()) return inode.status();
  const file::Map map{*inode, number};
  if (has_source(map)) {
    auto source = source_of(map);
    if (source.ok()) return (*source)->read(buffer, size, offset);
    return is_lazy(**inode) ? source.status() : read_own(fs_, number, buffer, size, offset);
  }
  auto n = undisturbed(map, [&] { return read_lower(map, buffer, size, offset); });
  // If the file was staged meanwhile, the pool has its bytes, and lower may have others.
  if (!n.ok() && !is_lazy(**inode)) return read_own(fs_, number, buffer, size, offset);
  return n;
}

Result<uint64_t> Stager::seek_lower(const file::Map& map, uint64_t offset, int whence) {
  sys::FileStat st = {};
  CAIRN_TRY_ASSIGN(place, locate(fs_, map.number));
  CAIRN_TRY_ASSIGN(opened, open_file(place, &st));
  const int64_t found = sys::lseek(opened.get(), static_cast<int64_t>(offset), whence);
  if (found == -EINVAL)
    return whence == SEEK_DATA ? offset : place.witness.size;  // this file system shows no holes
  if (found < 0) return sys::failed(found, "seek", place.path);
  return static_cast<uint64_t>(found);
}

Result<uint64_t> Stager::seek(uint64_t number, uint64_t offset, int whence) {
  auto inode = file::live_inode(fs_, number);
  if (!inode.ok()) return inode.status();
  const file::Map map{*inode, number};
  const uint64_t size = (*inode)->size.load();
  if (offset >= size)
    return fail(ENXIO, "inode %llu: offset %llu is not below its end",
                static_cast<unsigned long long>(number), static_cast<unsigned long long>(offset));
  if (has_source(map)) return whence == SEEK_DATA ? offset : size;
  return undisturbed(map, [&] { return seek_lower(map, offset, whence); });
}

Status Stager::copy_from(const LowerLocation& place, const file::Map& map) {
  sys::FileStat st = {};
  auto from = open_file(place, &st);
  if (!from.ok()) return from.status();
  const auto size = static_cast<uint64_t>(st.st_size);
  if (size >= worth_a_look)
    CAIRN_TRY(check_space(fs_, std::min<uint64_t>(size, static_cast<uint64_t>(st.st_blocks) * 512),
                          place.path));
  CAIRN_TRY(copy_data(fs_, from->get(), map, size, place));
  // When the file is not lazy any more, lower's bytes do not count. So the copy must be durable
  // before.
  CAIRN_TRY(file::sync_file(fs_, map));
  if (const int64_t result = sys::fstat(from->get(), &st); result < 0)
    return sys::failed(result, "stat", place.path);
  return is_remembered(*place.cover, place.witness, st) ? Status() : changed(place);
}

Status Stager::copy_in(const file::Map& map, uint64_t* size) {
  CAIRN_TRY_ASSIGN(place, locate(fs_, map.number));
  *size = place.witness.size;
  const Status status = copy_from(place, map);
  if (status.code() != ESTALE) return status;
  take_announced(fs_, map).ignore();  // if it fails, the second try fails as the first did
  CAIRN_TRY_ASSIGN(now, locate(fs_, map.number));
  return copy_from(now, map);
}

Result<std::shared_ptr<ContentSource>> Stager::source_of(const file::Map& map) {
  std::shared_ptr<ContentSource> source = lower_.sources().find(map);
  if (source == nullptr)
    return fail(
        EIO,
        "inode %llu: its bytes are on other nodes; only the process that opened it can read them",
        static_cast<unsigned long long>(map.number));
  return source;
}

std::shared_ptr<file::Remote> Stager::remote(uint64_t number) {
  auto inode = file::live_inode(fs_, number);
  if (!inode.ok() || !has_source({*inode, number})) return nullptr;
  const std::shared_ptr<ContentSource> source = lower_.sources().find({*inode, number});
  return source == nullptr || source->remote() == nullptr
             ? nullptr
             : std::shared_ptr<file::Remote>(source, source->remote());
}

Status Stager::stage_source(const file::Map& map, ContentSource& source) {
  if (source.remote() != nullptr)
    return fail(ENODEV,
                "it is on another host and open for writing: it cannot be mapped, because this "
                "host would not see other processes' writes");
  const uint64_t size = map.inode->size.load();
  if (size >= worth_a_look) CAIRN_TRY(check_space(fs_, size, "mapping bytes of other nodes"));
  std::vector<uint8_t> buffer(std::min<uint64_t>(size, piece));
  Status status;
  for (uint64_t at = 0; at < size && status.ok();) {
    auto n = source.read(buffer.data(), buffer.size(), at);
    if (n.ok() && *n == 0)
      n = fail(EIO, "its bytes end at offset %llu", static_cast<unsigned long long>(at));
    status = n.ok() ? file::with_room(
                          fs_, [&] { return file::fill_bytes(fs_, map, buffer.data(), *n, at); },
                          size - at)
                    : n.status();
    if (n.ok()) at += *n;
  }
  if (status.ok()) return finish(fs_, map, size, std::nullopt);
  file::drop_staged(fs_, map).ignore();  // what stays is written over by the next try
  return status;
}

// Does not hold the file open, for which a full pool may have no room. The generation, compared
// under the inode's lock, tells whether it still is the same file.
Status Stager::discard(uint64_t number, uint64_t generation) {
  auto inode = file::live_inode(fs_, number);
  if (!inode.ok()) return inode.status();
  const file::Map map{*inode, number};
  CAIRN_TRY(file::check_generation(map, generation));
  const ImportLock lock(fs_, map);
  if (!lock.ok()) return pool::no_seat(fs_.pool);
  if (!is_lazy(*map.inode)) return Status();
  file::drop_staged(fs_, map, generation).ignore();  // the truncation removes what is left
  const uint64_t now = file::now_ns();
  return finish(fs_, map, 0, Times{now, now}, generation);
}

Status Stager::stage(uint64_t number) {
  auto inode = file::live_inode(fs_, number);
  if (!inode.ok()) return inode.status();
  const file::Map map{*inode, number};
  if (!is_lazy(*map.inode)) return Status();
  // Holds the file open while its bytes are copied. Otherwise, if its last name were removed,
  // another file could get its number, and the bytes. A pool without room for an open file has no
  // room for bytes either. Files that are being moved can be opened here too, because the process
  // that moves one may wait for this.
  const PoolFile held(fs_, number, O_PATH, 0, true);
  if (!held.status().ok() && held.status().code() != ENOSPC) return held.status();
  const ImportLock lock(fs_, map);
  if (!lock.ok()) return pool::no_seat(fs_.pool);
  if (!is_lazy(*map.inode)) return Status();
  if (has_source(map)) {
    auto source = source_of(map);
    return source.ok() ? stage_source(map, **source) : source.status();
  }
  uint64_t size = 0;
  const Status status = copy_in(map, &size);
  if (status.ok()) return finish(fs_, map, size, std::nullopt);
  file::drop_staged(fs_, map).ignore();  // what stays is written over by the next try
  if (status.code() == ENOSPC) file::note_no_room(fs_, size);
  return status;
}

Status Stager::stage_tree(uint64_t number) {
  struct Lazy {
    file::Map map;
    uint64_t generation;
  };
  std::vector<Lazy> files;
  std::vector<uint64_t> directories;
  file::Tree tree(fs_, number);
  uint64_t bytes = 0;
  // `listed`, in `above`, names it; null: the tree begins with it.
  const auto add = [&](uint64_t child, const file::Map* above,
                       const file::Listed* listed) -> Status {
    auto inode = file::live_inode(fs_, child);
    if (!inode.ok()) return Status();  // it was removed meanwhile
    if (S_ISDIR((*inode)->mode.load())) {
      if (listed != nullptr) CAIRN_TRY(tree.enter(*above, *listed));
      directories.push_back(child);
    } else if (is_lazy(**inode)) {
      const file::Attributes attributes = file::attributes_of(fs_, {*inode, child});
      files.push_back({{*inode, child}, attributes.generation});
      bytes += std::min(attributes.size, attributes.blocks << format::block_shift);
    }
    return Status();
  };
  CAIRN_TRY(add(number, nullptr, nullptr));
  while (!directories.empty()) {
    const uint64_t directory = directories.back();
    directories.pop_back();
    auto inode = file::live_inode(fs_, directory);
    if (!inode.ok()) continue;
    if (is_lazy(**inode)) CAIRN_TRY(Importer(fs_).fill_directory(directory));
    const file::Map map{*inode, directory};
    CAIRN_TRY(for_each_name(fs_, map, false, [&](const file::Listed& listed) {
      return add(listed.inode, &map, &listed);
    }));
  }
  // Fails before anything is copied.
  if (bytes >= worth_a_look) {
    const Status fits = check_space(fs_, bytes, "moving what still lies in lower");
    if (fits.code() == ENOSPC) file::note_no_room(fs_, bytes);
    CAIRN_TRY(fits);
  }
  for (const Lazy& file : files) {
    const Status status = stage(file.map.number);
    if (!status.ok() && file::check_generation(file.map, file.generation).ok()) return status;
  }
  return Status();
}

Status stage(file::FileSystem& fs, uint64_t inode) { return Stager(lower_of(fs)).stage(inode); }

}  // namespace cairn::tier
