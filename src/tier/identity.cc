// What a file in lower is, so that a change behind our back is noticed.
#include <algorithm>

#include "pool/lock.h"
#include "tier/lower.h"

namespace cairn::tier {

bool is_hidden(const std::string& name) {
  return name == claim_file || name.compare(0, 13, ".cairn-claim-") == 0 ||
         name.compare(0, 13, drain_prefix) == 0;
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

file::LowerIdentity directory_identity(const Known& cover, const struct stat& st, uint64_t newest) {
  file::LowerIdentity identity = identity_of(cover, st);
  identity.size = std::max(newest, sys::ctime_of(st));
  return identity;
}

bool is_same_directory(const file::LowerIdentity& a, const file::LowerIdentity& b) {
  return a.device == b.device && a.inode == b.inode;
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
