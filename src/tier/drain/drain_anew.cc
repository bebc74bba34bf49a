// Drains new attributes of a file whose bytes lie in lower by writing a new file. Another user may
// have the old one open, or have set its access list; the new one is nobody else's before it has
// its attributes, and has them before it has a name.
#include <fcntl.h>
#include <sys/stat.h>

#include "tier/drain/drain_state.h"
#include "tier/record/attributes.h"
#include "tier/stage/from_pool.h"
#include "tier/system/listing.h"
#include "tier/system/open_files.h"
#include "tier/system/temp_file.h"

namespace cairn::tier {
namespace {

// A file without a name, or, on a file system that has none, with the temporary name and mode 0600.
int64_t make_file(int directory, const std::string& aside, bool* is_named) {
  const int64_t made = sys::openat(directory, ".", O_RDWR | O_TMPFILE, 0600);
  *is_named = made == -EOPNOTSUPP || made == -EISDIR || made == -EINVAL || made == -ENOENT;
  if (!*is_named) return made;
  return sys::openat(directory, aside.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
}

Status copy_bytes(DrainState& state, const LazyFile& old, int to, const std::string& path) {
  const auto size = static_cast<uint64_t>(old.st.st_size);
  if (const int64_t result = sys::ftruncate(to, size); result < 0)
    return sys::failed(result, "truncate", path);
  CheckedCopy copy(to, path, [&](uint64_t) { return state.advance(0); });
  CAIRN_TRY(copy.from_lower(old.fd, 0, size).status());
  sys::FileStat now = {};
  if (const int64_t result = sys::fstat(old.fd, &now); result < 0)
    return sys::failed(result, "stat", path);
  const file::Witness before = witness_of(state.known, old.st);
  if (compare(state.known, before, now).difference == Difference::none) return Status();
  return fail(ESTALE, "%s: it was changed there outside Cairn while its attributes were drained",
              path.c_str());
}

Status write_file(const DrainName& item, const LazyFile& old, int directory, Aside* aside) {
  const std::string path = item.where.path + "/" + name_of(item.listed);
  CAIRN_TRY(item.state.journal.write({item.where.path, aside->name, "", 0, 0, 0, 0, 0, {}}));
  bool is_named = false;
  const int64_t made = make_file(directory, aside->name, &is_named);
  if (made < 0) return sys::failed(made, "a new file cannot be written beside it", path);
  const sys::Descriptor file(static_cast<int>(made));
  drop_access_lists(file.get());  // those that the directory gives to new files
  Status status = copy_bytes(item.state, old, file.get(), path);
  if (status.ok())
    status = set_attributes(item.state.fs, item.map, old.wanted, file.get(), old.fd, path);
  int64_t result = status.ok() ? sys::fsync(file.get()) : 0;
  if (status.ok() && result == 0 && !is_named)
    result = link_open_file(file.get(), directory, aside->name.c_str());
  if (status.ok() && result == 0) result = sys::fstat(file.get(), &aside->st);
  if (result < 0) status = sys::failed(result, "a new file cannot be written beside it", path);
  if (!status.ok()) sys::unlinkat(directory, aside->name.c_str(), 0);
  return status;
}

}  // namespace

Status drain_anew(const DrainName& item, const LazyFile& old) {
  const int64_t directory = item.lower.touch();
  if (directory < 0) {
    postpone(item.state, item.where, item.map);
    return Status();
  }
  Aside aside;
  aside.name = item.state.aside;
  aside.expected = InLower::remembered;
  aside.from.change_time = old.change_time;
  aside.rights = old.rights;
  aside.from.drained = item.map.inode->drained.load();
  CAIRN_TRY(write_file(item, old, static_cast<int>(directory), &aside));
  if (publish(item, aside)) ++item.state.report.files;
  return Status();
}

}  // namespace cairn::tier
