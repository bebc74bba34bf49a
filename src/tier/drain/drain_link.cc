// Drains files with several names in the pool: writes each once, and links the other names to it in
// lower.
#include "tier/drain/drain_link.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "file/inode/pins.h"
#include "tier/replace/clear_name.h"
#include "tier/replace/drain_notes.h"
#include "tier/replace/drain_state.h"
#include "tier/replace/lower_directory.h"
#include "tier/replace/publish.h"
#include "tier/replace/reporting.h"
#include "tier/stage/from_pool.h"
#include "tier/system/listing.h"
#include "tier/system/open_files.h"

namespace cairn::tier {

void note_linked(DrainState& state, const DrainDirectory& where, const file::Listed& listed,
                 const file::Map& map, const file::Witness& witness, const CopiedFrom& copied) {
  LinkedFile& linked = state.linked[map.number];
  // The file changed after another name of it was written: the next drain writes that name.
  if (!linked.path.empty() && linked.copied.change_time != copied.change_time) {
    linked.is_complete = false;
    linked.names.clear();
  }
  linked.names.insert({where.inode, unit_of(listed)});
  linked.witness = witness;
  linked.path = where.path + "/" + name_of(listed);
  linked.generation = map.inode->generation.load();
  linked.copied = copied;
}

namespace {

// A file system may give the inode number of a removed file to the next one, and a user can give
// that the same size and times, but not the same owner.
bool may_be_linked(const DrainState& state, const file::Map& map, const sys::FileStat& st) {
  return is_trusted_owner(st.st_uid, state.owner) || st.st_uid == attributes_now(state.fs, map).uid;
}

bool open_linked(const DrainState& state, const LinkedFile& linked, const file::Map& map,
                 sys::Descriptor* file, sys::FileStat* st) {
  const int64_t opened = state.beneath.open(linked.path, O_PATH | O_NOFOLLOW);
  if (opened < 0) return false;
  *file = sys::Descriptor(static_cast<int>(opened));
  return check_file(file->get(), state.known, linked.witness) == 0 &&
         sys::fstat(file->get(), st) == 0 && may_be_linked(state, map, *st);
}

}  // namespace

bool drain_link(const DrainName& item) {
  const auto found = item.state.linked.find(item.map.number);
  if (found == item.state.linked.end() || found->second.path.empty()) return false;
  LinkedFile& linked = found->second;
  const std::string path = item.where.path + "/" + name_of(item.listed);
  const auto fd = static_cast<int>(item.lower.fd());
  sys::FileStat first = {};
  sys::FileStat st = {};
  sys::Descriptor file;  // opened by its first name, which another file may get at any moment
  // If the file changed since its first name was written, it is written again under this one.
  if (linked.copied.change_time != change_time(item.state.fs, item.map) ||
      !still_names(item.state.fs, item.where, item.listed, item.map) ||
      !open_linked(item.state, linked, item.map, &file, &first))
    return false;
  TempFile temp = new_temp_file(item, InLower::nothing);
  temp.mark = false;  // finish_links() does it when all names are written
  temp.st = first;
  temp.rights = linked.witness.rights;
  if (look(item.state.known, fd, item.listed, &st) != InLower::nothing && is_same_file(st, first)) {
    // An earlier drain has linked the name.
    file::Witness witness = witness_of(item.state.known, st);
    witness.rights = linked.witness.rights;
    const Status status = remember(item.state, item.where, name_of(item.listed), &witness);
    if (!status.ok() && status.code() != ENOENT) report_failed(item.state, path, status);
    if (status.ok()) linked.names.insert({item.where.inode, unit_of(item.listed)});
    return true;
  }
  if (const Way way = clear_name(item, &temp.expected); way != Way::free) {
    if (way == Way::blocked) linked.is_complete = false;
    return true;
  }
  const Status status = announce_temp_file(item, temp);
  if (!status.ok()) {
    report_failed(item.state, path, status);
    linked.is_complete = false;
    return true;
  }
  ++first.st_nlink;
  announce_links(item.state, first);
  // A file system without links, or with a limit to them, gets a file of its own for this name.
  if (link_open_file(file.get(), fd, temp.name.c_str()) < 0) return false;
  if (publish(item, temp))
    linked.names.insert({item.where.inode, unit_of(item.listed)});
  else
    linked.is_complete = false;
  return true;
}

// A name may have come, before the file was copied, into a directory where the walk had been
// already. Lower then has something else under it, which the pool would take for the file.
static bool may_have_missed_a_name(const DrainState& state, const LinkedFile& linked,
                                   const file::Inode& inode) {
  return have_names_changed(state) && linked.names.size() != inode.links.load();
}

void finish_links(DrainState& state) {
  for (const auto& [number, linked] : state.linked) {
    auto inode = file::live_inode(state.fs, number);
    if (!inode.ok() || !linked.is_complete || linked.path.empty() ||
        (*inode)->generation.load() != linked.generation || file::is_pinned(state.fs, number) ||
        may_have_missed_a_name(state, linked, **inode))
      continue;
    set_drained_as_of(state.fs, {*inode, number}, linked.copied);
  }
}

}  // namespace cairn::tier
