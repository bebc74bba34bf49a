#include "tier/record/records_directory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "tier/lower/lower.h"
#include "tier/lower/lower_base.h"

namespace cairn::tier {
namespace {

constexpr int as_directory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK;

std::string path_of(const std::string& directory) { return directory + "/" + records_directory; }

// The mode of a directory that Cairn has made. Users do not give a private directory the sticky
// bit. So a user who can rename entries of the covered directory has no directory of this user's
// with that mode to put there.
constexpr uint32_t own_mode = S_ISVTX | S_IRWXU;

bool is_made_by_us(const sys::FileStat& st) {
  constexpr uint32_t inherited = S_ISGID;
  return (st.st_mode & 07777 & ~inherited) == own_mode;
}

bool is_open_to_others(const sys::FileStat& st) { return (st.st_mode & (S_IWGRP | S_IWOTH)) != 0; }

// `st`: of the file that has the name.
std::string why_ignored(const sys::FileStat& st, uint64_t owner) {
  std::string user = "belongs to user " + std::to_string(st.st_uid);
  if (!S_ISDIR(st.st_mode)) return "is not a directory, and " + user;
  if (!is_trusted_owner(st.st_uid, owner)) return user;
  char text[96];
  std::snprintf(text, sizeof text, "has mode %04o: %s", static_cast<unsigned>(st.st_mode & 07777),
                is_open_to_others(st) ? "other users can write to it"
                                      : "other users could have put it there");
  return text;
}

// Does a directory of records count where it lies? It does if Cairn has made it, or if no other
// user owns or can write to the directory above, and so can have put it there.
int64_t check_place(int records, const sys::FileStat& st, uint64_t owner, bool* counts) {
  *counts = true;
  if (is_made_by_us(st)) return 0;
  sys::FileStat above = {};
  const int64_t result = sys::lstatat(records, "..", &above);
  if (result == 0) *counts = is_of_user(above, owner);
  return result;
}

int64_t look(int64_t opened, int directory, const char* name, uint64_t owner, RecordsFound* found) {
  *found = {};
  if (opened == -ENOENT) return 0;
  sys::FileStat st = {};
  if (opened >= 0) {
    found->fd = sys::Descriptor(static_cast<int>(opened));
    if (const int64_t result = sys::fstat(found->fd.get(), &st); result < 0) return result;
    bool counts = is_of_user(st, owner);
    if (counts)
      if (const int64_t result = check_place(found->fd.get(), st, owner, &counts); result < 0)
        return result;
    if (counts) return 0;
    found->fd.reset();
  } else {
    const int64_t result = sys::lstatat(directory, name, &st);
    if (result < 0) return result == -ENOENT ? 0 : opened;
    // It is an error if the user's own directory cannot be opened.
    if (S_ISDIR(st.st_mode) && (opened != -EACCES || st.st_uid == geteuid())) return opened;
  }
  found->ignored = why_ignored(st, owner);
  return 0;
}

}  // namespace

bool is_of_user(const sys::FileStat& st, uint64_t owner) {
  return is_trusted_owner(st.st_uid, owner) && !is_open_to_others(st);
}

int64_t find_records(int directory, uint64_t owner, RecordsFound* found) {
  const int64_t opened = sys::openat(directory, records_directory, as_directory);
  return look(opened, directory, records_directory, owner, found);
}

int64_t find_records(const std::string& directory, uint64_t owner, RecordsFound* found) {
  *found = {};
  const int64_t opened = lower_base(directory);
  if (opened < 0) return opened == -ENOENT ? 0 : opened;
  return find_records(sys::Descriptor(static_cast<int>(opened)).get(), owner, found);
}

Result<sys::Descriptor> make_records(const std::string& directory, uint64_t owner) {
  RecordsFound found;
  int64_t result = find_records(directory, owner, &found);
  if (result == 0 && !found.fd.ok() && found.ignored.empty()) {
    const int64_t opened = lower_base(directory, O_RDONLY);
    if (opened < 0) return sys::failed(opened, "open", directory);
    const sys::Descriptor covered(static_cast<int>(opened));
    const int64_t made = sys::mkdirat(covered.get(), records_directory, own_mode);
    if (made < 0 && made != -EEXIST) return sys::failed(made, "mkdir", path_of(directory));
    if (made == 0) result = sys::fsync_directory(covered.get());
    if (result < 0) return sys::failed(result, "fsync", directory);
    // Another process may have made it, or have put another directory in its place.
    result = find_records(covered.get(), owner, &found);
    if (result == 0 && !found.fd.ok() && found.ignored.empty()) result = -ENOENT;
  }
  if (result < 0) return sys::failed(result, "open", path_of(directory));
  if (found.fd.ok()) return std::move(found.fd);
  return fail(EPERM,
              "%s: cannot hold the records of files that several nodes write: it %s; move it away",
              path_of(directory).c_str(), found.ignored.c_str());
}

void remove_records(int directory, uint64_t owner) {
  RecordsFound found;
  if (find_records(directory, owner, &found) == 0 && found.fd.ok())
    sys::unlinkat(directory, records_directory, AT_REMOVEDIR);  // fails if it is not empty
}

}  // namespace cairn::tier
