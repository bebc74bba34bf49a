#include "tier/cover.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "file/attributes.h"
#include "file/names.h"
#include "pool/seats.h"
#include "tier/attributes.h"
#include "tier/claim.h"
#include "tier/drain.h"
#include "tier/fresh.h"
#include "tier/journal.h"
#include "tier/listing.h"
#include "tier/lower.h"
#include "tier/parts.h"
#include "tier/record.h"
#include "tier/system.h"
#include "tier/wipe.h"

namespace cairn::tier {
namespace {

// Bytes of the pool's lock file, beyond those of the pool itself: one lock for all covers, one for
// each cover's drain, and for each cover a range in which every member holds a byte, and one for runs.
constexpr uint64_t covers_byte = 1ULL << 42;
constexpr uint64_t drain_bytes = covers_byte + 1;
constexpr uint64_t member_bytes = 1ULL << 43;
constexpr uint64_t run_bytes = 1ULL << 44;
constexpr uint64_t most_members = 1 << 14;  // and most runs
constexpr uint64_t name_slots = 1 << 20;

// Two covers that share a slot wait for each other without need; no more than that.
uint64_t slot_of(const std::string& name) {
  return std::strtoull(name.c_str(), nullptr, 16) % name_slots;
}
uint64_t first_member_byte(const std::string& name) {
  return member_bytes + slot_of(name) * most_members;
}

uint64_t first_run_byte(const std::string& name) {
  return run_bytes + slot_of(name) * most_members;
}

Result<media::LivenessLock> wait_for(const file::FileSystem& fs, uint64_t byte) {
  for (auto pause = std::chrono::microseconds(100);;
       pause = std::min(pause * 2, std::chrono::microseconds(10000))) {
    auto lock = media::try_lock(fs.pool.lock_path.c_str(), byte);
    if (lock.ok() || lock.code() != EAGAIN) return lock;
    std::this_thread::sleep_for(pause);
  }
}

Status become_member(Cover& cover) {
  const uint64_t first = first_member_byte(cover.name);
  for (uint64_t i = 0; i < most_members; ++i) {
    auto lock =
        media::try_lock(cover.fs->pool.lock_path.c_str(), first + i, media::Inheritance::inherited);
    if (lock.ok()) {
      cover.member = std::move(*lock);
      cover.member_byte = first + i;
      return Status();
    }
    if (lock.code() != EAGAIN) return lock.status();
  }
  return fail(EBUSY, "%s: more processes than a cover can count", cover.path.c_str());
}

Result<sys::Descriptor> open_locks(const file::FileSystem& fs) {
  const int64_t fd = sys::openat(AT_FDCWD, fs.pool.lock_path.c_str(), O_RDWR);
  if (fd < 0) return sys::failed(fd, "lock file", fs.pool.lock_path);
  return sys::Descriptor(static_cast<int>(fd));
}

bool is_below(const std::string& path, const std::string& ancestor) {
  return path.size() > ancestor.size() && path.compare(0, ancestor.size(), ancestor) == 0 &&
         (ancestor == "/" || path[ancestor.size()] == '/');
}

bool is_pool(const std::string& directory) {
  const int64_t fd =
      sys::openat(AT_FDCWD, (directory + "/segment.0").c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return false;
  const sys::Descriptor file(static_cast<int>(fd));
  uint64_t magic = 0;
  return sys::pread(file.get(), &magic, sizeof magic, 0) == sizeof magic &&
         magic == format::superblock_magic;
}

// Covers do not nest, and none holds its own pool.
Status refuse_nested(file::FileSystem& fs, const std::string& path) {
  for (std::string above = path;;) {
    if (is_pool(above)) return fail(ELOOP, "%s lies in the pool %s", path.c_str(), above.c_str());
    if (above != path && is_claimed(above))
      return fail(ELOOP, "%s lies in %s, which is covered itself (it holds %s)", path.c_str(),
                  above.c_str(), claim_file);
    const size_t slash = above.rfind('/');
    if (slash == std::string::npos || above == "/") break;
    above.resize(slash == 0 ? 1 : slash);
  }
  std::string pool;
  if (sys::real_path(fs.pool.path.c_str(), 0, &pool) == 0 && is_below(pool, path))
    return fail(ELOOP, "%s holds the pool %s", path.c_str(), pool.c_str());
  return for_each_record(fs, [&](const std::string&, const CoverRecord& record) {
    if (is_below(record.path, path) || is_below(path, record.path))
      return fail(ELOOP, "%s: %s is covered, and covers do not nest", path.c_str(),
                  record.path.c_str());
    return Status();
  });
}

Result<std::string> real_directory(const std::string& directory) {
  std::string path;
  const int64_t result = sys::real_path(directory.c_str(), O_DIRECTORY, &path);
  if (result < 0) return sys::failed(result, "cannot be covered", directory);
  return path;
}

// Directories that a process left which died while it opened or discarded their cover.
Status remove_unfinished(file::FileSystem& fs, uint64_t covers) {
  auto inode = file::live_inode(fs, covers);
  if (!inode.ok()) return inode.status();
  std::vector<std::string> left;
  CAIRN_TRY(for_each_name(fs, {*inode, covers}, false, [&](const file::Listed& listed) -> Status {
    if (listed.type != S_IFDIR >> 12) return Status();
    auto record = read_record(fs, covers, name_of(listed));
    if (record.code() == ENOENT) left.push_back(name_of(listed));
    return Status();
  }));
  for (const std::string& name : left) CAIRN_TRY(wipe(fs, covers, name));
  return Status();
}

// The directory that stands for lower: as lower's own, and lazy.
Status make_top(file::FileSystem& fs, uint64_t covers, const std::string& name,
                const std::string& path) {
  struct stat st = {};
  if (const int64_t result = sys::lstatat(AT_FDCWD, path.c_str(), &st); result < 0)
    return sys::failed(result, "stat", path);
  file::CreateRequest request;
  request.mode = st.st_mode;
  auto top = file::create_name(fs, covers, name, request);
  if (!top.ok()) return top.status();
  {
    pool::SeatGuard seat(fs.pool);
    if (!seat.ok()) return pool::no_seat(fs.pool);
    CAIRN_TRY(file::set_owner(fs, *seat, *top, st.st_uid, st.st_gid));
    CAIRN_TRY(file::set_mode(fs, *seat, *top, st.st_mode & 07777));
    CAIRN_TRY(file::set_times(fs, *seat, *top, sys::atime_of(st), sys::mtime_of(st)));
  }
  CAIRN_TRY(import_attributes(fs, covers, name, path, sys::ctime_of(st)));
  fs.pool.store_flush(top->inode->ctime, sys::ctime_of(st));
  fs.pool.store_flush(top->inode->drained, sys::ctime_of(st));
  fs.pool.store_flush(top->inode->directory.lower_links, st.st_nlink);
  return file::set_flags(fs, top->number, format::flag_lazy | format::flag_covered, 0);
}

Status make_cover(file::FileSystem& fs, uint64_t covers, const std::string& name,
                  CoverRecord record) {
  auto before = read_record(fs, covers, name);
  // A run without a launcher, which looks into the job, does not end the launch.
  if (before.ok() && record.launch.empty()) record.launch = before->launch;
  if (before.ok() && before->job == record.job && before->keep == record.keep &&
      before->launch == record.launch)
    return Status();
  if (!before.ok() && before.code() != ENOENT) return before.status();
  if (!before.ok()) {
    CAIRN_TRY(remove_unfinished(fs, covers));
    CAIRN_TRY(wipe_parts(fs, name));
    // A journal that is there is about another cover's inodes. The new one has its space from the start: a
    // drain of a full pool needs none.
    CAIRN_TRY(Journal::remove(fs, covers, name));
    CAIRN_TRY(Journal().open(fs, covers, name));
    CAIRN_TRY(make_top(fs, covers, name, record.path));
  }
  return write_record(fs, covers, name, record);
}

// The rest of opening and joining; the caller holds the lock on covers, and there is a record.
Result<std::unique_ptr<Cover>> enter(file::FileSystem& fs, uint64_t covers, const std::string& path,
                                     const WhenAlone& when_alone) {
  auto cover = std::make_unique<Cover>();
  cover->fs = &fs;
  cover->path = path;
  cover->name = cover_name(path);
  cover->covers = covers;
  auto top = find_child(fs, covers, cover->name);
  if (!top.ok()) return top.status();
  if (*top == 0) return fail(EIO, "%s: its cover has a record and no directory", path.c_str());
  cover->top = *top;
  auto known = lower_of(fs).cover_of_top(cover->top);
  if (!known.ok()) return known.status();
  if (when_alone) {
    CAIRN_TRY_ASSIGN(others, has_other_members(*cover));
    if (!others) CAIRN_TRY(when_alone(*cover));
  }
  CAIRN_TRY(become_member(*cover));
  return cover;
}

}  // namespace

Result<bool> has_other_members(const Cover& cover) {
  auto file = open_locks(*cover.fs);
  if (!file.ok()) return file.status();
  const uint64_t first = first_member_byte(cover.name);
  if (!cover.member.held()) return media::is_held(file->get(), first, most_members);
  const uint64_t own = cover.member_byte - first;
  for (const auto& [from, count] :
       {std::pair{first, own}, {first + own + 1, most_members - own - 1}}) {
    if (count == 0) continue;
    auto held = media::is_held(file->get(), from, count);
    if (!held.ok() || *held) return held;
  }
  return false;
}

Result<bool> has_members(const file::FileSystem& fs, const std::string& name) {
  auto file = open_locks(fs);
  if (file.code() == ENOENT) return false;  // as below
  if (!file.ok()) return file.status();
  return media::is_held(file->get(), first_member_byte(name), most_members);
}

Result<int> hold_run(const Cover& cover) {
  auto file = open_locks(*cover.fs);
  if (!file.ok()) return file.status();
  for (uint64_t i = 0; i < most_members; ++i) {
    auto held = media::try_lock_descriptor(file->get(), first_run_byte(cover.name) + i);
    if (held.ok() || held.code() != EAGAIN) return held;
  }
  return fail(EBUSY, "%s: more runs than a cover can count", cover.path.c_str());
}

Result<bool> is_run_under_way(const file::FileSystem& fs, const std::string& name) {
  auto file = open_locks(fs);
  // The lock file of a pool on a device is made by the first who attaches in this boot.
  if (file.code() == ENOENT) return false;
  if (!file.ok()) return file.status();
  return media::is_held(file->get(), first_run_byte(name), most_members);
}

Result<media::LivenessLock> lock_covers(const file::FileSystem& fs) {
  return wait_for(fs, covers_byte);
}

Result<media::LivenessLock> lock_drain(const file::FileSystem& fs, const std::string& name) {
  return wait_for(fs, drain_bytes + slot_of(name));
}

Result<media::LivenessLock> try_lock_drain(const file::FileSystem& fs, const std::string& name) {
  return media::try_lock(fs.pool.lock_path.c_str(), drain_bytes + slot_of(name));
}

Result<std::unique_ptr<Cover>> open_cover(file::FileSystem& fs, const std::string& directory,
                                          const OpenOptions& options) {
  auto path = real_directory(directory);
  if (!path.ok()) return path.status();
  auto lock = lock_covers(fs);
  if (!lock.ok()) return lock.status();
  CAIRN_TRY(refuse_nested(fs, *path));
  CAIRN_TRY(take_claim(fs, *path, options.job));
  auto covers = find_covers(fs, true);
  Status status = covers.status();
  if (status.ok() && options.left) status = discard_earlier(fs, *covers, *path, options);
  if (status.ok())
    status = make_cover(fs, *covers, cover_name(*path),
                        {*path, options.job, options.keep, options.launch});
  if (!status.ok()) {
    const std::string text = last_detail();
    if (!covers.ok() || !read_record(fs, *covers, cover_name(*path)).ok())
      drop_claim(fs, *path).ignore();  // the failure that is told is the first one
    return fail(status.code(), "%s", text.c_str());
  }
  return enter(fs, *covers, *path, options.when_alone);
}

Result<std::unique_ptr<Cover>> join_cover(file::FileSystem& fs, const std::string& directory,
                                          const WhenAlone& when_alone) {
  auto path = real_directory(directory);
  if (!path.ok()) return path.status();
  auto lock = lock_covers(fs);
  if (!lock.ok()) return lock.status();
  auto covers = find_covers(fs, false);
  if (!covers.ok()) return covers.status();
  auto record = *covers == 0 ? Result<CoverRecord>(Status(ENOENT))
                             : read_record(fs, *covers, cover_name(*path));
  if (record.code() == ENOENT)
    return fail(ENOENT, "%s is not covered by pool %s", path->c_str(), fs.pool.path.c_str());
  if (!record.ok()) return record.status();
  return enter(fs, *covers, *path, when_alone);
}

Status discard_cover(Cover& cover, bool only_drained, const std::function<Status()>& before) {
  file::FileSystem& fs = *cover.fs;
  auto lock = lock_covers(fs);
  if (!lock.ok()) return lock.status();
  auto draining = lock_drain(fs, cover.name);
  if (!draining.ok()) return draining.status();
  cover.member.release();
  auto others = has_other_members(cover);
  Status status = others.status();
  if (others.ok() && *others)
    status = fail(EBUSY, "%s: other processes are in it", cover.path.c_str());
  if (status.ok() && only_drained) {
    // Somebody may have come and gone since the drain.
    auto all = is_all_drained(fs, cover.top);
    auto parts = has_parts(fs, cover.name);
    status = all.ok() ? parts.status() : all.status();
    if (status.ok() && (!*all || *parts))
      status = fail(EAGAIN, "%s: not all of it is drained", cover.path.c_str());
  }
  if (status.ok() && before) status = before();
  if (status.ok()) status = remove_record(fs, cover.covers, cover.name);
  if (!status.ok()) {
    // Still a member, then; without a byte of its own it would not be counted, which is all.
    const std::string detail = last_detail();
    become_member(cover).ignore();
    return fail(status.code(), "%s", detail.c_str());
  }
  // From here on the cover does not exist; what a killed process leaves is removed by the next one.
  CAIRN_TRY(wipe(fs, cover.covers, cover.name));
  CAIRN_TRY(wipe_parts(fs, cover.name));
  CAIRN_TRY(Journal::remove(fs, cover.covers, cover.name));
  return drop_claim(fs, cover.path);
}

}  // namespace cairn::tier
