// Keeping: what lower had under a name that now is given to something else, while the bytes are still to be written
// to their new place (a rotated log, two exchanged files, a file that went into a directory of its own name).
//
// It lies in a hidden directory in the covered one until the end of a drain that could do everything. A drain that was
// killed or met an error leaves it, and the next one goes on: the directory's name says whose it is, so it is found again.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tier/claim.h"
#include "tier/drain_state.h"
#include "tier/listing.h"
#include "tier/put_away.h"
#include "tier/record.h"

namespace cairn::tier {

std::string kept_directory(const file::FileSystem& fs) {
  const Claim own = own_claim(fs, "");
  return drain_prefix + cover_name(own.host).substr(0, 8) + "-" + own.uuid;
}

std::string kept_name(const std::string& name) {
  constexpr size_t longest = 200;
  return sys::random_name().substr(0, 16) + "-" + name.substr(0, longest);
}

namespace {

bool make_kept(DrainState& state) {
  if (state.kept.ok()) return true;
  LowerDirectory top(state.fs, state.top);
  const int64_t fd = top.touch();
  if (fd < 0) return false;
  const std::string name = kept_directory(state.fs);
  const int64_t made = sys::mkdirat(static_cast<int>(fd), name.c_str(), 0700);
  if (made < 0 && made != -EEXIST) return false;
  const int64_t opened =
      sys::openat(static_cast<int>(fd), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (opened < 0) return false;
  state.kept = sys::Descriptor(static_cast<int>(opened));
  return top.sync().ok();
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
    std::vector<sys::Entry> entries;
    if (const int64_t listed = sys::list(fd.get(), &entries); listed < 0) return listed;
    for (const sys::Entry& entry : entries)
      if (const int64_t removed = remove_all(state, fd.get(), entry.name); removed < 0)
        return removed;
  }
  return sys::unlinkat(directory, name.c_str(), AT_REMOVEDIR);
}

// First, so that nothing is brought back of which a part is removed.
int64_t forget_origins(int above, const std::string& kept) {
  const int64_t opened = sys::openat(above, kept.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (opened < 0) return opened;
  const sys::Descriptor fd(static_cast<int>(opened));
  std::vector<sys::Entry> entries;
  if (const int64_t listed = sys::list(fd.get(), &entries); listed < 0) return listed;
  for (const sys::Entry& entry : entries)
    if (is_origin(entry.name)) sys::unlinkat(fd.get(), entry.name.c_str(), 0);
  return sys::fsync_directory(fd.get());
}

}  // namespace

bool is_moved_from(const DrainState& state, const Where& where, const file::Listed& listed) {
  return state.moved_from.count({where.inode, unit_of(listed) + 1}) != 0;
}

bool keep_linked(DrainState& state, int directory, const char* name) {
  struct stat st = {};
  if (sys::lstatat(directory, name, &st) < 0) return false;
  ++st.st_nlink;
  announce_links(state, st);
  return make_kept(state) &&
         sys::linkat(directory, name, state.kept.get(), kept_name(name).c_str()) == 0 &&
         sys::fsync_directory(state.kept.get()) == 0;
}

bool keep_moved(DrainState& state, int directory, const char* name) {
  if (!make_kept(state) ||
      sys::renameat2(directory, name, state.kept.get(), kept_name(name).c_str(), 0) < 0)
    return false;
  sys::fsync_directory(state.kept.get());
  return true;
}

void end_kept(DrainState& state) {
  struct stat st = {};
  const std::string name = kept_directory(state.fs);
  const std::string path = state.top.path + "/" + name;
  if (sys::lstatat(AT_FDCWD, path.c_str(), &st) < 0) return;
  LowerDirectory top(state.fs, state.top);
  const int64_t fd = top.touch();
  int64_t result = fd < 0 ? fd : forget_origins(static_cast<int>(fd), name);
  if (result == 0) result = remove_all(state, static_cast<int>(fd), name);
  if (result < 0) state.failed(path, sys::failed(result, "remove", path));
}

}  // namespace cairn::tier
