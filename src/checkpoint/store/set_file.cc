#include "checkpoint/store/set_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "base/coarse_clock.h"
#include "base/saved_failure.h"
#include "checkpoint/record/medium_errors.h"
#include "checkpoint/record/way_back.h"
#include "checkpoint/store/new_file.h"
#include "checkpoint/store/set_identity.h"
#include "checkpoint/store/set_names.h"
#include "file/data/io.h"
#include "file/data/sync.h"
#include "file/data/words.h"
#include "pool/lanes/seats.h"
#include "tier/record/record.h"
#include "tier/system/pool_file.h"

namespace cairn::checkpoint {
namespace {

constexpr const char* file_name = set_file_name;

// Opens a set that another rank is making. A name can be visible a moment before its inode: one
// change makes both, and stores its words one after the other.
template <typename Open>
auto open_once_made(file::FileSystem& fs, const std::string& name, Open open) {
  constexpr int attempts = 1000;
  auto result = open();
  for (int i = 0; i < attempts && result.code() == ESTALE; ++i) {
    const bool is_being_made = is_set_being_made(fs, name);
    const timespec pause{0, 1'000'000};
    if (is_being_made) nanosleep(&pause, nullptr);
    result = open();
    if (!is_being_made) break;
  }
  return result;
}

}  // namespace

Result<Uuid> draw_uuid() {
  Uuid uuid;
  if (getrandom(uuid.data(), uuid.size(), 0) != static_cast<ssize_t>(uuid.size()))
    return fail(errno, "getrandom: %s", strerror(errno));
  return uuid;
}

SetFile::~SetFile() {
  if (pin_.lock.held()) file::unpin(fs_, pin_);
}

Result<std::unique_ptr<SetFile>> SetFile::open(file::FileSystem& fs, const std::string& name) {
  CAIRN_TRY(check_set_name(name));
  auto found = open_once_made(fs, name, [&]() -> Result<std::unique_ptr<SetFile>> {
    std::unique_ptr<SetFile> set(new SetFile(fs));
    if (Status status = set->find(name); !status.ok())
      return annotate(status, "checkpoint set %s", name.c_str());
    return set;
  });
  if (found.ok() || found.code() == ENOENT || !is_of_medium(found.status())) return found;
  const cairn::SavedFailure saved(found.status());
  // The file cannot be read.
  std::unique_ptr<SetFile> set(new SetFile(fs));
  const auto place = find_set(fs, name);
  if (place.ok()) set->directory_ = place->directory;
  if (set->directory_ != 0 && set->derive_record(name, saved.restored()).ok()) return set;
  return fail(EUCLEAN, "%s; %s", saved.text().c_str(), use_another_pool(name).c_str());
}

Result<std::unique_ptr<SetFile>> SetFile::open_or_make(file::FileSystem& fs,
                                                       const std::string& name, const Uuid& uuid) {
  auto set = open(fs, name);
  if (set.ok() || set.code() != ENOENT) return set;
  CAIRN_TRY(check_no_set_is_hidden(fs, name));
  const auto made = open_once_made(fs, name, [&]() -> Result<uint64_t> {
    CAIRN_TRY_ASSIGN(
        all, tier::find_or_make(fs, format::root_inode, checkpoints_directory, S_IFDIR | 0700));
    return tier::find_or_make(fs, all, name, S_IFDIR | 0700);
  });
  CAIRN_TRY_ASSIGN(directory, made);
  const SetRecord record = make_set_record(pool_uuid(fs), name, uuid, fine_now_ns());
  const NewFile file{bytes_of_set(record), set_bytes, true};
  Status status = publish_file(fs, directory, file_name, file);
  if (!status.ok() && status.code() != EEXIST)
    return annotate(status, "checkpoint set %s", name.c_str());
  return open(fs, name);
}

Status SetFile::find(const std::string& name) {
  CAIRN_TRY_ASSIGN(place, find_set(fs_, name));
  directory_ = place.directory;
  if (directory_ == 0) return fail(ENOENT, "there is none in pool %s", fs_.pool.path.c_str());
  CAIRN_TRY_ASSIGN(number, find_name(fs_, directory_, file_name));
  if (number != 0) return read_file(name, number);
  // The file is being made by another process, or is lost.
  const Status lost = fail(EUCLEAN, "%s: is missing", file_name);
  const Status derived = derive_record(name, lost);
  return derived.code() == ENOENT ? fail(ENOENT, "there is none in pool %s", fs_.pool.path.c_str())
                                  : derived;
}

Status SetFile::read_file(const std::string& name, uint64_t number) {
  tier::PoolFile file(fs_, number, O_RDONLY);
  if (!file.status().ok()) return annotate(file.status(), "file %s", file_name);
  if (!S_ISREG(file->inode->mode.load()) || file->inode->size.load() < set_bytes)
    return derive_record(name, fail(EUCLEAN, "%s: too short", file_name));
  CAIRN_TRY(read_record(name, *file));
  map_ = file->map();
  if (fs_.pool.read_only) return Status();
  pool::SeatGuard seat(fs_.pool);
  if (!seat.ok()) return pool::no_seat(fs_.pool);
  CAIRN_TRY_ASSIGN(pin, file::pin_inode(fs_, *seat, number));
  pin_ = std::move(pin);
  return Status();
}

Status SetFile::read_record(const std::string& name, file::File& file) {
  CAIRN_TRY_ASSIGN(bytes, read_begin(file, set_copy_offset + sizeof record_));
  bool are_both_right = false;
  auto record = read_set_copies(bytes, &are_both_right);
  if (record.code() == EUCLEAN) {
    const cairn::SavedFailure saved(record.status());
    record = record_of_versions(fs_, directory_, name);
    if (!record.ok()) return saved.restored();
  }
  CAIRN_TRY(record.status());
  record_ = *record;
  CAIRN_TRY(check(name));
  return are_both_right || fs_.pool.read_only ? Status() : mend(file);
}

// Repairs the file; all processes would store the same.
Status SetFile::mend(file::File& file) const {
  tier::PoolFile writable(fs_, file.number, O_RDWR);
  CAIRN_TRY(writable.status());
  const std::vector<uint8_t> bytes = bytes_of_set(record_);
  CAIRN_TRY_ASSIGN(written, file::write_at(*writable, bytes.data(), bytes.size(), 0));
  if (written != bytes.size())
    return fail(ENOSPC, "%s: cannot be repaired: no space left in the pool", file_name);
  return file::sync_file(fs_, writable->map());
}

// Opens the set without its file: its versions can be read and removed.
Status SetFile::derive_record(const std::string& name, const Status& why) {
  const cairn::SavedFailure saved(why);
  const auto record = record_of_versions(fs_, directory_, name);
  if (!record.ok()) return record.code() == ENOENT ? record.status() : saved.restored();
  record_ = *record;
  why_no_words_ = saved.text();
  return Status();
}

Status SetFile::check(const std::string& name) const {
  const Uuid pool = pool_uuid(fs_);
  if (std::memcmp(record_.pool, pool.data(), pool.size()) != 0)
    return fail(EUCLEAN, "%s: was copied from another pool", file_name);
  if (record_.name_length != name.size() ||
      std::memcmp(record_.name, name.data(), name.size()) != 0)
    return fail(EUCLEAN, "%s: is that of a set of another name", file_name);
  return Status();
}

Result<bool> SetFile::is_named() const {
  CAIRN_TRY_ASSIGN(place, find_set(fs_, name_in(record_)));
  if (place.directory == 0 || place.directory != directory_) return false;
  CAIRN_TRY_ASSIGN(number, find_name(fs_, directory_, file_name));
  return number == map_.number;
}

uint64_t SetFile::newest_committed() const {
  if (!has_words() || fs_.pool.read_only) return 0;
  const auto sequence = word(set_newest_offset);
  const auto check = word(set_newest_offset + sizeof(uint64_t));
  if (!sequence.ok() || !check.ok()) return 0;
  const uint64_t held = (*sequence)->load();
  return held == ~(*check)->load() ? held : 0;
}

void SetFile::note_newest(uint64_t sequence) const {
  const auto word_of = word(set_newest_offset);
  const auto check = word(set_newest_offset + sizeof(uint64_t));
  if (!word_of.ok() || !check.ok()) return;
  fs_.pool.store_flush(**word_of, sequence);
  fs_.pool.store_flush(**check, ~sequence);
}

Status SetFile::forget_newest(uint64_t sequence) const {
  const uint64_t newest = newest_committed();
  if (newest == 0 || sequence < newest) return Status();
  note_newest(0);
  return fs_.pool.fence();
}

Result<persist::Word*> SetFile::word(uint64_t offset) const {
  CAIRN_TRY(fs_.pool.check_writable());
  if (!has_words())
    return fail(EUCLEAN, "%s; %s", why_no_words_.c_str(),
                copy_and_restore(name_in(record_)).c_str());
  const auto found = file::word_at(fs_, map_, offset);
  if (found.code() != EUCLEAN && found.code() != EIO) return found;
  return fail(EUCLEAN, "checkpoint set %s: %s: %s; %s", name_in(record_).c_str(), file_name,
              std::string(last_detail()).c_str(), copy_and_restore(name_in(record_)).c_str());
}

}  // namespace cairn::checkpoint
