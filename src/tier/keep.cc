// Keeping: what lower had under a name that now is given to something else, while the bytes are still to be written
// to their new place (a rotated log, two exchanged files, a file that went into a directory of its own name).
//
// It lies in a hidden directory in the covered one until the end of a drain that could do everything. A drain that was
// killed or met an error leaves it, and the next one goes on: the directory's name says whose it is, so it is found again.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>  // RENAME_NOREPLACE
#include <string>
#include <vector>

#include "tier/drain_state.h"
#include "tier/kept_directory.h"
#include "tier/listing.h"
#include "tier/put_away.h"

namespace cairn::tier {

std::string kept_name(const std::string& name) {
  constexpr size_t longest = 200;
  return sys::random_name().substr(0, 16) + "-" + name.substr(0, longest);
}

namespace {

bool make_kept(DrainState& state) {
  if (state.kept.ok()) return true;
  LowerDirectory top(state, state.top);
  const int64_t fd = top.touch();
  if (fd < 0) return false;
  return make_kept_directory(state.fs, static_cast<int>(fd), state.owner, &state.kept) == 0;
}

int64_t remove_all(DrainState& state, int directory, const std::string& name);

// What lies in an open directory.
int64_t remove_contents(DrainState& state, int directory) {
  std::vector<sys::Entry> entries;
  if (const int64_t listed = list_of(directory, &entries); listed < 0) return listed;
  for (const sys::Entry& entry : entries) {
    if (entry.name == kept_mark) continue;  // goes last
    if (const int64_t removed = remove_all(state, directory, entry.name); removed < 0)
      return removed;
  }
  return 0;
}

int64_t remove_all(DrainState& state, int directory, const std::string& name) {
  struct stat st = {};
  if (sys::lstatat(directory, name.c_str(), &st) == 0) announce_links(state, st);
  const int64_t result = sys::unlinkat(directory, name.c_str(), 0);
  if (result != -EISDIR && result != -EPERM) return result;
  const int64_t opened = sys::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (opened < 0) return opened;
  {
    const sys::Descriptor fd(static_cast<int>(opened));
    if (geteuid() != 0) sys::fchmod(fd.get(), S_IRWXU);  // refused: the first name will tell
    if (const int64_t removed = remove_contents(state, fd.get()); removed < 0) return removed;
  }
  return sys::unlinkat(directory, name.c_str(), AT_REMOVEDIR);
}

// First, so that nothing is brought back of which a part is removed.
int64_t forget_origins(int kept) {
  std::vector<sys::Entry> entries;
  if (const int64_t listed = list_of(kept, &entries); listed < 0) return listed;
  for (const sys::Entry& entry : entries)
    if (is_origin(entry.name)) sys::unlinkat(kept, entry.name.c_str(), 0);
  return sys::fsync_directory(kept);
}

}  // namespace

bool is_moved_from(const DrainState& state, const Where& where, const file::Listed& listed) {
  return state.moved_from.count({where.inode, unit_of(listed) + 1}) != 0;
}

bool keep_linked(DrainState& state, int directory, const file::Listed& listed) {
  const int64_t opened = sys::openat(directory, listed.name, O_PATH | O_NOFOLLOW);
  if (opened < 0) return false;
  const sys::Descriptor fd(static_cast<int>(opened));
  struct stat st = {};
  if (check_file(fd.get(), state.known, listed.lower) < 0 || sys::fstat(fd.get(), &st) < 0)
    return false;
  ++st.st_nlink;
  announce_links(state, st);
  return make_kept(state) &&
         link_open_file(fd.get(), state.kept.get(), kept_name(listed.name).c_str()) == 0 &&
         sys::fsync_directory(state.kept.get()) == 0;
}

bool keep_moved(DrainState& state, int directory, const file::Listed& listed) {
  if (!make_kept(state)) return false;
  const std::string there = kept_name(listed.name);
  if (sys::renameat2(directory, listed.name, state.kept.get(), there.c_str(), 0) < 0) return false;
  struct stat st = {};
  if (sys::lstatat(state.kept.get(), there.c_str(), &st) == 0 &&
      !is_remembered(state.known, listed.lower, st)) {
    // Something else took the name in this moment. It is not ours to keep, nor to remove.
    sys::renameat2(state.kept.get(), there.c_str(), directory, listed.name, RENAME_NOREPLACE);
    return false;
  }
  sys::fsync_directory(state.kept.get());
  return true;
}

void end_kept(DrainState& state) {
  state.kept.reset();
  const auto found = find_kept_directories(state.fs, state.beneath.fd(), state.owner);
  if (found.empty()) return;
  LowerDirectory top(state, state.top);
  const int64_t fd = top.touch();
  for (const sys::Descriptor& kept : found) {
    int64_t result = fd < 0 ? fd : forget_origins(kept.get());
    if (result == 0) result = remove_contents(state, kept.get());
    if (result == 0)
      result = remove_kept_directory(static_cast<int>(fd), state.owner, kept.get());
    if (result < 0)
      state.failed(state.top.path,
                   sys::failed(result, "remove what was kept of replaced files", state.top.path));
  }
}

}  // namespace cairn::tier
