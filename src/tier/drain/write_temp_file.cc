#include "tier/drain/write_temp_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "file/inode/attributes.h"
#include "file/inode/pins.h"
#include "tier/drain/drain_link.h"
#include "tier/drain/plan.h"
#include "tier/record/attributes.h"
#include "tier/replace/lower_directory.h"
#include "tier/replace/moved_directory.h"
#include "tier/replace/publish.h"
#include "tier/replace/reporting.h"
#include "tier/replace/while_running.h"
#include "tier/stage/from_pool.h"
#include "tier/system/listing.h"

namespace cairn::tier {
namespace {

constexpr int attempts = 5;

// The file in lower that a new one replaces, or that has its bytes under an old name.
struct OldFile {
  sys::Descriptor fd;  // opened with O_PATH: its mode or a lease may forbid more
  sys::FileStat st = {};
  file::Witness remembered;
};

// None: lower has no such file, or another one.
Result<std::optional<OldFile>> open_old_file(const DrainName& item, int directory, bool replaces) {
  DrainState& state = item.state;
  constexpr int flags = O_PATH | O_NOFOLLOW;
  OldFile old;
  int64_t opened = -ENOENT;
  if (replaces) {
    old.remembered = item.listed.lower;
    opened = sys::openat(directory, item.listed.name, flags);
  } else if (item.map.inode->links.load() == 1) {  // another name of it has rights of its own
    const std::string path = old_path_of_file(item, &old.remembered);
    if (!path.empty()) opened = state.beneath.open(path, flags);
  }
  if (opened == -EMFILE || opened == -ENFILE)
    return sys::failed(opened, "open", item.where.path + "/" + name_of(item.listed));
  if (opened < 0) return std::optional<OldFile>();
  old.fd = sys::Descriptor(static_cast<int>(opened));
  if (sys::fstat(old.fd.get(), &old.st) < 0 || !S_ISREG(old.st.st_mode) ||
      !is_remembered(state.known, old.remembered, old.st))
    return std::optional<OldFile>();
  return std::optional<OldFile>(std::move(old));
}

Status write_regular(const DrainName& item, file::Attributes wanted, int directory,
                     TempFile* temp) {
  DrainState& state = item.state;
  const file::Listed& listed = item.listed;
  const std::string path = item.where.path + "/" + name_of(listed);
  const bool replaces = temp->expected == InLower::remembered;
  CAIRN_TRY(check_room_for(state, item.map.number,
                           std::min(wanted.size, wanted.blocks * format::block_size), directory,
                           path));
  const int64_t opened =
      sys::openat(directory, temp->name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (opened == -EACCES || opened == -EPERM)
    return sys::failed(
        opened, "its directory must be writable, because the drain writes the file beside it first",
        path);
  if (opened < 0) return sys::failed(opened, "cannot be written beside it", path);
  temp->file = sys::Descriptor(static_cast<int>(opened));
  const int to = temp->file.get();
  // A program that had written to the old file would have got no list from the directory.
  give_list(to, replaces ? NewFileList{false, ""} : item.lower.list_of_new(), false);
  CAIRN_TRY(copy_contents(state.fs, item.map, to, path,
                          [&](uint64_t bytes) { return report_progress(state, bytes); }));
  CAIRN_TRY_ASSIGN(old, open_old_file(item, directory, replaces));
  if (!old) return set_attributes(state.fs, item.map, wanted, to, {}, path);
  drop_access_lists(to);
  wanted = merge_rights(old->remembered, old->st, wanted, true);
  return set_attributes(state.fs, item.map, wanted, to, {.fd = old->fd.get()}, path);
}

// Did the file change since the drain began to write it?
bool has_changed(DrainState& state, const file::Map& map, const TempFile& temp) {
  return change_time(state.fs, map) != temp.from.change_time ||
         map.inode->shape.load() != temp.shape || is_set_back(temp.clock);
}

}  // namespace

void remove_copy(DrainState& state, int directory, const TempFile& temp) {
  sys::unlinkat(directory, temp.name.c_str(), 0);
  state.done -= temp.copied;
  if (!state.cancelled && temp.copied != 0)
    report_progress(state, 0);  // the count of bytes goes back
}

namespace {

Tried give_up(DrainState& state, int directory, const file::Map& map, const std::string& path,
              const TempFile& temp, const Status& status) {
  remove_copy(state, directory, temp);
  if (temp.has_company && (status.code() == EMFILE || status.code() == ENFILE))
    return Tried::crowded;
  if (state.cancelled || map.inode->links.load() == 0) return Tried::failed;
  if (has_changed(state, map, temp)) return Tried::again;
  report_failed(state, path, status);
  return Tried::failed;
}

}  // namespace

void note_before_copy(const DrainName& item, TempFile* temp) {
  temp->clock = clock_set_to();
  temp->from.drained = item.map.inode->drained.load();
  temp->from.change_time = change_time(item.state.fs, item.map);
}

Tried write_temp_file(const DrainName& item, TempFile* temp) {
  const std::string path = item.where.path + "/" + name_of(item.listed);
  const auto fd = static_cast<int>(item.lower.fd());
  const auto shape = shape_at_rest(item.state.fs, item.map);
  if (!shape.ok()) {
    report_failed(item.state, path, shape.status());
    return Tried::failed;
  }
  temp->shape = *shape;
  note_before_copy(item, temp);
  const bool has_ticked = wait_for_tick(temp->from.change_time);
  if (!still_names(item.state.fs, item.where, item.listed, item.map))
    return Tried::failed;  // it was moved: the next drain writes it
  // Stores through a mapping change no time: while there is one, each drain writes the file.
  temp->mark = has_ticked && item.map.inode->links.load() == 1 &&
               !file::is_pinned(item.state.fs, item.map.number);
  const file::Attributes wanted = attributes_now(item.state.fs, item.map);
  // A directory may have got the name and the number of the file since it was listed.
  if (S_ISDIR(wanted.mode)) return Tried::failed;
  temp->rights = noted_rights(wanted.uid, wanted.gid, wanted.mode);
  Status status = announce_temp_file(item, *temp);
  const uint64_t done = item.state.done;
  if (status.ok())
    status = S_ISREG(wanted.mode) ? write_regular(item, wanted, fd, temp)
                                  : make_special(item.state.fs, item.map, wanted,
                                                 {fd, temp->name, path, item.lower.list_of_new()});
  temp->copied = item.state.done - done;
  return status.ok() ? Tried::done : give_up(item.state, fd, item.map, path, *temp, status);
}

Tried publish_temp_file(const DrainName& item, int64_t synced, TempFile* temp) {
  const std::string path = item.where.path + "/" + name_of(item.listed);
  const auto fd = static_cast<int>(item.lower.fd());
  Status status;
  if (synced < 0) status = sys::failed(synced, "fsync", path);
  const bool changed = has_changed(item.state, item.map, *temp);
  if (status.ok() && !changed) {
    // Looks at the file that was written, even if another one has its name by now.
    const int64_t result = temp->file.ok() ? sys::fstat(temp->file.get(), &temp->st)
                                           : sys::lstatat(fd, temp->name.c_str(), &temp->st);
    if (result < 0) status = sys::failed(result, "stat", path);
  }
  temp->file.reset();
  // Some file systems of a network set the time of the last write when the file is closed.
  sys::FileStat closed = {};
  if (status.ok() && !changed && sys::lstatat(fd, temp->name.c_str(), &closed) == 0 &&
      is_same_file(closed, temp->st) && closed.st_size == temp->st.st_size)
    temp->st = closed;
  if (!status.ok() || changed) return give_up(item.state, fd, item.map, path, *temp, status);
  // A process may have opened the file while it was copied.
  if (is_open_among_nodes(item.state, item.map)) {
    remove_copy(item.state, fd, *temp);
    return Tried::again;
  }
  if (item.lower.touch() < 0) {  // the copy may have taken long
    remove_copy(item.state, fd, *temp);
    postpone(item.state, item.where, item.map);
    return Tried::failed;
  }
  if (!publish(item, *temp)) return Tried::failed;
  if (S_ISREG(temp->st.st_mode)) item.state.report.bytes += static_cast<uint64_t>(temp->st.st_size);
  if (item.map.inode->links.load() > 1)
    note_linked(item.state, item.where, item.listed, item.map, witness_of(item.state, *temp),
                temp->from);
  return Tried::done;
}

Tried try_again(const DrainName& item, const std::function<Tried()>& once) {
  const int most = leaves_busy_files(item.state) ? 1 : attempts;
  Tried tried = Tried::again;
  for (int i = 0; i < most && tried == Tried::again; ++i) tried = once();
  if (tried == Tried::again && leaves_busy_files(item.state))
    postpone(item.state, item.where, item.map);
  else if (tried == Tried::again)
    report_failed(item.state, item.where.path + "/" + name_of(item.listed),
                  fail(EBUSY, "it is being changed; drain again when that has ended"));
  return tried;
}

}  // namespace cairn::tier
