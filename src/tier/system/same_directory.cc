#include "tier/system/same_directory.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "tier/system/system.h"

namespace cairn::tier {
namespace {

constexpr size_t token_digits = 32;

// All others count as network file systems: NFS, Lustre, GPFS, BeeGFS, FUSE and so on.
bool is_local(uint64_t type) {
  constexpr std::array<uint64_t, 12> local = {
      0xEF53,      // ext2, ext3, ext4
      0x58465342,  // XFS
      0x9123683E,  // btrfs
      0x01021994,  // tmpfs
      0x858458F6,  // ramfs
      0x794C7630,  // overlay
      0x2FC12FC1,  // ZFS
      0xF2F52010,  // F2FS
      0xCA451A4E,  // bcachefs
      0x3153464A,  // JFS
      0x52654973,  // ReiserFS
      0x3434,      // NILFS
  };
  return std::find(local.begin(), local.end(), type) != local.end();
}

}  // namespace

int64_t marks_of(int directory, DirectoryMarks* marks) {
  *marks = {};
  struct statfs system = {};
  sys::FileStat st = {};
  int64_t result = sys::fstatfs(directory, &system);
  if (result < 0) return result;
  if (!is_local(static_cast<uint32_t>(system.f_type))) return 0;
  result = sys::fstat(directory, &st);
  if (result == 0 && st.birth != 0 && (st.birth & sys::birth_is_handle) == 0)
    *marks = {st.st_dev, st.st_ino, st.birth};
  return result;
}

bool are_same(const DirectoryMarks& a, const DirectoryMarks& b) { return a.birth != 0 && a == b; }

std::string new_token() { return sys::random_name(); }

bool is_token(const std::string& text) {
  return text.size() == token_digits &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool is_trusted_owner(uint32_t uid, uint64_t owner) {
  return uid == geteuid() || uid == 0 || uid == owner;
}

}  // namespace cairn::tier
