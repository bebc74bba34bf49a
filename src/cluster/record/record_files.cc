// Where records lie: below the covered directory, in a tree of directories like that of the files.
#include <fcntl.h>
#include <sys/stat.h>

#include <cstdio>  // RENAME_NOREPLACE too
#include <cstring>

#include "cluster/record/directories.h"
#include "cluster/record/record.h"
#include "cluster/record/records_directory.h"
#include "tier/system/system.h"

namespace cairn::cluster {
namespace {

namespace sys = tier::sys;

constexpr const char* record_suffix = ".record";
constexpr const char* aside_suffix = ".aside-";
constexpr const char* unfinished_suffix = ".record.new-";  // and a random name
constexpr size_t random_digits = 32;
constexpr const char* mark_suffix = ".mark-";
constexpr const char* ahead_suffix = ".ahead-";
constexpr uint64_t longest_record = 1ULL << 30;

// Names get no longer by these than by what write_record() puts behind them: what can be written
// can be collected.
uint64_t word_of(const Uuid& uuid) {
  uint64_t word = 0;
  std::memcpy(&word, uuid.data(), sizeof word);
  return word;
}

// Another one for each life of a name and each epoch of it.
uint64_t tag_of(const Record& record) { return word_of(record.uuid) + record.epoch; }

std::string digits_of(uint64_t word) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(word));
  return text;
}

// `start`, and then digits and dashes up to this length.
bool is_made_of(const std::string& name, const std::string& start, size_t digits) {
  return name.size() == start.size() + digits && name.compare(0, start.size(), start) == 0 &&
         name.find_first_not_of("0123456789abcdef-", start.size()) == std::string::npos;
}

std::string place_of(const std::string& directory, const std::string& path) {
  return directory + "/" + records_directory + "/" + path;
}

bool is_regular(const sys::Descriptor& directory, const std::string& name, sys::FileStat* st) {
  return sys::lstatat(directory.get(), name.c_str(), st) == 0 && S_ISREG(st->st_mode);
}

}  // namespace

std::string record_name(const std::string& path) { return path + record_suffix; }
std::string aside_name(const std::string& path, const Record& record) {
  return path + aside_suffix + digits_of(tag_of(record));
}
std::string mark_name(const std::string& path, const Record& record, const Uuid& pool) {
  return path + mark_suffix + digits_of(tag_of(record)) + "-" + digits_of(word_of(pool));
}
std::string ahead_name(const std::string& path, const Record& record, const Uuid& pool) {
  return path + ahead_suffix + digits_of(tag_of(record)) + "-" + digits_of(word_of(pool));
}

std::string record_path(const std::string& directory, const std::string& path) {
  return place_of(directory, record_name(path));
}
std::string aside_path(const std::string& directory, const std::string& path,
                       const Record& record) {
  return place_of(directory, aside_name(path, record));
}
std::string mark_path(const std::string& directory, const std::string& path, const Record& record,
                      const Uuid& pool) {
  return place_of(directory, mark_name(path, record, pool));
}

Result<Record> read_record(const RecordsDirectory& records, const std::string& path) {
  auto bytes = records.read(record_name(path), longest_record);
  if (!bytes.ok()) return bytes.status();
  return record_of(bytes->data(), bytes->size(), records.path_of(record_name(path)));
}

Result<Record> read_record(const RecordsOf& of, const std::string& path) {
  auto records = RecordsDirectory::open(of);
  if (!records.ok()) return records.status();
  return read_record(*records, path);
}

Status check_gone(const RecordsDirectory& records, const std::string& path) {
  auto directory = records.open_directory(above_of(path));
  if (directory.code() == ENOENT) return Status();
  CAIRN_TRY(directory.status());
  return records.check_free(*directory, record_name(path));
}

bool is_same_epoch(const Record& a, const Record& b) {
  return a.uuid == b.uuid && a.epoch == b.epoch;
}

namespace {

Status check_path(const std::string& path) {
  if (is_path_below(path)) return Status();
  return fail(EINVAL, "%s: no shared file can have this path", path.c_str());
}

Status try_to_write(const RecordsOf& of, const std::string& path, const Record& record,
                    bool exclusive) {
  CAIRN_TRY(check_path(path));
  auto records = RecordsDirectory::make(of);
  if (!records.ok()) return records.status();
  const std::string above = above_of(path);
  const std::string name = name_in(record_name(path));
  const std::string place = records->path_of(record_name(path));
  CAIRN_TRY_ASSIGN(directory, records->make_directory(above));
  CAIRN_TRY(records->check_free(directory, record_name(path)));
  const std::string aside = name + ".new-" + sys::random_name();
  Status status = write_whole(directory, aside, records->path_of(above), bytes_of(record));
  if (status.ok()) {
    const int fd = directory.get();
    const int64_t result = exclusive ? sys::linkat(fd, aside.c_str(), fd, name.c_str())
                                     : sys::renameat2(fd, aside.c_str(), fd, name.c_str(), 0);
    if (result < 0) status = sys::failed(result, exclusive ? "create" : "rename", place);
  }
  // After a rename there is none.
  sys::unlinkat(directory.get(), aside.c_str(), 0);
  CAIRN_TRY(status);
  return sync_directory(directory, records->path_of(above));
}

// A record that was not written to its end. A process that still writes it finds it gone, and
// writes it again.
bool is_unfinished(const std::string& name) {
  const size_t behind = std::strlen(unfinished_suffix) + random_digits;
  return name.size() > behind &&
         is_made_of(name, name.substr(0, name.size() - behind) + unfinished_suffix, random_digits);
}

// The file that a name of ours belongs to, "" if it is none of an aside file or a mark; and its
// tag.
std::string owner_of(const std::string& name, std::string* tag) {
  constexpr size_t digits = 16;
  for (const auto& [suffix, length] : {std::pair{aside_suffix, digits},
                                       {mark_suffix, 2 * digits + 1},
                                       {ahead_suffix, 2 * digits + 1}}) {
    const size_t behind = std::string(suffix).size() + length;
    if (name.size() <= behind) continue;
    std::string owner = name.substr(0, name.size() - behind);
    if (!is_made_of(name, owner + suffix, length)) continue;
    *tag = name.substr(name.size() - length, digits);
    return owner;
  }
  return "";
}

// Removes what no record owns in one directory.
void clean_names(const RecordsDirectory& records, const sys::Descriptor& directory,
                 const std::string& path, const std::vector<sys::DirectoryEntry>& names) {
  for (const sys::DirectoryEntry& entry : names) {
    sys::FileStat st = {};
    std::string tag;
    const bool unfinished = is_unfinished(entry.name);
    const std::string owner = unfinished ? "" : owner_of(entry.name, &tag);
    if ((!unfinished && owner.empty()) || !is_regular(directory, entry.name, &st)) continue;
    bool is_void = unfinished;
    if (!unfinished) {
      // Read after the name was seen: a name is never older than the record that it was made for.
      auto record = read_record(records, joined(path, owner));
      is_void = record.ok() ? digits_of(tag_of(*record)) != tag
                            : record.code() == ENOENT &&
                                  records.check_free(directory, record_name(owner)).ok();
    }
    if (is_void) sys::unlinkat(directory.get(), entry.name.c_str(), 0);
  }
}

Status clean_below(const RecordsDirectory& records, const std::string& top) {
  std::vector<std::string> below;
  CAIRN_TRY(
      records.for_each_directory(top, true,
                                 [&](const sys::Descriptor& directory, const std::string& path,
                                     const std::vector<sys::DirectoryEntry>& names) {
                                   clean_names(records, directory, path, names);
                                   if (!path.empty() && path != top) below.push_back(path);
                                   return Status();
                                 }));
  // Each comes behind the one that it lies in.
  for (auto path = below.rbegin(); path != below.rend(); ++path) {
    auto above = records.open_directory(above_of(*path));
    if (!above.ok()) continue;
    // Unless something is in it.
    sys::unlinkat(above->get(), name_in(*path).c_str(), AT_REMOVEDIR);
  }
  return Status();
}

}  // namespace

Status write_record(const RecordsOf& of, const std::string& path, const Record& record,
                    bool exclusive) {
  Status status;
  // ENOENT: a directory was empty, and a node that cleans up removed it just now.
  constexpr int tries = 10;
  for (int i = 0; i < tries; ++i) {
    status = try_to_write(of, path, record, exclusive);
    if (status.code() != ENOENT) break;
  }
  return status;
}

Status clean_records_in(const RecordsOf& of, const std::string& path) {
  auto records = RecordsDirectory::open(of);
  if (records.code() == ENOENT) return Status();
  CAIRN_TRY(records.status());
  CAIRN_TRY(clean_below(*records, path));
  auto above = records->open_directory(above_of(path));
  // Unless something is in it.
  if (above.ok()) sys::unlinkat(above->get(), name_in(path).c_str(), AT_REMOVEDIR);
  return Status();
}

Status clean_records(const RecordsDirectory& records) { return clean_below(records, ""); }

Status clean_records(const RecordsOf& of) {
  auto records = RecordsDirectory::open(of);
  if (records.code() == ENOENT) return Status();
  CAIRN_TRY(records.status());
  return clean_records(*records);
}

Status rename_record(const RecordsOf& of, const std::string& from, const std::string& to,
                     bool keep) {
  CAIRN_TRY(check_path(to));
  CAIRN_TRY_ASSIGN(records, RecordsDirectory::open(of));
  CAIRN_TRY_ASSIGN(old_above, records.open_directory(above_of(from)));
  CAIRN_TRY_ASSIGN(new_above, records.make_directory(above_of(to)));
  CAIRN_TRY(records.check_free(new_above, record_name(to)));
  const std::string old_name = name_in(record_name(from));
  const std::string new_name = name_in(record_name(to));
  const int64_t result = sys::renameat2(old_above.get(), old_name.c_str(), new_above.get(),
                                        new_name.c_str(), keep ? RENAME_NOREPLACE : 0);
  if (result < 0) return sys::failed(result, "rename", records.path_of(record_name(from)));
  CAIRN_TRY(sync_directory(new_above, records.path_of(above_of(to))));
  return sync_directory(old_above, records.path_of(above_of(from)));
}

namespace {

Status forget_in(const sys::Descriptor& directory, const std::string& name,
                 const std::string& place) {
  std::vector<sys::DirectoryEntry> entries;
  if (const int64_t result = sys::list(directory.get(), &entries); result < 0 && result != -ENOENT)
    return sys::failed(result, "read directory", place);
  for (const sys::DirectoryEntry& entry : entries) {
    if (!is_made_of(entry.name, name + aside_suffix, 16) &&
        !is_made_of(entry.name, name + mark_suffix, 33) &&
        !is_made_of(entry.name, name + ahead_suffix, 33))
      continue;
    sys::FileStat st = {};
    if (!is_regular(directory, entry.name, &st)) continue;
    const int64_t result = sys::unlinkat(directory.get(), entry.name.c_str(), 0);
    if (result < 0 && result != -ENOENT)
      return sys::failed(result, "unlink", place + "/" + entry.name);
  }
  return Status();
}

}  // namespace

Status remove_record(const RecordsOf& of, const std::string& path) {
  CAIRN_TRY_ASSIGN(records, RecordsDirectory::open(of));
  return remove_record(records, path);
}

Status remove_record(const RecordsDirectory& records, const std::string& path) {
  const std::string above = above_of(path);
  CAIRN_TRY_ASSIGN(directory, records.open_directory(above));
  const std::string name = name_in(record_name(path));
  sys::FileStat st = {};
  int64_t result = sys::lstatat(directory.get(), name.c_str(), &st);
  if (result == 0 && (!S_ISREG(st.st_mode) || !records.counts(st))) result = -ENOENT;
  if (result == 0) result = sys::unlinkat(directory.get(), name.c_str(), 0);
  if (result < 0) return sys::failed(result, "delete", records.path_of(record_name(path)));
  return forget_in(directory, name_in(path), records.path_of(above));
}

Status forget_collected(const RecordsOf& of, const std::string& path) {
  auto records = RecordsDirectory::open(of);
  if (records.code() == ENOENT) return Status();
  CAIRN_TRY(records.status());
  auto directory = records->open_directory(above_of(path));
  if (directory.code() == ENOENT) return Status();
  CAIRN_TRY(directory.status());
  return forget_in(*directory, name_in(path), records->path_of(above_of(path)));
}

namespace {

Status for_each_in(const RecordsDirectory& records, const std::string& below, bool deep,
                   const VisitShared& visit, PassedOver* passed) {
  const std::string suffix = record_suffix;
  const auto visit_directory = [&](const sys::Descriptor& directory, const std::string& path,
                                   const std::vector<sys::DirectoryEntry>& names) -> Status {
    for (const sys::DirectoryEntry& entry : names) {
      if (!entry.name.ends_with(suffix)) continue;
      const std::string record = joined(path, entry.name);
      const std::string file = record.substr(0, record.size() - suffix.size());
      sys::FileStat st = {};
      const int64_t looked = sys::lstatat(directory.get(), entry.name.c_str(), &st);
      if (looked == -ENOENT) continue;
      // A record that is passed over would cost the parts that it names.
      if (looked < 0) return sys::failed(looked, "stat", records.path_of(record));
      // A directory can have such a name, and is none.
      if (S_ISDIR(st.st_mode) || !is_path_below(file)) continue;
      if (!S_ISREG(st.st_mode) || !records.counts(st))
        records.note_passed(record, st, passed);
      else
        CAIRN_TRY(visit(below.empty() ? file : file.substr(below.size() + 1)));
    }
    return Status();
  };
  return records.for_each_directory(below, deep, visit_directory, passed);
}

}  // namespace

Status for_each_shared(const RecordsDirectory& records, const VisitShared& visit,
                       PassedOver* passed) {
  return for_each_in(records, "", true, visit, passed);
}

Status for_each_shared(const RecordsOf& of, const VisitShared& visit, PassedOver* passed) {
  auto records = RecordsDirectory::open(of);
  if (records.code() == ENOENT) return Status();
  CAIRN_TRY(records.status());
  return for_each_shared(*records, visit, passed);
}

Status for_each_shared_in(const RecordsOf& of, const std::string& below, bool deep,
                          const VisitShared& visit) {
  auto records = RecordsDirectory::open(of);
  if (records.code() == ENOENT) return Status();
  CAIRN_TRY(records.status());
  return for_each_in(*records, below, deep, visit, nullptr);
}

}  // namespace cairn::cluster
