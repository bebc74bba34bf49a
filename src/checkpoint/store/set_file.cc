#include "checkpoint/store/set_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "base/coarse_clock.h"
#include "checkpoint/record/head.h"
#include "checkpoint/record/text.h"
#include "checkpoint/store/new_file.h"
#include "checkpoint/store/set_names.h"
#include "file/data/words.h"
#include "pool/lanes/seats.h"
#include "tier/record/record.h"
#include "tier/system/pool_file.h"

namespace cairn::checkpoint {
namespace {

constexpr const char* file_name = "set";
constexpr size_t longest_name = sizeof(SetRecord::name);

SetRecord make_record(const file::FileSystem& fs, const std::string& name, const Uuid& uuid) {
  SetRecord record{};
  std::memcpy(record.set, uuid.data(), uuid.size());
  const Uuid pool = pool_uuid(fs);
  std::memcpy(record.pool, pool.data(), pool.size());
  record.created = fine_now_ns();
  record.name_length = static_cast<uint32_t>(name.size());
  std::memcpy(record.name, name.data(), name.size());
  seal_record(&record, sizeof record, magic_set);
  return record;
}

// A name can be seen a moment before the inode that another rank has made for it: both come with
// one change, whose words are stored one after the other.
template <typename Open>
auto open_once_made(Open open) {
  constexpr int attempts = 1000;
  auto result = open();
  for (int i = 0; i < attempts && result.code() == ESTALE; ++i) {
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
    result = open();
  }
  return result;
}

}  // namespace

Status check_set_name(std::string_view name) {
  const auto is_allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  if (name.empty() || name.size() > longest_name || name[0] == '.' ||
      !std::all_of(name.begin(), name.end(), is_allowed))
    return fail(EINVAL,
                "checkpoint set '%s': expected 1 to 64 of A-Z a-z 0-9 . _ - without a leading dot",
                shown_text(name).c_str());
  return Status();
}

Result<Uuid> draw_uuid() {
  Uuid uuid;
  if (getrandom(uuid.data(), uuid.size(), 0) != static_cast<ssize_t>(uuid.size()))
    return fail(errno, "getrandom: %s", strerror(errno));
  return uuid;
}

Uuid pool_uuid(const file::FileSystem& fs) {
  Uuid uuid;
  for (size_t i = 0; i < 2; ++i) {
    const uint64_t half = fs.pool.superblock().uuid[i].load();
    std::memcpy(uuid.data() + 8 * i, &half, sizeof half);
  }
  return uuid;
}

std::string name_in(const SetRecord& record) {
  return {record.name, std::min<size_t>(record.name_length, sizeof record.name)};
}

SetFile::~SetFile() {
  if (pin_.lock.held()) file::unpin(fs_, pin_);
}

Result<std::unique_ptr<SetFile>> SetFile::open(file::FileSystem& fs, const std::string& name) {
  CAIRN_TRY(check_set_name(name));
  return open_once_made([&]() -> Result<std::unique_ptr<SetFile>> {
    std::unique_ptr<SetFile> set(new SetFile(fs));
    if (Status status = set->find(name); !status.ok())
      return annotate(status, "checkpoint set %s", name.c_str());
    return set;
  });
}

Result<std::unique_ptr<SetFile>> SetFile::open_or_make(file::FileSystem& fs,
                                                       const std::string& name, const Uuid& uuid) {
  auto set = open(fs, name);
  if (set.ok() || set.code() != ENOENT) return set;
  CAIRN_TRY(check_no_set_is_hidden(fs, name));
  const auto made = open_once_made([&]() -> Result<uint64_t> {
    CAIRN_TRY_ASSIGN(
        all, tier::find_or_make(fs, format::root_inode, checkpoints_directory, S_IFDIR | 0700));
    return tier::find_or_make(fs, all, name, S_IFDIR | 0700);
  });
  CAIRN_TRY_ASSIGN(directory, made);
  const SetRecord record = make_record(fs, name, uuid);
  NewFile file{{}, set_bytes, true};
  const auto* begin = reinterpret_cast<const uint8_t*>(&record);
  file.bytes.assign(begin, begin + sizeof record);
  Status status = publish_file(fs, directory, file_name, file);
  if (!status.ok() && status.code() != EEXIST)
    return annotate(status, "checkpoint set %s", name.c_str());
  return open(fs, name);
}

Status SetFile::find(const std::string& name) {
  CAIRN_TRY_ASSIGN(place, find_set(fs_, name));
  directory_ = place.directory;
  uint64_t number = 0;
  if (directory_ != 0) {
    CAIRN_TRY_ASSIGN(found, find_name(fs_, directory_, file_name));
    number = found;
  }
  if (number == 0) return fail(ENOENT, "there is none in pool %s", fs_.pool.path.c_str());
  tier::PoolFile file(fs_, number, O_RDONLY);
  CAIRN_TRY(file.status());
  CAIRN_TRY_ASSIGN(bytes, read_begin(*file, sizeof record_));
  CAIRN_TRY_ASSIGN(length, check_record(bytes.data(), bytes.size(), magic_set, sizeof record_));
  if (length != sizeof record_ || file->inode->size.load() < set_bytes)
    return fail(EUCLEAN, "%s: too short", file_name);
  record_ = record_at<SetRecord>(bytes.data());
  CAIRN_TRY(check(name));
  map_ = file->map();
  if (fs_.pool.read_only) return Status();
  pool::SeatGuard seat(fs_.pool);
  if (!seat.ok()) return pool::no_seat(fs_.pool);
  CAIRN_TRY_ASSIGN(pin, file::pin_inode(fs_, *seat, number));
  pin_ = std::move(pin);
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

Result<persist::Word*> SetFile::word(uint64_t offset) const {
  CAIRN_TRY(fs_.pool.check_writable());
  return file::word_at(fs_, map_, offset);
}

}  // namespace cairn::checkpoint
