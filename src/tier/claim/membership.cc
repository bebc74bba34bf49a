#include "tier/claim/membership.h"

#include <fcntl.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include "tier/system/system.h"

namespace cairn::tier {
namespace {

// Bytes of the pool's lock file, beyond those of the pool itself: one for all covers, and one for
// each cover's drain. Each cover also has a range in which every member locks a byte, and a range
// in which every run does.
constexpr uint64_t covers_byte = 1ULL << 42;
constexpr uint64_t drain_bytes = covers_byte + 1;
constexpr uint64_t member_bytes = 1ULL << 43;
constexpr uint64_t run_bytes = 1ULL << 44;
constexpr uint64_t most_members = 1 << 14;  // of a cover; also its most runs
constexpr uint64_t name_slots = 1 << 20;

// Two covers that share a slot sometimes wait for each other without need. That is all.
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

Result<sys::Descriptor> open_locks(const file::FileSystem& fs) {
  const int64_t fd = sys::openat(AT_FDCWD, fs.pool.lock_path.c_str(), O_RDWR);
  if (fd < 0) return sys::failed(fd, "lock file", fs.pool.lock_path);
  return sys::Descriptor(static_cast<int>(fd));
}

}  // namespace

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
  if (file.code() == ENOENT) return false;  // nobody has attached the pool in this boot
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
  // The first process that attaches a pool on a device in this boot makes its lock file.
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

}  // namespace cairn::tier
