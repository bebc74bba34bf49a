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

uint64_t noted_rights(const sys::FileStat& st) {
  const uint64_t mode = st.st_mode & permissions;
  return st.st_uid == unknown_user ? 0 : (uint64_t{st.st_uid} + 1) | mode << 32;
}

uint64_t birth_in(const Known& cover, const sys::FileStat& st) {
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
  const bool is_old = remembered.birth == 0 && remembered.owner == 0;  // of a pool without births
  if (!has_owner(remembered) || !has_owner(found)) return {};
  if (geteuid() == 0 && (has_birth || is_old)) return {};
  const uint64_t owner = found.mtime & owner_bits;
  if (found.mtime == remembered.mtime || owner == 0 || owner == geteuid()) return {};
  return {Difference::another, "a directory of another user has its name"};
}

}  // namespace

file::Witness witness_of(const Known& cover, const sys::FileStat& st) {
  file::Witness witness;
  witness.device = st.st_dev == cover.device ? 0 : st.st_dev;
  witness.inode = st.st_ino;
  witness.size = static_cast<uint64_t>(st.st_size);
  witness.mtime = sys::mtime_of(st);
  witness.birth = birth_in(cover, st);
  witness.change = sys::ctime_of(st);
  witness.owner = noted_rights(st);
  return witness;
}

void note_rights_in(file::Witness* directory, const sys::FileStat& st) {
  directory->mtime = owner_mark | st.st_uid;
  directory->owner = noted_rights(st);
}

file::Witness directory_witness(const Known& cover, const sys::FileStat& st, uint64_t newest) {
  file::Witness witness = witness_of(cover, st);
  witness.size = std::max(newest, sys::ctime_of(st));
  note_rights_in(&witness, st);
  witness.change = 0;  // every new entry changes it
  return witness;
}

Comparison compare(const file::Witness& remembered, const file::Witness& found) {
  const Comparison numbers = compare_numbers(remembered, found);
  if (!numbers.is_same()) return numbers;
  if (remembered.size != found.size) return {Difference::contents, "its size has changed"};
  if (remembered.mtime != found.mtime) return {Difference::contents, "it was written to"};
  if (remembered.owner == 0 || remembered.change == 0 || found.owner == 0 || found.change == 0)
    return {Difference::rights, "the pool does not know its rights"};
  if ((remembered.owner & owner_bits) != (found.owner & owner_bits))
    return {Difference::rights, "its owner has changed"};
  if (remembered.owner != found.owner) return {Difference::rights, "its mode has changed"};
  if (remembered.change != found.change)
    return {Difference::rights, "its attributes have changed, or its bytes and then its times"};
  return {};
}

Comparison compare(const Known& known, const file::Witness& remembered, const sys::FileStat& st) {
  return S_ISDIR(st.st_mode)
             ? compare_directories(remembered, directory_witness(known, st, newest_unknown))
             : compare(remembered, witness_of(known, st));
}

bool is_same_file(const sys::FileStat& a, const sys::FileStat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino &&
         (!are_comparable(a.birth, b.birth) || a.birth == b.birth);
}

bool may_be_written_by_others(const sys::FileStat& st, uint64_t owner) {
  // The group's bit also shows access lists.
  return !is_believed(st.st_uid, owner) || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

void keep_rights_of_lower(const file::Witness& remembered, const sys::FileStat& st,
                          file::Attributes* wanted) {
  if (remembered.owner == 0) return;
  const bool has_owner_of_lower = wanted->uid == (remembered.owner & owner_bits) - 1;
  if (has_owner_of_lower) wanted->uid = st.st_uid;
  if ((wanted->mode & permissions) != remembered.owner >> 32) return;
  const uint32_t owner = geteuid() == 0 ? wanted->uid : geteuid();
  // A drain gives directories more bits while it works in them.
  const bool is_as_in_lower = owner == st.st_uid && !S_ISDIR(st.st_mode);
  const uint32_t both = (st.st_mode & wanted->mode) | (st.st_mode & S_ISVTX);
  const uint32_t kept = is_as_in_lower ? uint32_t{st.st_mode} : both;
  wanted->mode = (wanted->mode & ~permissions) | (kept & permissions);
}

bool gives_rights(const sys::FileStat& st, const Rights& wanted) {
  constexpr uint32_t set_ids = S_ISUID | S_ISGID;
  const uint32_t kept = st.st_mode & (st.st_gid == wanted.gid ? set_ids : S_ISUID);
  return st.st_uid != wanted.uid || (wanted.mode & set_ids & ~kept) != 0 || wanted.has_attributes;
}

bool may_have_rights(const Known& known, const file::Witness& remembered, const sys::FileStat& st,
                     const Rights& wanted, uint64_t owner) {
  return !gives_rights(st, wanted) || !may_be_written_by_others(st, owner) ||
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
