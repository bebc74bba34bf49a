#include "tier/kept_directory.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "tier/claim.h"
#include "tier/lower.h"
#include "tier/record.h"

namespace cairn::tier {
namespace {

// A symbolic link that leads nowhere: it is there with its text or not at all, and needs no room for
// data.
struct Mark {
  std::string pool;  // its uuid
  std::string name;  // of the directory
};

std::string text_of(const Mark& mark) { return "pool:" + mark.pool + ":" + mark.name; }

// A directory may have inherited the set-group-ID bit.
bool is_private(const struct stat& st, uint64_t owner) {
  constexpr uint32_t permissions = S_IRWXU | S_IRWXG | S_IRWXO;
  return is_believed(st.st_uid, owner) && (st.st_mode & permissions) == S_IRWXU;
}

// -ENOENT: there is no mark of ours.
int64_t read_mark(int kept, uint64_t owner, Mark* mark) {
  struct stat st = {};
  if (const int64_t result = sys::lstatat(kept, kept_mark, &st); result < 0) return result;
  if (!S_ISLNK(st.st_mode) || !is_believed(st.st_uid, owner)) return -ENOENT;
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

int64_t open_private(int covered, const std::string& name, uint64_t owner, sys::Descriptor* kept) {
  const int64_t opened =
      sys::openat(covered, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (opened == -ENOTDIR || opened == -ELOOP || opened == -EACCES) return -ENOENT;
  if (opened < 0) return opened;
  sys::Descriptor fd(static_cast<int>(opened));
  struct stat st = {};
  if (const int64_t result = sys::fstat(fd.get(), &st); result < 0) return result;
  if (!is_private(st, owner)) return -ENOENT;
  *kept = std::move(fd);
  return 0;
}

std::string start_of_name(const Claim& own) {
  return drain_prefix + cover_name(own.host).substr(0, 8) + "-";
}

// -EEXIST: something else has the name.
int64_t make_named(int covered, const Mark& mark, uint64_t owner, sys::Descriptor* kept) {
  const int64_t made = sys::mkdirat(covered, mark.name.c_str(), 0700);
  if (made < 0 && made != -EEXIST) return made;
  const int64_t opened = open_private(covered, mark.name, owner, kept);
  if (opened < 0) return opened == -ENOENT ? -EEXIST : opened;
  Mark found;
  int64_t result = read_mark(kept->get(), owner, &found);
  if (result == 0 && (found.pool != mark.pool || found.name != mark.name)) result = -EEXIST;
  if (result == -ENOENT) {
    // New, or left by a process that was killed here: then there is nothing in it.
    std::vector<sys::Entry> entries;
    result = list_of(kept->get(), &entries);
    if (result == 0) result = entries.empty() ? write_mark(kept->get(), mark) : -EEXIST;
    if (result == 0) result = sys::fsync_directory(covered);
  }
  if (result < 0) kept->reset();
  return result;
}

}  // namespace

int64_t make_kept_directory(const file::FileSystem& fs, int covered, uint64_t owner,
                            sys::Descriptor* kept) {
  const Claim own = own_claim(fs, "");
  const int64_t made = make_named(covered, {own.uuid, start_of_name(own) + own.uuid}, owner, kept);
  if (made != -EEXIST) return made;
  return make_named(covered, {own.uuid, start_of_name(own) + sys::random_name()}, owner, kept);
}

int64_t find_kept_directory(const file::FileSystem& fs, int covered, uint64_t owner,
                            sys::Descriptor* kept) {
  const Claim own = own_claim(fs, "");
  const std::string name = start_of_name(own) + own.uuid;
  const int64_t opened = open_private(covered, name, owner, kept);
  if (opened < 0) return opened;
  Mark mark;
  int64_t result = read_mark(kept->get(), owner, &mark);
  // A process was killed before it put the mark into it, or after it removed that.
  if (result == -ENOENT) sys::unlinkat(covered, name.c_str(), AT_REMOVEDIR);
  if (result == 0 && (mark.pool != own.uuid || mark.name != name)) result = -ENOENT;
  if (result < 0) kept->reset();
  return result;
}

int64_t open_kept_directory(int covered, const std::string& name, uint64_t owner,
                            sys::Descriptor* kept) {
  const int64_t opened = open_private(covered, name, owner, kept);
  if (opened < 0) return opened;
  Mark mark;
  int64_t result = read_mark(kept->get(), owner, &mark);
  if (result == 0 && mark.name != name) result = -ENOENT;
  if (result < 0) kept->reset();
  return result;
}

int64_t remove_kept_directory(int covered, uint64_t owner, int kept) {
  std::vector<sys::Entry> entries;
  if (const int64_t listed = list_of(kept, &entries); listed < 0) return listed;
  for (const sys::Entry& entry : entries)
    if (entry.name != kept_mark) return -ENOTEMPTY;
  Mark mark;
  if (const int64_t read = read_mark(kept, owner, &mark); read < 0) return read;
  if (const int64_t removed = sys::unlinkat(kept, kept_mark, 0); removed < 0) return removed;
  return sys::unlinkat(covered, mark.name.c_str(), AT_REMOVEDIR);
}

int64_t list_of(int directory, std::vector<sys::Entry>* entries) {
  const int64_t opened = sys::openat(directory, ".", O_RDONLY | O_DIRECTORY);
  if (opened < 0) return opened;
  const sys::Descriptor all(static_cast<int>(opened));
  return sys::list(all.get(), entries);
}

}  // namespace cairn::tier
