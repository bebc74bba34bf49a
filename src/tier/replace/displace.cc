#include "tier/replace/displace.h"

#include <fcntl.h>

#include "file/namespace/directory_slots.h"
#include "tier/claim/kept_directory.h"
#include "tier/lower/keep_times.h"
#include "tier/lower/lower.h"
#include "tier/lower/lower_base.h"
#include "tier/record/locate.h"
#include "tier/record/record.h"
#include "tier/replace/remove.h"

namespace cairn::tier {
namespace {

Status changed_since_removal(const std::string& path) {
  return fail(ESTALE, "%s: it was changed since it was removed", path.c_str());
}

Result<sys::Descriptor> open_kept(file::FileSystem& fs, const KnownCover& known) {
  const int64_t top = lower_base(known.path, O_RDONLY);
  if (top < 0) return sys::failed(top, "open", known.path);
  const sys::Descriptor above(static_cast<int>(top));
  CAIRN_TRY_ASSIGN(covers, find_covers(fs, false));
  CAIRN_TRY_ASSIGN(record, read_record(fs, covers, cover_name(known.path)));
  const KeepTimes times(above.get());
  sys::Descriptor kept;
  if (const int64_t result = make_kept_directory(fs, above.get(), record.owner, &kept); result < 0)
    return sys::failed(result, "cannot be kept in a directory below", known.path);
  return kept;
}

// Writes a note beside a displaced file: its path below the covered directory.
int64_t note_origin(int kept, const std::string& there, const std::string& origin) {
  const std::string name = origin_prefix + there;
  const int64_t opened =
      sys::openat(kept, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (opened < 0) return opened;
  const sys::Descriptor file(static_cast<int>(opened));
  const int64_t n = sys::pwrite(file.get(), origin.data(), origin.size(), 0);
  if (n != static_cast<int64_t>(origin.size())) return n < 0 ? n : -ENOSPC;
  const int64_t synced = sys::fsync(file.get());
  return synced < 0 ? synced : sys::fsync_directory(kept);
}

// Moves a file of lower into the kept directory. If another file got its name between the look and
// the rename, that file is given back.
Status move(const KnownCover& known, const file::Witness& witness, int from, int to,
            const std::string& name, const std::string& path) {
  const std::string there = kept_name(name);
  const auto forget_origin = [&] { sys::unlinkat(to, (origin_prefix + there).c_str(), 0); };
  int64_t result = note_origin(to, there, path.substr(known.path.size() + 1));
  if (result == 0) result = sys::renameat2(from, name.c_str(), to, there.c_str(), 0);
  if (result < 0) forget_origin();
  if (result == -ENOENT) return Status();
  if (result < 0) return sys::failed(result, "rename", path);
  sys::FileStat st = {};
  if (sys::lstatat(to, there.c_str(), &st) == 0 && !is_remembered(known, witness, st)) {
    give_back(to, there, from, name);
    forget_origin();
    return changed_since_removal(path);
  }
  result = sys::fsync_directory(to);
  if (result == 0) result = sys::fsync_directory(from);
  return result < 0 ? sys::failed(result, "fsync", path) : Status();
}

}  // namespace

Result<file::Witness> removed_name(file::FileSystem& fs, const file::Map& directory,
                                   const std::string& text) {
  auto name = file::make_name(text.data(), text.size());
  if (!name.ok()) return name.status();
  const pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  auto slot = file::find_name(fs, directory, *name, true);
  if (!slot.ok()) return slot.status();
  if (!slot->is_whiteout()) return fail(ENOENT, "%s: it exists", text.c_str());
  return file::slots::witness_in(*slot->dirent, slot->head);
}

Status displace(file::FileSystem& fs, const file::Map& directory, const std::string& name) {
  CAIRN_TRY_ASSIGN(witness, removed_name(fs, directory, name));
  CAIRN_TRY_ASSIGN(place, locate(fs, directory.number));
  const std::string path = place.path + "/" + name;
  const int64_t opened = open_lower(place, O_RDONLY | O_DIRECTORY);
  if (opened < 0) return sys::failed(opened, "open", place.path);
  const sys::Descriptor above(static_cast<int>(opened));
  sys::FileStat st = {};
  if (const int64_t result = sys::fstat(above.get(), &st); result < 0)
    return sys::failed(result, "stat", place.path);
  if (place.parent != 0 && !is_remembered(*place.cover, place.witness, st))
    return changed_since_removal(place.path);
  const int64_t looked = sys::lstatat(above.get(), name.c_str(), &st);
  if (looked < 0 && looked != -ENOENT) return sys::failed(looked, "stat", path);
  if (looked == 0) {
    if (!is_remembered(*place.cover, witness, st)) return changed_since_removal(path);
    if (S_ISDIR(st.st_mode))
      CAIRN_TRY(check_unchanged(*place.cover, above.get(), name, path, witness));
    CAIRN_TRY_ASSIGN(kept, open_kept(fs, *place.cover));
    const KeepTimes times(above.get());
    CAIRN_TRY(move(*place.cover, witness, above.get(), kept.get(), name, path));
  }
  return set_witness(fs, directory, name, nullptr);
}

}  // namespace cairn::tier
