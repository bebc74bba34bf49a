#include "tier/record/attributes.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "file/inode/xattr.h"
#include "tier/lower/pool_rights.h"
#include "tier/lower/witness.h"
#include "tier/record/drain_mode.h"
#include "tier/record/mode_of_lower.h"
#include "tier/record/record.h"
#include "tier/system/open_files.h"
#include "tier/system/system.h"

namespace cairn::tier {
namespace {

constexpr size_t most_bytes = 64 << 10;
// Set on a file of whose attributes the pool holds only some. Those in lower count as well.
constexpr const char* partial = "cairn.partial";
constexpr const char* access_list = "system.posix_acl_access";
constexpr const char* default_access_list = "system.posix_acl_default";
// On a file that had an access list in lower when it was imported.
constexpr const char* noted_access_list = "cairn.access_list";
// On a directory of another user: its default access list when the pool first listed it.
constexpr const char* noted_default_list = "cairn.default_list";

// May another user have set this drain mode? Any user who can write to a file or directory can set
// it. `never` would make the user lose what the run writes there, and the others would drain what
// the user wants to keep in the pool.
bool may_be_of_others(const sys::FileStat& st, const std::string& name) {
  return name == drain_mode_attribute && may_be_written_by_others(st, no_owner);
}

bool is_users(const std::string& name) { return name.compare(0, 5, "user.") == 0; }

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> names;
  for (size_t at = 0; at < list.size(); at += names.back().size() + 1)
    names.emplace_back(list.c_str() + at);
  return names;
}

std::vector<std::string> names_of(int fd) {
  std::string list(most_bytes, '\0');
  int64_t n = sys::flistxattr(fd, list.data(), list.size());
  if (n == -EBADF) n = sys::listxattr(path_of_open(fd).c_str(), list.data(), list.size());
  list.resize(n < 0 ? 0 : static_cast<size_t>(n));
  return split(list);
}

Result<std::string> value_of(int fd, const std::string& name) {
  std::string value(most_bytes, '\0');
  int64_t n = sys::fgetxattr(fd, name.c_str(), value.data(), value.size());
  if (n == -EBADF)
    n = sys::getxattr(path_of_open(fd).c_str(), name.c_str(), value.data(), value.size());
  if (n < 0) return Status(static_cast<int>(-n));
  value.resize(static_cast<size_t>(n));
  return value;
}

// An attribute about the bytes of a file does not hold for other bytes.
bool is_about_contents(const std::string& name) {
  return name == "security.capability" || name == "security.ima";
}

bool is_carried(const std::string& name, const Carried& carried, bool users) {
  if (name == "security.evm") return false;  // also about the inode number
  if (is_users(name)) return users;
  return is_about_contents(name) ? carried.contents : carried.rights;
}

// Copies attributes that the old file in lower has and the pool does not hold; `users`: users' own
// ones, too. Errors are ignored: some attributes are not for this user to set.
void carry_over(int fd, const Carried& carried, bool users) {
  sys::FileStat st = {};
  if (sys::fstat(carried.old, &st) < 0) return;
  for (const std::string& name : names_of(carried.old)) {
    if (!is_carried(name, carried, users) || may_be_of_others(st, name)) continue;
    auto value = value_of(carried.old, name);
    if (value.ok()) sys::fsetxattr(fd, name.c_str(), value->data(), value->size());
  }
}

// An access list in the format of the kernel (include/uapi/linux/posix_acl_xattr.h), little-endian.
struct ListEntry {
  uint16_t tag;
  uint16_t permissions;
  uint32_t id;
};
constexpr size_t list_header = sizeof(uint32_t);
constexpr uint16_t of_group = 4;
constexpr uint16_t of_mask = 0x10;
constexpr uint16_t of_others = 0x20;

ListEntry entry_at(const std::string& list, size_t at) {
  ListEntry entry = {};
  std::memcpy(&entry, list.data() + at, sizeof entry);
  return entry;
}

bool is_entry(const std::string& list, size_t at) { return at + sizeof(ListEntry) <= list.size(); }

// The list of a file whose mode is 0700: chmod opens it.
std::string without_others(std::string list) {
  bool has_mask = false;
  for (size_t at = list_header; is_entry(list, at); at += sizeof(ListEntry))
    has_mask = has_mask || entry_at(list, at).tag == of_mask;
  for (size_t at = list_header; is_entry(list, at); at += sizeof(ListEntry)) {
    ListEntry entry = entry_at(list, at);
    if (entry.tag != (has_mask ? of_mask : of_group) && entry.tag != of_others) continue;
    entry.permissions = 0;
    std::memcpy(list.data() + at, &entry, sizeof entry);
  }
  return list;
}

void set_list(int fd, const char* name, const std::string& list) {
  if (sys::fsetxattr(fd, name, list.data(), list.size()) == -EBADF)
    sys::setxattr(path_of_open(fd).c_str(), name, list.data(), list.size());
}

// A capability acts for the owner that the file had when the program set it.
bool has_owner_of_pool(const file::Map& map, int fd) {
  sys::FileStat st = {};
  const uint64_t owner = map.inode->owner.load();
  return sys::fstat(fd, &st) == 0 && st.st_uid == static_cast<uint32_t>(owner) &&
         st.st_gid == static_cast<uint32_t>(owner >> 32);
}

}  // namespace

void copy_attributes(int fd, int old) { carry_over(fd, {.old = old, .rights = true}, true); }

uint32_t permissions_with(file::FileSystem& fs, const file::Map& map, int fd, int old,
                          uint32_t permissions) {
  if (old < 0 && map.inode->xattr.load() == 0) return permissions;  // nothing was noted
  if (value_of(fd, access_list).ok()) return permissions;
  if (old >= 0) return without_access_list(old, permissions);
  if (!file::get_xattr(fs, map, noted_access_list).ok()) return permissions;
  return permissions & (~static_cast<uint32_t>(S_IRWXG) | (permissions & S_IRWXO) << 3);
}

uint32_t without_access_list(int fd, uint32_t permissions) {
  const auto list = value_of(fd, access_list);
  if (!list.ok()) return permissions;
  for (size_t at = list_header; is_entry(*list, at); at += sizeof(ListEntry)) {
    const ListEntry entry = entry_at(*list, at);
    if (entry.tag == of_group)
      return permissions & (~static_cast<uint32_t>(S_IRWXG) | (entry.permissions & 7U) << 3);
  }
  return permissions;
}

void drop_access_lists(int fd) {
  for (const char* name : {default_access_list, access_list}) {
    if (sys::fremovexattr(fd, name) == -EBADF) sys::removexattr(path_of_open(fd).c_str(), name);
  }
}

Status note_default_list(file::FileSystem& fs, const file::Map& map, int directory) {
  sys::FileStat st = {};
  if (sys::fstat(directory, &st) < 0 || is_trusted_owner(st.st_uid, no_owner)) return Status();
  const auto list = value_of(directory, default_access_list);
  if (!list.ok()) return Status();
  const Status status = file::note_xattr(fs, map, noted_default_list, list->data(), list->size());
  return status.code() == ENOSPC ? Status() : status;  // new files get no list then
}

NewFileList noted_list(file::FileSystem& fs, const file::Map& map, int directory) {
  const auto list = value_of(directory, default_access_list);
  const auto noted = file::get_xattr(fs, map, noted_default_list);
  return {false, list.ok() && noted.ok() && *noted == *list ? *list : ""};
}

void give_list(int fd, const NewFileList& wanted, bool is_directory) {
  if (wanted.is_from_directory) return;
  drop_access_lists(fd);
  if (wanted.list.empty()) return;
  set_list(fd, access_list, without_others(wanted.list));
  if (is_directory) set_list(fd, default_access_list, wanted.list);
}

bool has_system_attributes(file::FileSystem& fs, const file::Map& map) {
  if (map.inode->xattr.load() == 0) return false;
  const auto list = file::list_xattrs(fs, map);
  if (!list.ok()) return true;
  const std::vector<std::string> names = split(*list);
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name.starts_with("security.") || name.starts_with("system.") ||
           name.starts_with("trusted.");
  });
}

Status import_attributes(file::FileSystem& fs, uint64_t directory, const std::string& name,
                         const ImportedName& from) {
  std::string list(most_bytes, '\0');
  // Most files have no attributes, and this call finds that out. It is a hint only, because the
  // name may lead to another file by now.
  const std::string path = path_of_open(from.directory) + "/" + from.name;
  const int64_t n = sys::llistxattr(path.c_str(), list.data(), list.size());
  if (n <= 0) return Status();  // it has none, or none that this user may see
  list.resize(static_cast<size_t>(n));
  bool has_users = false;
  bool has_list = false;
  for (const std::string& attribute : split(list)) {
    has_users = has_users || is_users(attribute);
    has_list = has_list || attribute == access_list;
  }
  if (!has_users && !has_list) return Status();
  auto number = find_child(fs, directory, name);
  if (!number.ok()) return number.status();
  if (*number == 0) return Status();
  auto inode = file::live_inode(fs, *number);
  if (!inode.ok()) return inode.status();
  const file::Map map{*inode, *number};
  if (has_list) {
    const Status noted = file::note_xattr(fs, map, noted_access_list, "1", 1);
    if (noted.code() != ENOSPC) CAIRN_TRY(noted);
    if (!has_users) return Status();
  }
  const int64_t fd = sys::openat(from.directory, from.name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  if (fd < 0) return Status();  // this user cannot read it, so no drain will replace it
  const sys::Descriptor file(static_cast<int>(fd));
  sys::FileStat st = {};
  if (sys::fstat(file.get(), &st) < 0 || !is_same_file(st, from.st))
    return Status();  // it was replaced meanwhile: a read notices that
  for (const std::string& attribute : names_of(file.get())) {
    if (!is_users(attribute)) continue;
    auto value = value_of(file.get(), attribute);
    if (!value.ok()) continue;
    Status status(ENOSPC);
    if (!may_be_of_others(st, attribute)) {
      const bool keeps_out =
          attribute == drain_mode_attribute && *value == text_of(DrainMode::never);
      status = keeps_out ? note_mode_of_lower(fs, map) : Status();
      if (status.ok()) status = file::note_xattr(fs, map, attribute, value->data(), value->size());
    }
    if (status.code() == ENOSPC) status = file::note_xattr(fs, map, partial, "1", 1);
    CAIRN_TRY(status);
  }
  return Status();
}

Status export_attributes(file::FileSystem& fs, const file::Map& map, int fd,
                         const Carried& carried) {
  const bool is_partial = file::get_xattr(fs, map, partial).ok();
  if (carried.old >= 0) carry_over(fd, carried, is_partial);
  auto list = file::list_xattrs(fs, map);
  if (!list.ok()) return list.status();
  const std::vector<std::string> wanted = split(*list);
  const bool has_rights = pool_gives_rights(fs);
  for (const std::string& name : wanted) {
    // security.capability, access lists
    if (!is_users(name) && (!has_rights || !has_owner_of_pool(map, fd))) continue;
    auto value = file::get_xattr(fs, map, name);
    if (value.code() == ENODATA) continue;
    if (!value.ok()) return value.status();
    // Sets only what differs: this user may have no right to change attributes.
    if (auto there = value_of(fd, name); there.ok() && *there == *value) continue;
    const int64_t result = sys::fsetxattr(fd, name.c_str(), value->data(), value->size());
    // The drain mode matters to drains only. If lower cannot keep it, it ends with the cover.
    if (result < 0 && name == drain_mode_attribute) continue;
    if (result < 0) return sys::failed(result, "extended attribute", name);
  }
  if (is_partial) return Status();
  for (const std::string& name : names_of(fd)) {
    bool is_wanted = !is_users(name);
    for (const std::string& other : wanted) is_wanted = is_wanted || other == name;
    if (!is_wanted) sys::fremovexattr(fd, name.c_str());
  }
  return Status();
}

}  // namespace cairn::tier
