#include "file/open/open_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cassert>
#include <new>
#include <utility>

#include "file/inode/attributes.h"
#include "file/inode/moving.h"
#include "file/inode/open_table.h"
#include "file/open/ending.h"
#include "file/space/free_zeros.h"
#include "pool/lanes/lock.h"

namespace cairn::file {
namespace {

File*& spare_of(FileSystem& fs, const LocalSeat& seat) {
  return fs.spare_files[static_cast<size_t>(&seat - fs.pool.seats.data())];
}

// Returns the handle that this seat closed last, or a new one.
std::unique_ptr<File> take_handle(FileSystem& fs, const LocalSeat& seat) {
  File* spare = std::exchange(spare_of(fs, seat), nullptr);
  return spare != nullptr ? std::unique_ptr<File>(spare) : std::make_unique<File>();
}

// Keeps a closed handle and its description's slot for the next open, or deletes the handle.
void put_handle(FileSystem& fs, const LocalSeat& seat, std::unique_ptr<File> file) {
  const uint64_t slot = file->slot;
  File*& spare = spare_of(fs, seat);
  if (spare != nullptr) {
    fs.free_open_files.push(slot);
    return;
  }
  File* place = file.release();
  place->~File();
  spare = new (place) File;
  spare->slot = slot;
}

void list_file(FileSystem& fs, File* file, bool adopted) {
  std::lock_guard guard(fs.files_lock);
  file->serial = ++fs.last_serial;
  for (File* other = fs.files; adopted && other != nullptr; other = other->next) {
    if (other->shared == file->shared) file->adopted_twice = other->adopted_twice = true;
  }
  if (fs.lane_of_fork >= 0) hold(fs.pool, *file->shared, static_cast<uint32_t>(fs.lane_of_fork));
  file->next = fs.files;
  if (fs.files != nullptr) fs.files.load()->previous = file;
  // A fork may happen at any moment: the child finds the list with this file or without it.
  fs.files.store(file, std::memory_order_release);
}

// Returns false during a fork: the file is closed afterwards.
bool may_close_now(FileSystem& fs, File* file) {
  std::lock_guard guard(fs.files_lock);
  file->closed_in_fork = fs.lane_of_fork >= 0;
  return !file->closed_in_fork;
}

// Returns true if no other handle of this process is on the same description.
bool unlist_file(FileSystem& fs, File* file) {
  std::lock_guard guard(fs.files_lock);
  if (file->previous != nullptr) file->previous->next = file->next;
  if (file->next != nullptr) file->next->previous = file->previous;
  if (fs.files == file) fs.files = file->next;
  for (const File* other = fs.files; file->adopted_twice && other != nullptr; other = other->next) {
    if (other->shared == file->shared) return false;
  }
  return true;
}

// Fills in a fresh handle and lists it.
void fill_handle(File* file, FileSystem& fs, const Map& map, format::OpenFile* open, uint64_t slot,
                 int flags, bool adopted = false) {
  file->fs = &fs;
  file->inode = map.inode;
  file->number = map.number;
  file->shared = open;
  file->slot = slot;
  file->slot_generation = format::open_generation(open->state.load());
  const int access = flags & O_ACCMODE;
  const bool path_only = (flags & O_PATH) != 0;
  // Linux gives access mode 3 neither reading nor writing.
  file->readable = !path_only && (access == O_RDONLY || access == O_RDWR);
  file->writable = !path_only && (access == O_WRONLY || access == O_RDWR);
  file->directory = S_ISDIR(map.inode->mode.load());
  file->synchronous = (flags & (O_SYNC | O_DSYNC)) != 0;
  file->pool_serial = fs.pool.serial;
  file->reads_fast = file->readable && !file->directory && fs.pool.plain_entry;
  file->writes_fast = file->writable && !fs.pool.read_only && fs.pool.plain_entry &&
                      fs.pool.is_volatile && !file->synchronous;
  list_file(fs, file, adopted);
}

// The description of an inode in the making.
class NewDescription {
 public:
  NewDescription(FileSystem& fs, const Map& map, uint64_t slot) : fs_(fs), map_(map), slot_(slot) {}

  // Counts the inode as open from now on.
  Status begin(LocalSeat& seat) {
    CAIRN_TRY(make_description(fs_, seat, &slot_, &open_));
    assert(open_ != nullptr);
    fs_.pool.store(open_->inode, map_.number);
    fs_.pool.fetch_add(map_.inode->opens, 1);
    return Status();
  }
  void give_up() {
    fs_.pool.store(open_->state, format::open_state(generation(), format::open_free));
    fs_.pool.fetch_add(map_.inode->opens, ~0ULL);
  }
  void finish(File* file, int flags) {
    persist::Region& region = fs_.pool.segment_of(open_).region;
    region.store(open_->inode_generation, map_.inode->generation.load());
    region.store(open_->offset, 0);
    region.store(open_->flags, static_cast<uint64_t>(static_cast<uint32_t>(flags)));
    region.store(open_->lock, 0);
    // No other process holds a description that is still being made.
    const uint32_t lane = first_lane(fs_);
    region.store(open_->holder[lane / 64], 1ULL << (lane % 64));
    region.store(open_->state, format::open_state(generation(), format::open_live));
    fill_handle(file, fs_, map_, open_, slot_, flags);
  }

 private:
  [[nodiscard]] uint64_t generation() const { return format::open_generation(open_->state.load()); }
  FileSystem& fs_;
  Map map_;
  uint64_t slot_;
  format::OpenFile* open_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<File>> open_inode(FileSystem& fs, LocalSeat& seat, uint64_t number,
                                         int flags, uint64_t generation, bool moving) {
  auto inode = live_inode(fs, number);
  if (!inode.ok()) return inode.status();
  Pool& pool = fs.pool;
  const auto must_wait = [&] { return !moving && is_moving(**inode); };
  auto file = take_handle(fs, seat);
  if (pool.read_only) {
    file->own = std::make_unique<format::OpenFile>();
    pool.store(file->own->flags, static_cast<uint64_t>(static_cast<uint32_t>(flags)));
    fill_handle(file.get(), fs, {*inode, number}, file->own.get(), 0, flags);
    return file;
  }
  const Map map{*inode, number};
  if (must_wait()) [[unlikely]]
    await_place(fs, seat, map);
  NewDescription opening(fs, map, file->slot);
  CAIRN_TRY(opening.begin(seat));
  // The move began before this process was counted as an opener.
  while (must_wait() && (*inode)->links.load() != 0) [[unlikely]] {
      opening.give_up();
      await_place(fs, seat, map);
      CAIRN_TRY(opening.begin(seat));
    }
  // The count of openers keeps the number's meaning from now on. An inode that lost its name by
  // moving belongs to another node.
  if (must_wait() || !may_open(fs, seat, **inode) ||
      (generation != 0 && (*inode)->generation.load() != generation)) {
    opening.give_up();
    // While this process was counted as an opener, the number may have begun another life and lost
    // its name.
    if (is_live(**inode) && (*inode)->links.load() == 0) end_if_unused(fs, seat, number);
    return no_inode(number);
  }
  opening.finish(file.get(), flags);
  return file;
}

Result<std::unique_ptr<File>> open_unnamed(FileSystem& fs, LocalSeat& seat, const Map& map,
                                           int flags) {
  auto file = take_handle(fs, seat);
  NewDescription opening(fs, map, file->slot);
  if (Status status = opening.begin(seat); !status.ok()) {
    unmake_inode(fs, seat, {map.inode, map.number});
    return status;
  }
  pool::RedoChange change(fs.pool, seat);
  change.set(map.inode->state, format::inode_live);
  const Status status = change.commit();
  // If the commit cannot write back, recovery replays the record, and with it the inode.
  inode_is_made(fs, seat);
  if (!status.ok()) {
    opening.give_up();
    return status;
  }
  opening.finish(file.get(), flags);
  return file;
}

Result<std::unique_ptr<File>> adopt(FileSystem& fs, LocalSeat& seat, uint64_t slot,
                                    uint64_t generation) {
  format::OpenFile* open = open_file_at(fs, slot);
  const uint64_t live = format::open_state(generation, format::open_live);
  if (open == nullptr || open->state.load() != live)
    return fail(EBADF, "open file %llu is gone", static_cast<unsigned long long>(slot));
  const uint32_t lane = first_lane(fs);
  hold(fs.pool, *open, lane);
  Inode* inode = inode_at(fs, open->inode.load());
  // The lane holds the description from now on, unless it was ended just before.
  if (open->state.load() != live || inode == nullptr) {
    if ((open->state.load() & format::open_mask) == format::open_free) let_go(fs.pool, *open, lane);
    return fail(EBADF, "open file %llu is gone", static_cast<unsigned long long>(slot));
  }
  auto file = take_handle(fs, seat);
  fill_handle(file.get(), fs, {inode, open->inode.load()}, open, slot,
              static_cast<int>(open->flags.load()), true);
  return file;
}

void close_file(LocalSeat& seat, std::unique_ptr<File> file) {
  FileSystem& fs = *file->fs;
  if (!may_close_now(fs, file.get())) {
    static_cast<void>(file.release());  // the list keeps it
    return;
  }
  const bool last_handle = unlist_file(fs, file.get());
  if (fs.pool.read_only) return;
  fold_stamp(*file);
  if (!last_handle) return;  // the other one keeps the lane's hold
  format::OpenFile& open = *file->shared;
  // Other holders may go on writing.
  if (open.ahead.load() != 0 && is_only_holder(open, first_lane(fs)))
    free_ahead(fs, seat, file->map(), open);
  let_go(fs.pool, open, first_lane(fs));
  const bool ended = end_description(fs, open);
  const Map map = file->map();
  if (ended) put_handle(fs, seat, std::move(file));
  if (ended && map.inode->links.load() == 0) end_if_unused(fs, seat, map.number);
}

void close_what_waited(FileSystem& fs, LocalSeat& seat) {
  for (;;) {
    File* file = nullptr;
    {
      std::lock_guard guard(fs.files_lock);
      for (file = fs.files; file != nullptr && !file->closed_in_fork;) file = file->next;
      if (file == nullptr) return;
      file->closed_in_fork = false;
    }
    close_file(seat, std::unique_ptr<File>(file));
  }
}

void share_with_lane(FileSystem& fs, uint32_t lane) {
  std::lock_guard guard(fs.files_lock);
  for (File* file = fs.files; file != nullptr; file = file->next)
    hold(fs.pool, *file->shared, lane);
}

void share_with_lane(const File& file, uint32_t lane) { hold(file.fs->pool, *file.shared, lane); }

OffsetGuard::OffsetGuard(File& file, LocalSeat& seat) : file_(file) {
  if (file.fs->pool.read_only) return;
  pool::acquire(file.fs->pool, seat, file.shared->lock);
}
OffsetGuard::~OffsetGuard() {
  if (!file_.fs->pool.read_only) pool::release(file_.fs->pool, file_.shared->lock);
}

}  // namespace cairn::file
