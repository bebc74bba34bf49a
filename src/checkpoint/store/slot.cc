#include "checkpoint/store/slot.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "checkpoint/store/new_file.h"
#include "checkpoint/store/set_names.h"
#include "checkpoint/store/set_record.h"
#include "file/data/io.h"
#include "file/data/sync.h"
#include "file/data/words.h"
#include "file/namespace/names.h"
#include "file/open/companion.h"
#include "media/liveness.h"

namespace cairn::checkpoint {
namespace {

constexpr uint64_t lease_byte = 0;  // of the manifest's companion

std::string slot_name(uint32_t number, const char* suffix) {
  char text[32];
  std::snprintf(text, sizeof text, "slot-%04u.%s", number, suffix);
  return text;
}

// Returns the inode and generation of a name.
Status look_up(file::FileSystem& fs, uint64_t directory, const std::string& name, uint64_t* number,
               uint64_t* generation) {
  CAIRN_TRY_ASSIGN(found, find_name(fs, directory, name));
  if (found == 0) return fail(ENOENT, "%s: there is none", name.c_str());
  CAIRN_TRY_ASSIGN(inode, file::live_inode(fs, found));
  *number = found;
  *generation = inode->generation.load();
  return Status();
}

}  // namespace

std::string manifest_name(uint32_t slot) { return slot_name(slot, "manifest"); }
std::string data_name(uint32_t slot) { return slot_name(slot, "data"); }

Lease::~Lease() {
  if (descriptor_ >= 0) close(descriptor_);
}

Slot::~Slot() {
  if (pin_.lock.held()) file::unpin(fs_, pin_);
}

Status Slot::open_files(const SlotIds& ids) {
  ids_ = ids;
  const int flags = fs_.pool.read_only ? O_RDONLY : O_RDWR;
  manifest_ = std::make_unique<tier::PoolFile>(fs_, ids.manifest, flags, ids.manifest_generation);
  CAIRN_TRY(manifest_->status());
  data_ = std::make_unique<tier::PoolFile>(fs_, ids.data, flags, ids.data_generation);
  CAIRN_TRY(data_->status());
  if (fs_.pool.read_only) return Status();
  pool::SeatGuard seat(fs_.pool);
  if (!seat.ok()) return pool::no_seat(fs_.pool);
  CAIRN_TRY_ASSIGN(pin, file::pin_inode(fs_, *seat, ids.manifest));
  pin_ = std::move(pin);
  return Status();
}

Result<std::unique_ptr<Slot>> Slot::open(file::FileSystem& fs, const SlotIds& ids) {
  std::unique_ptr<Slot> slot(new Slot(fs));
  CAIRN_TRY(slot->open_files(ids));
  return slot;
}

Result<std::unique_ptr<Slot>> Slot::open(file::FileSystem& fs, uint64_t directory,
                                         uint32_t number) {
  SlotIds ids;
  ids.number = number;
  CAIRN_TRY(look_up(fs, directory, manifest_name(number), &ids.manifest, &ids.manifest_generation));
  CAIRN_TRY(look_up(fs, directory, data_name(number), &ids.data, &ids.data_generation));
  return open(fs, ids);
}

Result<std::unique_ptr<Slot>> Slot::make(file::FileSystem& fs, uint64_t directory, uint32_t number,
                                         uint64_t manifest_bytes, uint64_t data_bytes) {
  CAIRN_TRY(publish_file(fs, directory, manifest_name(number), {{}, manifest_bytes, true}));
  CAIRN_TRY(publish_file(fs, directory, data_name(number), {{}, data_bytes, false}));
  return open(fs, directory, number);
}

Status Slot::grow(uint64_t manifest_bytes, uint64_t data_bytes) {
  if (manifest_file().inode->size.load() < manifest_bytes) {
    CAIRN_TRY(file::allocate(manifest_file(), 0, manifest_bytes));
    CAIRN_TRY(file::grow_size(manifest_file(), manifest_bytes));
  }
  if (data_file().inode->size.load() < data_bytes)
    CAIRN_TRY(file::grow_size(data_file(), data_bytes));
  return Status();
}

Result<uint64_t> Slot::decision() {
  uint64_t word = 0;
  CAIRN_TRY_ASSIGN(n, file::read_at(manifest_file(), &word, sizeof word, decision_offset));
  if (n != sizeof word) return fail(EUCLEAN, "%s: cut off", manifest_name(ids_.number).c_str());
  return word;
}

Result<persist::Word*> Slot::word(uint64_t offset) {
  CAIRN_TRY(fs_.pool.check_writable());
  return file::word_at(fs_, manifest_file().map(), offset);
}

Result<VersionRecord> Slot::read_version() {
  CAIRN_TRY_ASSIGN(begin, read_begin(manifest_file(), sizeof(VersionRecord)));
  return checkpoint::read_version(begin.data(), begin.size());
}

Status Slot::write_back() {
  if (fs_.pool.is_volatile || !file::is_page_medium(fs_.pool)) return Status();
  CAIRN_TRY(file::sync_file(fs_, data_file().map()));
  return file::sync_file(fs_, manifest_file().map());
}

Result<Manifest> Slot::read_manifest() {
  const std::string name = manifest_name(ids_.number);
  const auto read = [&]() -> Result<Manifest> {
    CAIRN_TRY_ASSIGN(version, read_version());
    CAIRN_TRY_ASSIGN(bytes, read_begin(manifest_file(), version.manifest_length));
    return Manifest::read(std::move(bytes));
  };
  auto manifest = read();
  if (!manifest.ok()) return annotate(manifest.status(), "%s", name.c_str());
  const Uuid holder = pool_uuid(fs_);
  if (!std::equal(holder.begin(), holder.end(), manifest->version().holder))
    return fail(EUCLEAN, "%s: was copied from another pool", name.c_str());
  return manifest;
}

Status Slot::retire() {
  CAIRN_TRY_ASSIGN(decision, word(decision_offset));
  uint64_t held = decision->load();
  uint64_t wanted = 0;
  do {
    wanted = decision_word(Decision::retired, held >> 8, 0);
  } while (!is_free_word(held) && !fs_.pool.compare_exchange(*decision, held, wanted));
  fs_.pool.flush(decision, sizeof *decision);
  return Status();
}

Result<Lease> Slot::take_lease() {
  CAIRN_TRY_ASSIGN(descriptor, file::open_companion(manifest_file()));
  Lease lease(descriptor);
  CAIRN_TRY(media::keep_unlocked(descriptor, lease_byte));
  return lease;
}

Result<bool> Slot::is_leased() {
  CAIRN_TRY_ASSIGN(descriptor, file::open_companion(manifest_file()));
  const Lease closes(descriptor);
  return media::is_held(descriptor, lease_byte);
}

Status remove_slot(file::FileSystem& fs, uint64_t directory, uint32_t number) {
  for (const std::string& name : {data_name(number), manifest_name(number)}) {
    if (const Status status = remove_name(fs, directory, name); !status.ok())
      return annotate(status, "%s", name.c_str());
  }
  return Status();
}

}  // namespace cairn::checkpoint
