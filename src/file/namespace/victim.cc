#include "file/namespace/victim.h"

#include <sys/stat.h>

#include "file/data/sync.h"
#include "file/namespace/locked_name.h"
#include "pool/lanes/seats.h"

namespace cairn::file::names {

Status sync_what_replaces(FileSystem& fs, NamePlace from, NamePlace to, bool exchange) {
  if (fs.pool.is_volatile || !is_page_medium(fs.pool)) return Status();
  Map unsynced[2];
  {
    pool::SeatGuard seat(fs.pool);
    if (!seat.ok()) return pool::no_seat(fs.pool);
    const auto source = find_name(fs, from.directory, from.name);
    const auto target = find_name(fs, to.directory, to.name);
    if (!source.ok() || !target.ok()) return Status();
    const auto note = [&fs](uint64_t number, Map* map) {
      auto found = live_map(fs, number);
      if (found.ok() && S_ISREG(found->inode->mode.load()) &&
          found->inode->file.unsynced.load() != 0)
        *map = *found;
    };
    note(source->inode, &unsynced[0]);
    if (exchange) note(target->inode, &unsynced[1]);
  }
  for (const Map& map : unsynced) {
    if (map.inode != nullptr) CAIRN_TRY(sync_file(fs, map));
  }
  return Status();
}

// A directory that is to be removed is known to be empty only once lower was asked.
Result<uint64_t> lower_inode(FileSystem& fs, const Map& directory, const Name& name) {
  if (fs.lower == nullptr) return uint64_t{0};
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  auto slot = find_name(fs, directory, name);
  return slot.ok() && slot->has_lower ? slot->inode : uint64_t{0};
}

Status no_room_for_victim(std::string_view text) {
  return fail(ENOSPC,
              "%.*s: cannot remove: a process has it open, so its bytes are read into the pool "
              "first, and the pool is full; drain it or make it larger",
              static_cast<int>(text.size()), text.data());
}

Status stage_victim(FileSystem& fs, uint64_t number, std::string_view text, uint64_t* lost) {
  const Status staged = fs.lower == nullptr ? Status(EIO) : fs.lower->stage(number);
  if (!staged.ok()) *lost = number;
  if (staged.code() != ENOSPC) return Status();
  const auto inode = live_inode(fs, number);
  const bool has_only_copy = inode.ok() && ((*inode)->flags.load() & format::flag_evicted) != 0;
  return has_only_copy ? no_room_for_victim(text) : Status();
}

Status fill_victim(FileSystem& fs, const Map& directory, const Name& name, uint64_t* lost) {
  CAIRN_TRY_ASSIGN(number, lower_inode(fs, directory, name));
  if (number == 0) return Status();
  auto map = live_map(fs, number);
  if (!map.ok() || !is_lazy(*map->inode)) return Status();
  if (S_ISDIR(map->inode->mode.load())) return fs.lower->fill_directory(number);
  if (map->inode->opens.load() == 0) return Status();
  return stage_victim(fs, number, name.view(), lost);
}

}  // namespace cairn::file::names
