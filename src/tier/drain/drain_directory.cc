// Makes in lower the directories that are new in the pool, were moved there, or were removed in
// lower.
#include "tier/drain/drain_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "tier/record/attributes.h"
#include "tier/replace/drain_notes.h"
#include "tier/replace/drain_state.h"
#include "tier/replace/lower_directory.h"
#include "tier/replace/remove.h"
#include "tier/replace/replaced_backup.h"
#include "tier/replace/reporting.h"
#include "tier/stage/from_pool.h"
#include "tier/system/listing.h"
#include "tier/system/open_files.h"

namespace cairn::tier {
namespace {

// Notes that lower has nothing under this name. The file system may give the inode number of the
// removed file to the new directory. If this drain is killed before it notes the new directory, the
// next one must not take that for the old file.
void forget(DrainState& state, const DrainDirectory& where, const file::Listed& listed) {
  remember(state, where, name_of(listed), nullptr).ignore();  // the next remember() has the error
}

// The mode of a new directory while a drain puts names into it. Other nodes of the job that find
// the directory tell by this mode that the job has made it.
constexpr uint32_t unfinished_mode = S_ISVTX | S_IRWXU;

bool is_in_group(uint32_t group) {
  if (geteuid() == 0 || getegid() == group) return true;
  std::vector<gid_t> groups(static_cast<size_t>(std::max(0, getgroups(0, nullptr))));
  const int count = getgroups(static_cast<int>(groups.size()), groups.data());
  return count > 0 &&
         std::find(groups.begin(), groups.begin() + count, group) != groups.begin() + count;
}

// Marks a new directory as unfinished. The directory of the records has unfinished_mode too
// (records_directory.h), and other users may be able to exchange the two. So a new directory gets
// the set-user-ID bit as well, which mkdir cannot give and which means nothing for a directory. A
// file system that does not keep the bit only lacks this defence.
void mark_unfinished(int directory, sys::FileStat* st) {
  const uint32_t inherited = st->st_mode & S_ISGID;
  // The kernel would clear the set-group-ID bit, by which new files get the directory's group.
  if (inherited != 0 && !is_in_group(st->st_gid)) return;
  sys::chmodat(AT_FDCWD, path_of_open(directory).c_str(), S_ISUID | unfinished_mode | inherited);
  sys::fstat(directory, st);  // for its ctime; if it fails, the old one will do
}

bool is_empty(int directory) {
  const int64_t opened = sys::openat(directory, ".", O_RDONLY | O_DIRECTORY);
  if (opened < 0) return false;
  const sys::Descriptor fd(static_cast<int>(opened));
  std::vector<sys::DirectoryEntry> entries;
  return sys::list(fd.get(), &entries) == 0 && entries.empty();
}

// Removes or displaces what has the directory's name in lower, if it is what the pool remembers
// there.
bool make_way(DrainState& state, const DrainDirectory& where, int fd, const file::Listed& listed,
              const file::Map& map, InLower in_lower, const sys::FileStat& st) {
  const std::string path = where.path + "/" + name_of(listed);
  if (S_ISDIR(st.st_mode)) {
    // Any directory will do, except one that this directory has replaced in the pool. That one may
    // lie in a directory that earlier drains have made and not finished.
    const bool is_replaced = in_lower == InLower::remembered && !is_at_home(where, listed, map);
    if (!is_replaced) return true;
    const Status status = replace_tree(state, where, fd, listed);
    if (status.ok()) forget(state, where, listed);
    if (status.ok()) return true;
    if (status.code() == ESTALE)
      report_conflict(state, where, listed,
                      "replaced in the pool, but its contents changed there; both are kept");
    else
      report_failed(state, path, status);
    return false;
  }
  if (in_lower == InLower::other) {
    report_conflict(state, where, listed,
                    "a directory in the pool, something else there that was changed or created "
                    "outside Cairn; both are kept");
    return false;
  }
  const bool is_kept =
      is_moved_from(state, where, listed, map) && keep_moved(state, where, fd, listed);
  announce_links(state, st);
  const int64_t result = is_kept ? 0 : sys::unlinkat(fd, listed.name, 0);
  if (result < 0) report_failed(state, path, sys::failed(result, "unlink", path));
  if (result >= 0) forget(state, where, listed);
  return result >= 0;
}

std::string octal(uint32_t mode) {
  char text[8];
  std::snprintf(text, sizeof text, "%04o", mode & 07777);
  return text;
}

// May the pool use a directory of lower that it does not know? The drain will write into it, and
// give it the owner and mode that it has in the pool.
bool may_be_taken(const DrainState& state, const sys::FileStat& st, const file::Map& map,
                  bool has_names) {
  const file::Attributes wanted = attributes_now(state.fs, map);
  if (!is_trusted_owner(st.st_uid, state.owner) && st.st_uid != wanted.uid) return false;
  if (!has_names || (st.st_mode & 01777) == unfinished_mode) return true;
  constexpr uint32_t of_others = S_IRWXG | S_IRWXO;
  return (wanted.mode & of_others & ~static_cast<uint32_t>(st.st_mode)) == 0;
}

// Opens (O_PATH) the directory that has the name now.
int64_t open_made(int fd, const file::Listed& listed, sys::Descriptor* made, sys::FileStat* st) {
  const int64_t opened = sys::openat(fd, listed.name, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  if (opened < 0) return opened;
  *made = sys::Descriptor(static_cast<int>(opened));
  return sys::fstat(made->get(), st);
}

}  // namespace

bool drain_directory(const DrainName& item, std::optional<file::Witness>* made_one) {
  const std::string path = item.where.path + "/" + name_of(item.listed);
  const int64_t opened = item.lower.touch();
  if (opened < 0) {
    report_not_opened(item.state, item.where, path, opened);
    return false;
  }
  const auto fd = static_cast<int>(opened);
  sys::FileStat st = {};
  const InLower in_lower = look(item.state.known, fd, item.listed, &st);
  if (in_lower != InLower::nothing &&
      !make_way(item.state, item.where, fd, item.listed, item.map, in_lower, st))
    return false;
  // Lower had something there, and a drain was killed before it noted the removal.
  if (in_lower == InLower::nothing && item.listed.has_lower &&
      item.state.removed_dirs.count(item.map.number) == 0)
    forget(item.state, item.where, item.listed);
  const int64_t made = sys::mkdirat(fd, item.listed.name, unfinished_mode);
  if (made < 0 && made != -EEXIST) {
    report_failed(item.state, path, sys::failed(made, "mkdir", path));
    return false;
  }
  if (made == 0) ++item.state.report.directories;
  sys::Descriptor there;
  if (const int64_t result = open_made(fd, item.listed, &there, &st); result < 0) {
    report_failed(item.state, path, sys::failed(result, "mkdir", path));
    return false;
  }
  // Another directory may have taken the name since the look, or since mkdir.
  const bool is_known = made < 0 && in_lower == InLower::remembered &&
                        is_remembered(item.state.known, item.listed.lower, st);
  const bool has_names = !is_known && !is_empty(there.get());
  if ((made == 0 && has_names) ||
      (!is_known && !may_be_taken(item.state, st, item.map, has_names))) {
    const std::string text =
        "a directory of user " + std::to_string(st.st_uid) + " with mode " + octal(st.st_mode) +
        " exists there, created outside Cairn; it stays as it is, and the pool keeps its own";
    report_conflict(item.state, item.where, path, text.c_str());
    return false;
  }
  if (made == 0) give_list(there.get(), item.lower.list_of_new(), true);
  if (made == 0) mark_unfinished(there.get(), &st);
  // The names in a directory of somebody else's are not removed with it.
  const bool is_foreign = made < 0 && has_names;
  // A drain that was killed may have made the directory: the pool knows the names it put there.
  const uint64_t newest = is_known ? uint64_t{item.listed.lower.size} : 0;
  file::Witness witness = directory_witness(item.state.known, st, newest);
  if (is_known) witness.rights = item.listed.lower.rights;
  const Status status = remember(item.state, item.where, name_of(item.listed), &witness);
  if (!status.ok()) {
    // The directory was removed or renamed in the pool just now. The new one is removed again, if
    // nobody has used it.
    if (made == 0) sys::unlinkat(fd, item.listed.name, AT_REMOVEDIR);
    if (status.code() != ENOENT) report_failed(item.state, path, status);
    return false;
  }
  *made_one = witness;
  // A directory that somebody removed in lower has its home already, and its names remember what
  // lay in it there.
  if (item.state.removed_dirs.erase(item.map.number) == 0)
    set_home(item.state.fs, item.where, name_of(item.listed), item.map, true);
  if (is_foreign) note_unknown_entry(item.state, item.map.number);
  set_drained(item.state.fs, item.map, 0);  // its mode and times are set when everything is in it
  return true;
}

}  // namespace cairn::tier
