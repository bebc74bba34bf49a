#include "tier/claim/kept_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tier/claim/claim_text.h"
#include "tier/lower/lower.h"
#include "tier/record/record.h"
#include "tier/system/temp_file.h"

namespace cairn::tier {
namespace {

constexpr const char* foreign_prefix = "foreign-";

// The mark is a symbolic link that leads nowhere. A link is created together with its text, and
// takes no blocks for data.
struct Mark {
  std::string pool;  // its uuid
  std::string name;  // of the directory
};

std::string text_of(const Mark& mark) { return "pool:" + mark.pool + ":" + mark.name; }

// -ENOENT: the directory has no mark, or one that does not count.
int64_t read_mark(int kept, uint64_t owner, Mark* mark) {
  sys::FileStat st = {};
  if (const int64_t result = sys::lstatat(kept, kept_mark, &st); result < 0) return result;
  if (!S_ISLNK(st.st_mode) || !is_trusted_owner(st.st_uid, owner)) return -ENOENT;
  std::string text;
  if (const int64_t result = sys::read_link(kept, kept_mark, &text); result < 0) return result;
  const size_t pool = text.find(':');
  const size_t name = pool == std::string::npos ? pool : text.find(':', pool + 1);
  if (name == std::string::npos) return -ENOENT;
  mark->pool = text.substr(pool + 1, name - pool - 1);
  mark->name = text.substr(name + 1);
  return text_of(*mark) == text ? 0 : -ENOENT;
}

int64_t write_mark(int kept, const Mark& mark) {
  const int64_t result = sys::symlinkat(text_of(mark).c_str(), kept, kept_mark);
  return result < 0 ? result : sys::fsync_directory(kept);
}

// Opens a directory of the user. -ENOENT: there is none of this name.
int64_t open_own(int covered, const std::string& name, uint64_t owner, sys::Descriptor* kept,
                 uint32_t* permissions) {
  const int64_t opened = sys::openat(covered, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (opened == -ENOTDIR || opened == -ELOOP || opened == -EACCES) return -ENOENT;
  if (opened < 0) return opened;
  sys::Descriptor fd(static_cast<int>(opened));
  sys::FileStat st = {};
  if (const int64_t result = sys::fstat(fd.get(), &st); result < 0) return result;
  // A directory of root's is for runs of root only.
  if (st.st_uid != geteuid() && st.st_uid != owner) return -ENOENT;
  *permissions = st.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
  *kept = std::move(fd);
  return 0;
}

bool is_closed(uint32_t permissions) { return permissions == S_IRWXU; }

// A user who can write to the directory can also write notes of origins.
bool is_open_to_others(uint32_t permissions) { return (permissions & (S_IWGRP | S_IWOTH)) != 0; }

// Opens a directory whose mark names it. -ENOENT: there is none; -EPERM: others can write to it.
int64_t open_marked(int covered, const std::string& name, uint64_t owner, sys::Descriptor* kept,
                    Mark* mark, uint32_t* permissions) {
  int64_t result = open_own(covered, name, owner, kept, permissions);
  if (result < 0) return result;
  result = read_mark(kept->get(), owner, mark);
  if (result == 0 && mark->name != name) result = -ENOENT;
  if (result == 0 && is_open_to_others(*permissions)) result = -EPERM;
  if (result < 0) kept->reset();
  return result;
}

std::string start_of_name(const Claim& own) {
  return drain_prefix + cover_name(own.host).substr(0, 8) + "-";
}

// Puts the mark into an empty directory. -EEXIST: the directory may not be the pool's.
int64_t mark_new(int covered, const Mark& mark, uint64_t owner, sys::Descriptor* kept,
                 bool is_made) {
  uint32_t permissions = 0;
  int64_t result = open_own(covered, mark.name, owner, kept, &permissions);
  if (result < 0) return result == -ENOENT ? -EEXIST : result;
  // A new directory may have other permissions, as some file systems give all directories the same
  // ones. A directory that was there before may be the user's own.
  if (is_made ? is_open_to_others(permissions) : !is_closed(permissions)) return -EEXIST;
  std::vector<sys::DirectoryEntry> entries;
  result = list_of(kept->get(), &entries);
  if (result == 0) result = entries.empty() ? write_mark(kept->get(), mark) : -EEXIST;
  return result < 0 ? result : sys::fsync_directory(covered);
}

// Makes or opens a kept directory. -EEXIST: something else has the name.
int64_t make_named(int covered, const Mark& mark, uint64_t owner, sys::Descriptor* kept) {
  const int64_t made = sys::mkdirat(covered, mark.name.c_str(), S_IRWXU);
  if (made < 0 && made != -EEXIST) return made;
  Mark found;
  uint32_t permissions = 0;
  const int64_t opened = open_marked(covered, mark.name, owner, kept, &found, &permissions);
  if (opened == 0) {
    if (found.pool != mark.pool) kept->reset();
    if (!kept->ok()) return -EEXIST;
    // The user has let others read the files in it. Files that come now may be private.
    if (!is_closed(permissions)) sys::fchmod(kept->get(), S_IRWXU);
    return 0;
  }
  if (opened == -EPERM) return -EEXIST;
  if (opened != -ENOENT) return opened;
  // The directory is new, or empty because a process was killed here.
  const int64_t result = mark_new(covered, mark, owner, kept, made == 0);
  if (result < 0) kept->reset();
  if (result < 0 && made == 0) sys::unlinkat(covered, mark.name.c_str(), AT_REMOVEDIR);
  return result;
}

// Removes the directory of a process that was killed before it put in the mark, or after it removed
// the mark.
void remove_unmarked(int covered, const std::string& name, uint64_t owner) {
  sys::Descriptor kept;
  uint32_t permissions = 0;
  if (open_own(covered, name, owner, &kept, &permissions) == 0 && is_closed(permissions))
    sys::unlinkat(covered, name.c_str(), AT_REMOVEDIR);
}

}  // namespace

int64_t make_kept_directory(const file::FileSystem& fs, int covered, uint64_t owner,
                            sys::Descriptor* kept) {
  const Claim own = own_claim(fs, "");
  const int64_t made = make_named(covered, {own.uuid, start_of_name(own) + own.uuid}, owner, kept);
  if (made != -EEXIST) return made;
  std::vector<sys::Descriptor> found = find_kept_directories(fs, covered, owner);
  if (found.empty())
    return make_named(covered, {own.uuid, start_of_name(own) + sys::random_name()}, owner, kept);
  *kept = std::move(found.front());
  return 0;
}

std::vector<sys::Descriptor> find_kept_directories(const file::FileSystem& fs, int covered,
                                                   uint64_t owner) {
  const Claim own = own_claim(fs, "");
  const std::string first = start_of_name(own) + own.uuid;
  std::vector<sys::DirectoryEntry> entries;
  // A user who may not list the covered directory has only the kept directory of the first name.
  if (list_of(covered, &entries) < 0) entries = {{first, 0}};
  std::vector<sys::Descriptor> found;
  for (const sys::DirectoryEntry& entry : entries) {
    if (entry.name.rfind(start_of_name(own), 0) != 0) continue;
    sys::Descriptor kept;
    Mark mark;
    uint32_t permissions = 0;
    const int64_t opened = open_marked(covered, entry.name, owner, &kept, &mark, &permissions);
    if (opened == -ENOENT && entry.name == first) remove_unmarked(covered, first, owner);
    if (opened == 0 && mark.pool == own.uuid) found.push_back(std::move(kept));
  }
  return found;
}

int64_t open_kept_directory(int covered, const std::string& name, uint64_t owner,
                            sys::Descriptor* kept) {
  Mark mark;
  uint32_t permissions = 0;
  return open_marked(covered, name, owner, kept, &mark, &permissions);
}

int64_t remove_kept_directory(int covered, uint64_t owner, int kept) {
  std::vector<sys::DirectoryEntry> entries;
  if (const int64_t listed = list_of(kept, &entries); listed < 0) return listed;
  for (const sys::DirectoryEntry& entry : entries)
    if (entry.name != kept_mark) return -ENOTEMPTY;
  Mark mark;
  if (const int64_t read = read_mark(kept, owner, &mark); read < 0) return read;
  if (const int64_t removed = sys::unlinkat(kept, kept_mark, 0); removed < 0) return removed;
  return sys::unlinkat(covered, mark.name.c_str(), AT_REMOVEDIR);
}

bool give_back(int kept, const std::string& there, int directory, const std::string& name) {
  if (rename_to_free(kept, there, directory, name.c_str()) == 0) return true;
  rename_to_free(kept, there, kept, (foreign_prefix + there).c_str());
  return false;
}

bool is_foreign(const std::string& name) { return name.rfind(foreign_prefix, 0) == 0; }

std::string kept_name(const std::string& name) {
  constexpr size_t longest = 200;
  return sys::random_name().substr(0, 16) + "-" + name.substr(0, longest);
}

bool is_origin(const std::string& name) { return name.rfind(origin_prefix, 0) == 0; }

int64_t list_of(int directory, std::vector<sys::DirectoryEntry>* entries) {
  const int64_t opened = sys::openat(directory, ".", O_RDONLY | O_DIRECTORY);
  if (opened < 0) return opened;
  const sys::Descriptor all(static_cast<int>(opened));
  return sys::list(all.get(), entries);
}

}  // namespace cairn::tier
