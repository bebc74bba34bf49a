#include "cluster/renaming.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/crc32c.h"
#include "cluster/collect_file.h"
#include "cluster/directories.h"
#include "cluster/moved_records.h"
#include "cluster/name_change.h"
#include "cluster/names_parts.h"
#include "cluster/packed.h"
#include "tier/record.h"
#include "tier/system.h"

namespace cairn::cluster {
namespace {

namespace sys = tier::sys;

constexpr char magic[8] = {'C', 'A', 'I', 'R', 'N', 'M', 'O', 'V'};
constexpr uint32_t version = 1;
constexpr size_t head_end = 16;  // magic, version, checksum
constexpr const char* prefix = "renaming-";
constexpr const char* done_suffix = ".done-";
constexpr size_t hex_digits = 32;
constexpr size_t longest_note = 1 << 24;

// No file of a user's has its records there: such a name is hidden at the top of the covered directory.
std::string notes_path(const std::string& directory) {
  return records_path(directory, tier::records_directory);
}
std::string note_path(const std::string& directory, const std::string& id) {
  return notes_path(directory) + "/" + prefix + id;
}
std::string done_path(const std::string& directory, const std::string& id, const Uuid& pool) {
  return note_path(directory, id) + done_suffix + hex_of(pool);
}

std::vector<uint8_t> bytes_of(const Renaming& renaming) {
  Packer body;
  body.text(renaming.from);
  body.text(renaming.to);
  body.put(static_cast<uint32_t>(renaming.pools.size()));
  for (const Uuid& pool : renaming.pools) body.append(pool.data(), pool.size());
  Packer note;
  note.append(magic, sizeof magic);
  note.put(version);
  note.put(crc32c(0, body.bytes.data(), body.bytes.size()));
  note.append(body.bytes.data(), body.bytes.size());
  return note.bytes;
}

// ENOENT also for one that was not written to its end: nothing had been done then.
Result<Renaming> read_note(const std::string& directory, const std::string& id) {
  const std::string place = note_path(directory, id);
  std::string text;
  if (const int64_t result = sys::read_file(place.c_str(), &text); result < 0)
    return sys::failed(result, "read", place);
  Unpacker in(text.data(), std::min(text.size(), longest_note));
  char start[sizeof magic] = {};
  in.take(start, sizeof start);
  const auto found = in.get<uint32_t>();
  const auto crc = in.get<uint32_t>();
  if (in.ok() && std::memcmp(start, magic, sizeof magic) == 0 && found > version)
    return fail(EPROTONOSUPPORT, "%s: of version %u; this program knows version %u", place.c_str(),
                found, version);
  Renaming renaming;
  renaming.from = in.text();
  renaming.to = in.text();
  for (auto pools = in.get<uint32_t>(); pools != 0 && in.ok(); --pools) {
    Uuid pool = {};
    in.take(pool.data(), pool.size());
    renaming.pools.push_back(pool);
  }
  const bool is_whole = in.ok() && in.left() == 0 && std::memcmp(start, magic, sizeof magic) == 0 &&
                        crc == crc32c(0, text.data() + head_end, text.size() - head_end);
  if (!is_whole) return fail(ENOENT, "%s: was not written to its end", place.c_str());
  return renaming;
}

Result<std::vector<std::string>> names_of_notes(const std::string& directory) {
  std::vector<std::string> names;
  const std::string place = notes_path(directory);
  const int64_t opened = sys::openat(AT_FDCWD, place.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (opened == -ENOENT || opened == -ENOTDIR) return names;
  if (opened < 0) return sys::failed(opened, "open", place);
  const sys::Descriptor all(static_cast<int>(opened));
  std::vector<sys::Entry> entries;
  if (const int64_t result = sys::list(all.get(), &entries); result < 0 && result != -ENOENT)
    return sys::failed(result, "read directory", place);
  for (const sys::Entry& entry : entries)
    if (entry.name.starts_with(prefix)) names.push_back(entry.name);
  return names;
}

Status remove_file(const std::string& place) {
  const int64_t result = sys::unlinkat(AT_FDCWD, place.c_str(), 0);
  return result < 0 && result != -ENOENT ? sys::failed(result, "unlink", place) : Status();
}

bool is_there(const std::string& place) {
  struct stat st = {};
  return sys::lstatat(AT_FDCWD, place.c_str(), &st) == 0;
}

// This pool has done its share; the last one ends it.
Status set_done(const std::string& directory, const std::string& id, const Renaming& renaming,
                const Uuid& own) {
  const Status made = write_whole(done_path(directory, id, own), {}, 0600);
  if (!made.ok() && made.code() != EEXIST) return made;
  const auto is_done = [&](const Uuid& pool) { return is_there(done_path(directory, id, pool)); };
  if (!std::all_of(renaming.pools.begin(), renaming.pools.end(), is_done)) return Status();
  CAIRN_TRY(remove_file(note_path(directory, id)));
  for (const Uuid& pool : renaming.pools) CAIRN_TRY(remove_file(done_path(directory, id, pool)));
  return Status();
}

Status rename_in_pool(file::FileSystem& fs, const std::string& directory,
                      const Renaming& renaming) {
  Node self = {};
  const Uuid pool = uuid_of(fs);
  std::copy(pool.begin(), pool.end(), self.pool);
  Job job(fs, {directory, tier::cover_name(directory), &self, 1, 0}, nullptr, nullptr, nullptr);
  const Status status = change_name(job, {NameOp::rename, 0, renaming.from, renaming.to});
  return status.code() == ENOENT ? Status() : status;
}

// Calls visit(id, renaming) for those that this pool has a share in that is not done.
template <typename Visit>
Status for_each_open(const std::string& directory, const Uuid& own, Visit visit) {
  CAIRN_TRY_ASSIGN(names, names_of_notes(directory));
  for (const std::string& name : names) {
    const std::string id = name.substr(std::strlen(prefix), hex_digits);
    const std::string note = note_path(directory, id);
    const bool is_note = name.size() == std::strlen(prefix) + hex_digits;
    // What is said of a note that has gone.
    if (!is_note && !is_there(note)) CAIRN_TRY(remove_file(notes_path(directory) + "/" + name));
    if (!is_note || is_there(done_path(directory, id, own))) continue;
    auto renaming = read_note(directory, id);
    if (renaming.code() == ENOENT) {
      CAIRN_TRY(remove_file(note));
      continue;
    }
    CAIRN_TRY(renaming.status());
    const auto& pools = renaming->pools;
    if (std::find(pools.begin(), pools.end(), own) == pools.end()) continue;
    CAIRN_TRY(visit(id, *renaming));
  }
  return Status();
}

}  // namespace

Status announce(const Job& job, const Renaming& renaming) {
  const std::string place = note_path(job.directory(), hex_of(renaming.id));
  Renaming noted = renaming;
  for (uint32_t node = 0; node < job.nodes(); ++node) noted.pools.push_back(job.node(node).pool);
  Status status;
  // ENOENT: the directory was empty, and somebody who cleans up removed it just now.
  constexpr int tries = 10;
  for (int i = 0; i < tries; ++i) {
    status = make_directories(job.directory(), parent_of(place));
    if (status.ok()) status = write_whole(place, bytes_of(noted), 0600);
    if (status.code() != ENOENT) break;
  }
  if (status.ok()) return sync_directory(parent_of(place));
  const std::string text = last_detail();
  remove_file(place).ignore();  // the failure that is told is the first one
  return fail(status.code(), "%s", text.c_str());
}

Status end_renaming(const std::string& directory, const Uuid& id) {
  const std::string place = note_path(directory, hex_of(id));
  CAIRN_TRY(remove_file(place));
  const Status synced = sync_directory(parent_of(place));
  return synced.code() == ENOENT ? Status() : synced;  // empty now, and cleaned up
}

namespace {

Status rename_on_all(Job& job, const Renaming& renaming) {
  const NameChange change = {NameOp::rename, 0, renaming.from, renaming.to};
  const Status here = change_name(job, change);
  if (!here.ok() && here.code() != ENOENT) return here;
  CAIRN_TRY(on_others(job, change));
  return move_records(job, renaming.from, renaming.to);
}

bool may_pass(const Status& failure) {
  constexpr int passing[] = {ENOSPC, EDQUOT, ENOMEM, EIO, EAGAIN};
  return std::find(std::begin(passing), std::end(passing), failure.code()) != std::end(passing);
}

}  // namespace

Status finish_renaming(Job& job, const Uuid& id) {
  const auto renaming = read_note(job.directory(), hex_of(id));
  if (renaming.code() == ENOENT) return Status();
  CAIRN_TRY(renaming.status());
  const Status done = rename_on_all(job, *renaming);
  if (!done.ok() && may_pass(done)) return done;
  // Where the names are something else's by now, it is over: finished later still, it would move what it does not mean.
  return end_renaming(job.directory(), id);
}

Status finish_renamings(file::FileSystem& fs, const std::string& directory) {
  const Uuid own = uuid_of(fs);
  return for_each_open(directory, own, [&](const std::string& id, const Renaming& renaming) {
    // Records are moved once, by the pool that is done first: later the old name may have others.
    const bool has_moved =
        std::any_of(renaming.pools.begin(), renaming.pools.end(),
                    [&](const Uuid& pool) { return is_there(done_path(directory, id, pool)); });
    Status status = rename_in_pool(fs, directory, renaming);
    if (status.ok() && !has_moved)
      status = rename_records(directory, renaming.from, renaming.to).status();
    if (status.ok()) return set_done(directory, id, renaming, own);
    return annotate(status, "%s/%s could not be renamed to %s, which a killed job had begun",
                    directory.c_str(), renaming.from.c_str(), renaming.to.c_str());
  });
}

Status forget_renamings(file::FileSystem& fs, const std::string& directory) {
  const Uuid own = uuid_of(fs);
  return for_each_open(directory, own, [&](const std::string& id, const Renaming& renaming) {
    return set_done(directory, id, renaming, own);
  });
}

}  // namespace cairn::cluster
