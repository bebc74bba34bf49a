#include "tier/lower/witness.h"

#include <unistd.h>

#include <algorithm>

#include "file/namespace/directory.h"
#include "pool/lanes/lock.h"
#include "pool/lanes/seats.h"
#include "tier/system/same_directory.h"

namespace cairn::tier {
namespace {

// Marks an mtime field that holds a directory's owner instead. Earlier versions noted the mtime of
// the directory there; as a time, the mark lies in the year 1677.
constexpr uint64_t owner_mark = 0x8000'0001ULL << 32;
constexpr uint64_t owner_bits = 0xFFFF'FFFF;

// A user namespace shows every user that it does not know as this one.
constexpr uint64_t unknown_user = 65534;

constexpr uint32_t permissions = 07777;

bool has_owner(const file::Witness& directory) {
  return (directory.mtime & ~owner_bits) == owner_mark &&
         (directory.mtime & owner_bits) != unknown_user;
}

// Shortens a group number to the bits that there is room for. Two groups with the same digest are
// taken for one, so the file keeps that of lower.
constexpr uint32_t group_bits = 0xF'FFFF;
uint32_t digest_of(uint32_t group) { return (group ^ group >> 20) & group_bits; }

struct Noted {
  explicit Noted(uint64_t rights)
      : uid(static_cast<uint32_t>(rights) - 1),
        mode(static_cast<uint32_t>(rights >> 32) & permissions),
        group(static_cast<uint32_t>(rights >> 44)) {}
  uint32_t uid;
  uint32_t mode;
  uint32_t group;  // digest_of()
};

uint64_t birth_in(const KnownCover& cover, const sys::FileStat& st) {
  return cover.keeps_birth ? st.birth : 0;
}

// The file system may tell the time of creation now, and have told a handle before.
bool are_comparable(uint64_t a, uint64_t b) {
  return a != 0 && b != 0 && (a & sys::birth_is_handle) == (b & sys::birth_is_handle);
}

Comparison compare_numbers(const file::Witness& remembered, const file::Witness& found) {
  if (remembered.device != found.device || remembered.inode != found.inode)
    return {Difference::another, "another file has its name"};
  if (are_comparable(remembered.birth, found.birth) && remembered.birth != found.birth)
    return {Difference::another, "another file has its name and its inode number"};
  return {};
}

Comparison compare_directories(const file::Witness& remembered, const file::Witness& found) {
  const Comparison numbers = compare_numbers(remembered, found);
  if (!numbers.is_same()) return numbers;
  const bool has_birth = are_comparable(remembered.birth, found.birth);
  const bool is_old = remembered.birth == 0 && remembered.rights == 0;  // of a pool without births
  if (!has_owner(remembered) || !has_owner(found)) return {};
  if (geteuid() == 0 && (has_birth || is_old)) return {};
  const uint64_t owner = found.mtime & owner_bits;
  if (found.mtime == remembered.mtime || owner == 0 || owner == geteuid()) return {};
  return {Difference::another, "a directory of another user has its name"};
}

}  // namespace

uint64_t noted_rights(uint32_t uid, uint32_t gid, uint32_t mode) {
  return (uint64_t{uid} + 1) | uint64_t{mode & permissions} << 32 | uint64_t{digest_of(gid)} << 44;
}

file::Witness witness_of(const KnownCover& cover, const sys::FileStat& st) {
  file::Witness witness;
  witness.device = st.st_dev == cover.device ? 0 : st.st_dev;
  witness.inode = st.st_ino;
  witness.size = static_cast<uint64_t>(st.st_size);
  witness.mtime = sys::mtime_of(st);
  witness.birth = birth_in(cover, st);
  witness.change = sys::ctime_of(st);
  witness.rights = noted_rights(st.st_uid, st.st_gid, st.st_mode);
  return witness;
}

void note_owner_in(file::Witness* directory, const sys::FileStat& st) {
  directory->mtime = owner_mark | st.st_uid;
}

file::Witness directory_witness(const KnownCover& cover, const sys::FileStat& st, uint64_t newest) {
  file::Witness witness = witness_of(cover, st);
  witness.size = std::max(newest, sys::ctime_of(st));
  note_owner_in(&witness, st);
  witness.change = 0;  // every new entry changes it
  return witness;
}

Comparison compare(const file::Witness& remembered, const file::Witness& found) {
  const Comparison numbers = compare_numbers(remembered, found);
  if (!numbers.is_same()) return numbers;
  if (remembered.size != found.size) return {Difference::contents, "its size has changed"};
  if (remembered.mtime != found.mtime) return {Difference::contents, "it was written to"};
  if (remembered.change == 0 || found.change == 0)
    return {Difference::rights, "the pool does not know its ctime"};
  if (remembered.change == found.change) return {};
  const Noted before(remembered.rights);
  const Noted now(found.rights);
  if (before.uid != now.uid) return {Difference::rights, "its owner has changed"};
  if (before.mode != now.mode) return {Difference::rights, "its mode has changed"};
  return {Difference::rights, "its attributes have changed, or its bytes and then its times"};
}

Comparison compare(const KnownCover& known, const file::Witness& remembered,
                   const sys::FileStat& st) {
  return S_ISDIR(st.st_mode)
             ? compare_directories(remembered, directory_witness(known, st, newest_unknown))
             : compare(remembered, witness_of(known, st));
}

bool are_of_same_file(const file::Witness& a, const file::Witness& b) {
  return compare_numbers(a, b).is_same();
}

bool is_same_file(const sys::FileStat& a, const sys::FileStat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino &&
         (!are_comparable(a.birth, b.birth) || a.birth == b.birth);
}

namespace {

constexpr uint32_t set_ids = S_ISUID | S_ISGID;

bool is_open_to_others(uint32_t uid, uint32_t mode, uint64_t owner) {
  return !is_trusted_owner(uid, owner) || (mode & (S_IWGRP | S_IWOTH)) != 0;
}

constexpr uint32_t usual_bits = permissions & ~set_ids;

// `owner`: of the file or directory with these permissions.
uint32_t merged_permissions(const Noted& before, const file::Attributes& pool,
                            const sys::FileStat& lower, uint32_t owner) {
  if (((pool.mode ^ before.mode) & usual_bits) != 0) return pool.mode & usual_bits;
  if (owner != lower.st_uid) return pool.mode & lower.st_mode & usual_bits;
  // A drain gives the owner more permissions while it works in a directory.
  const uint32_t both = S_ISDIR(lower.st_mode) ? S_IRWXU : 0;
  return lower.st_mode & (pool.mode | ~both) & usual_bits;
}

// A set-ID bit acts for the owner or group that the file had when somebody set it.
bool may_act_for(uint32_t bit, const file::Attributes& wanted, const file::Attributes& pool,
                 const sys::FileStat& lower) {
  if (S_ISDIR(lower.st_mode)) return true;
  const bool is_user = bit == S_ISUID;
  const bool is_of_pool = is_user ? wanted.uid == pool.uid : wanted.gid == pool.gid;
  const bool is_of_lower = is_user ? wanted.uid == lower.st_uid : wanted.gid == lower.st_gid;
  return ((pool.mode & bit) != 0 && is_of_pool) || ((lower.st_mode & bit) != 0 && is_of_lower);
}

}  // namespace

bool may_be_written_by_others(const sys::FileStat& st, uint64_t owner) {
  // The group's bit also shows access lists.
  return is_open_to_others(st.st_uid, st.st_mode, owner);
}

bool may_have_been_written_by_others(const file::Witness& remembered, const sys::FileStat& st,
                                     uint64_t owner) {
  const Noted before(remembered.rights);
  return may_be_written_by_others(st, owner) ||
         (remembered.rights != 0 && is_open_to_others(before.uid, before.mode, owner));
}

file::Attributes merge_rights(const file::Witness& remembered, const sys::FileStat& lower,
                              const file::Attributes& pool, bool is_new) {
  if (remembered.rights == 0) return pool;
  const Noted before(remembered.rights);
  file::Attributes wanted = pool;
  if (pool.uid == before.uid) wanted.uid = lower.st_uid;
  if (digest_of(pool.gid) == before.group) wanted.gid = lower.st_gid;
  const uint32_t owner = is_new && geteuid() != 0 ? geteuid() : wanted.uid;
  uint32_t mode = merged_permissions(before, pool, lower, owner);
  for (const uint32_t bit : {uint32_t{S_ISUID}, uint32_t{S_ISGID}}) {
    const bool is_changed = ((pool.mode ^ before.mode) & bit) != 0;
    const bool is_wished = ((is_changed ? pool.mode : lower.st_mode) & bit) != 0;
    if (is_wished && may_act_for(bit, wanted, pool, lower)) mode |= bit;
  }
  wanted.mode = (pool.mode & ~permissions) | mode;
  return wanted;
}

bool gives_rights(const sys::FileStat& st, const Rights& wanted) {
  const uint32_t kept = st.st_mode & (st.st_gid == wanted.gid ? set_ids : S_ISUID);
  return st.st_uid != wanted.uid || (wanted.mode & set_ids & ~kept) != 0 || wanted.has_attributes;
}

bool keeps_writers(const file::Witness& remembered, const sys::FileStat& st, const Rights& wanted) {
  constexpr uint32_t others = S_IWGRP | S_IWOTH;
  const Noted before(remembered.rights);
  const bool had_same = remembered.rights != 0 && before.uid == st.st_uid &&
                        before.group == digest_of(st.st_gid) &&
                        ((before.mode ^ st.st_mode) & others) == 0;
  const bool may_set = geteuid() == 0 || st.st_uid == geteuid();
  return had_same && may_set && st.st_uid == wanted.uid && st.st_gid == wanted.gid &&
         ((st.st_mode ^ wanted.mode) & others) == 0 && (wanted.mode & set_ids) == 0 &&
         !wanted.has_attributes;
}

bool may_have_rights(const KnownCover& known, const file::Witness& remembered,
                     const sys::FileStat& st, const Rights& wanted, uint64_t owner) {
  return !gives_rights(st, wanted) || !may_have_been_written_by_others(remembered, st, owner) ||
         compare(known, remembered, st).difference == Difference::none;
}

Status set_witness(file::FileSystem& fs, const file::Map& directory, const std::string& text,
                   const file::Witness* witness) {
  auto name = file::make_name(text.data(), text.size());
  if (!name.ok()) return name.status();
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  pool::LockGuard lock(fs.pool, *seat, directory.inode->lock);
  return file::set_lower_witness(fs, *seat, directory, *name, witness);
}

}  // namespace cairn::tier
