// The identity of a file in lower, by which the pool notices changes outside Cairn.
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "pool/lanes/lock.h"
#include "tier/lower/lower.h"

namespace cairn::tier {

namespace {

// Is this name made of `prefix` and the digits of random_name()? If `host` is not 0, so many digits
// and a dash stand between them.
bool is_made_of(const std::string& name, const std::string& prefix, size_t host) {
  constexpr size_t random = 32;
  const size_t dash = host == 0 ? 0 : host + 1;
  if (name.rfind(prefix, 0) != 0 || name.size() != prefix.size() + dash + random) return false;
  for (size_t i = prefix.size(); i < name.size(); ++i) {
    const bool is_dash = host != 0 && i == prefix.size() + host;
    if (is_dash ? name[i] != '-' : std::strchr("0123456789abcdef", name[i]) == nullptr)
      return false;
  }
  return true;
}

}  // namespace

bool is_hidden(const std::string& name) {
  const std::string claim = claim_file;
  return name == claim || is_made_of(name, claim + "-", 0) || is_made_of(name, claim + "-of-", 0) ||
         is_made_of(name, drain_prefix, 8);
}

bool is_hidden_at_top(const std::string& name) {
  return name == records_directory || is_hidden(name);
}

file::LowerIdentity identity_of(const Known& cover, const struct stat& st) {
  file::LowerIdentity identity;
  identity.device = st.st_dev == cover.device ? 0 : st.st_dev;
  identity.inode = st.st_ino;
  identity.size = static_cast<uint64_t>(st.st_size);
  identity.mtime = sys::mtime_of(st);
  return identity;
}

bool is_same(const file::LowerIdentity& a, const file::LowerIdentity& b) {
  return a.device == b.device && a.inode == b.inode && a.size == b.size && a.mtime == b.mtime;
}

namespace {

// Marks an mtime field that holds a directory's owner instead. Earlier versions noted the mtime of
// the directory there; as a time, the mark lies in the year 1677.
constexpr uint64_t owner_mark = 0x8000'0001ULL << 32;
constexpr uint64_t owner_bits = 0xFFFF'FFFF;

// A user namespace shows every user that it does not know as this one.
constexpr uint64_t unknown_user = 65534;

bool has_owner(const file::LowerIdentity& identity) {
  return (identity.mtime & ~owner_bits) == owner_mark &&
         (identity.mtime & owner_bits) != unknown_user;
}

}  // namespace

file::LowerIdentity directory_identity(const Known& cover, const struct stat& st, uint64_t newest) {
  file::LowerIdentity identity = identity_of(cover, st);
  identity.size = std::max(newest, sys::ctime_of(st));
  identity.mtime = owner_mark | st.st_uid;
  return identity;
}

bool is_same_directory(const file::LowerIdentity& remembered, const file::LowerIdentity& found) {
  if (remembered.device != found.device || remembered.inode != found.inode) return false;
  // Programs and drains of root may have given the directory to another user.
  if (geteuid() == 0 || !has_owner(remembered) || !has_owner(found)) return true;
  const uint64_t owner = found.mtime & owner_bits;
  return found.mtime == remembered.mtime || owner == 0 || owner == geteuid();
}

bool is_remembered(const Known& known, const file::LowerIdentity& identity, const struct stat& st) {
  return S_ISDIR(st.st_mode) ? is_same_directory(identity, directory_identity(known, st, 0))
                             : is_same(identity, identity_of(known, st));
}

Status set_identity(file::FileSystem& fs, const file::Map& directory, const std::string& text,
                    const file::LowerIdentity* identity) {
  auto name = file::make_name(text.data(), text.size());
  if (!name.ok()) return name.status();
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return pool::no_seat(fs.pool);
  pool::LockGuard lock(fs.pool, *seat, directory.inode->lock);
  return file::set_lower_identity(fs, *seat, directory, *name, identity);
}

}  // namespace cairn::tier
