#include "cluster/names/rename_intent.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/crc32c.h"
#include "base/saved_failure.h"
#include "cluster/local/name_op.h"
#include "cluster/record/codec.h"
#include "cluster/record/directories.h"
#include "cluster/record/record.h"
#include "cluster/record/uuid.h"
#include "cluster/remote/name_broadcast.h"
#include "cluster/shared/moved_records.h"
#include "tier/record/record.h"
#include "tier/system/system.h"

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

// No file of a user's has its records there: such a name is hidden at the top of the covered
// directory.
constexpr const char* notes = tier::records_directory;

std::string note_name(const std::string& id) { return prefix + id; }
std::string done_name(const std::string& id, const Uuid& pool) {
  return note_name(id) + done_suffix + hex_of(pool);
}
std::string in_notes(const std::string& name) { return std::string(notes) + "/" + name; }

std::vector<uint8_t> bytes_of(const RenameIntent& renaming) {
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

// ENOENT: it is not a note of ours. `unwritten`: one that was not written to its end; nothing had
// been done then.
Result<RenameIntent> read_note(const RecordsDirectory& records, const std::string& id,
                               bool* unwritten = nullptr) {
  const std::string path = in_notes(note_name(id));
  const std::string place = records.path_of(path);
  auto bytes = records.read(path, longest_note);
  if (bytes.code() == EUCLEAN) return fail(ENOENT, "%s: not the note of a rename", place.c_str());
  if (!bytes.ok()) return bytes.status();
  Unpacker in(bytes->data(), bytes->size());
  char start[sizeof magic] = {};
  in.take(start, sizeof start);
  const auto found = in.get<uint32_t>();
  const auto crc = in.get<uint32_t>();
  if (in.ok() && std::memcmp(start, magic, sizeof magic) == 0 && found > version)
    return fail(EPROTONOSUPPORT, "%s: of version %u; this program knows version %u", place.c_str(),
                found, version);
  RenameIntent renaming;
  renaming.from = in.text();
  renaming.to = in.text();
  for (auto pools = in.get<uint32_t>(); pools != 0 && in.ok(); --pools) {
    Uuid pool = {};
    in.take(pool.data(), pool.size());
    renaming.pools.push_back(pool);
  }
  const bool is_whole = in.ok() && in.left() == 0 && std::memcmp(start, magic, sizeof magic) == 0 &&
                        crc == crc32c(0, bytes->data() + head_end, bytes->size() - head_end);
  if (unwritten != nullptr) *unwritten = !is_whole;
  if (!is_whole) return fail(ENOENT, "%s: is incomplete", place.c_str());
  if (!is_path_below(renaming.from) || !is_path_below(renaming.to))
    return fail(ENOENT, "%s: names paths that cannot be renamed", place.c_str());
  return renaming;
}

// The notes of a covered directory.
class Notes {
 public:
  // ENOENT: there are none.
  static Result<Notes> open(const RecordsOf& of) {
    Notes all;
    CAIRN_TRY_ASSIGN(records, RecordsDirectory::open(of));
    all.records_ = std::move(records);
    CAIRN_TRY_ASSIGN(directory, all.records_.open_directory(notes));
    all.directory_ = std::move(directory);
    return all;
  }
  static Result<Notes> make(const RecordsOf& of) {
    Notes all;
    CAIRN_TRY_ASSIGN(records, RecordsDirectory::make(of));
    all.records_ = std::move(records);
    CAIRN_TRY_ASSIGN(directory, all.records_.make_directory(notes));
    all.directory_ = std::move(directory);
    return all;
  }

  [[nodiscard]] const RecordsDirectory& records() const { return records_; }
  // Of all that look like notes and what belongs to them.
  [[nodiscard]] Result<std::vector<std::string>> names() const {
    std::vector<sys::DirectoryEntry> entries;
    if (const int64_t result = sys::list(directory_.get(), &entries);
        result < 0 && result != -ENOENT)
      return sys::failed(result, "read directory", path());
    std::vector<std::string> names;
    for (const sys::DirectoryEntry& entry : entries)
      if (entry.name.starts_with(prefix)) names.push_back(entry.name);
    return names;
  }
  [[nodiscard]] bool has(const std::string& name) const {
    sys::FileStat st = {};
    return sys::lstatat(directory_.get(), name.c_str(), &st) == 0 && S_ISREG(st.st_mode) &&
           records_.counts(st);
  }
  // What does not count stays.
  [[nodiscard]] Status remove(const std::string& name) const {
    sys::FileStat st = {};
    int64_t result = sys::lstatat(directory_.get(), name.c_str(), &st);
    if (result == 0 && (!S_ISREG(st.st_mode) || !records_.counts(st))) return Status();
    if (result == 0) result = sys::unlinkat(directory_.get(), name.c_str(), 0);
    return result < 0 && result != -ENOENT
               ? sys::failed(result, "unlink", records_.path_of(in_notes(name)))
               : Status();
  }
  [[nodiscard]] Status write(const std::string& name, const std::vector<uint8_t>& bytes) const {
    return write_whole(directory_, name, path(), bytes);
  }
  [[nodiscard]] Status sync() const { return sync_directory(directory_, path()); }

 private:
  [[nodiscard]] std::string path() const { return records_.path_of(notes); }

  RecordsDirectory records_;
  sys::Descriptor directory_;
};

// This pool has done its share; the last one ends it.
Status set_done(const Notes& all, const std::string& id, const RenameIntent& renaming,
                const Uuid& own) {
  const Status made = all.write(done_name(id, own), {});
  if (!made.ok() && made.code() != EEXIST) return made;
  const auto is_done = [&](const Uuid& pool) { return all.has(done_name(id, pool)); };
  if (!std::all_of(renaming.pools.begin(), renaming.pools.end(), is_done)) return Status();
  CAIRN_TRY(all.remove(note_name(id)));
  for (const Uuid& pool : renaming.pools) CAIRN_TRY(all.remove(done_name(id, pool)));
  return Status();
}

Status rename_in_pool(file::FileSystem& fs, const std::string& directory,
                      const RenameIntent& renaming) {
  Node self = {};
  const Uuid pool = uuid_of(fs);
  std::copy(pool.begin(), pool.end(), self.pool);
  Job job(fs, {directory, tier::cover_name(directory), &self, 1, 0}, nullptr, nullptr, nullptr);
  const Status status = change_name(job, {NameOp::rename, 0, renaming.from, renaming.to});
  return status.code() == ENOENT ? Status() : status;
}

// Calls visit(notes, id, renaming) for those that this pool has a share in that is not done.
template <typename Visit>
Status for_each_open(const RecordsOf& of, const Uuid& own, Visit visit) {
  auto all = Notes::open(of);
  if (all.code() == ENOENT) return Status();
  CAIRN_TRY(all.status());
  CAIRN_TRY_ASSIGN(names, all->names());
  for (const std::string& name : names) {
    const std::string id = name.substr(std::strlen(prefix), hex_digits);
    const bool is_note = name.size() == std::strlen(prefix) + hex_digits;
    // What is said of a note that has gone.
    if (!is_note && !all->has(note_name(id))) CAIRN_TRY(all->remove(name));
    if (!is_note || all->has(done_name(id, own))) continue;
    bool unwritten = false;
    auto renaming = read_note(all->records(), id, &unwritten);
    if (unwritten) CAIRN_TRY(all->remove(name));
    if (renaming.code() == ENOENT) continue;
    CAIRN_TRY(renaming.status());
    const auto& pools = renaming->pools;
    if (std::find(pools.begin(), pools.end(), own) == pools.end()) continue;
    CAIRN_TRY(visit(*all, id, *renaming));
  }
  return Status();
}

Status try_to_announce(const RecordsOf& of, const RenameIntent& renaming) {
  CAIRN_TRY_ASSIGN(all, Notes::make(of));
  const std::string name = note_name(hex_of(renaming.id));
  Status status = all.write(name, bytes_of(renaming));
  if (status.ok()) status = all.sync();
  if (status.ok()) return status;
  const SavedFailure saved(status);
  all.remove(name).ignore();  // the failure that is told is the first one
  return saved.restored();
}

}  // namespace

Status announce(const Job& job, const RenameIntent& renaming) {
  RenameIntent noted = renaming;
  for (uint32_t node = 0; node < job.nodes(); ++node) noted.pools.push_back(job.node(node).pool);
  Status status;
  // ENOENT: the directory was empty, and a node that cleans up removed it just now.
  constexpr int tries = 10;
  for (int i = 0; i < tries; ++i) {
    status = try_to_announce(job.records(), noted);
    if (status.code() != ENOENT) break;
  }
  return status;
}

Status end_renaming(const RecordsOf& of, const Uuid& id) {
  const auto all = Notes::open(of);
  if (all.code() == ENOENT) return Status();
  CAIRN_TRY(all.status());
  CAIRN_TRY(all->remove(note_name(hex_of(id))));
  return all->sync();
}

namespace {

Status rename_on_all(Job& job, const RenameIntent& renaming) {
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
  const auto records = RecordsDirectory::open(job.records());
  if (records.code() == ENOENT) return Status();
  CAIRN_TRY(records.status());
  const auto renaming = read_note(*records, hex_of(id));
  if (renaming.code() == ENOENT) return Status();
  CAIRN_TRY(renaming.status());
  const Status done = rename_on_all(job, *renaming);
  if (!done.ok() && may_pass(done)) return done;
  // Where the names are something else's by now, it is over: finished later still, it would move
  // what it does not mean.
  return end_renaming(job.records(), id);
}

Status finish_renamings(file::FileSystem& fs, const std::string& directory) {
  const Uuid own = uuid_of(fs);
  const RecordsOf of = records_of(fs, directory, tier::cover_name(directory));
  return for_each_open(
      of, own, [&](const Notes& all, const std::string& id, const RenameIntent& renaming) {
        // Records are moved once, by the pool that is done first: later the old name may have
        // others.
        const bool has_moved =
            std::any_of(renaming.pools.begin(), renaming.pools.end(),
                        [&](const Uuid& pool) { return all.has(done_name(id, pool)); });
        Status status = rename_in_pool(fs, directory, renaming);
        if (status.ok() && !has_moved)
          status = rename_records(of, renaming.from, renaming.to).status();
        if (status.ok()) return set_done(all, id, renaming, own);
        return annotate(status, "%s/%s could not be renamed to %s, which a killed job had begun",
                        directory.c_str(), renaming.from.c_str(), renaming.to.c_str());
      });
}

Status forget_renamings(file::FileSystem& fs, const std::string& directory) {
  const Uuid own = uuid_of(fs);
  const RecordsOf of = records_of(fs, directory, tier::cover_name(directory));
  return for_each_open(of, own,
                       [&](const Notes& all, const std::string& id, const RenameIntent& renaming) {
                         return set_done(all, id, renaming, own);
                       });
}

}  // namespace cairn::cluster
