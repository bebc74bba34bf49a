#include "cluster/record/records_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cstdio>

#include "cluster/record/directories.h"
#include "tier/lower/lower.h"
#include "tier/record/record.h"

namespace cairn::cluster {
namespace {

namespace sys = tier::sys;

constexpr int as_directory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK;

// Something is there that cannot be one of ours: a link, a file where a directory should be, a
// socket.
bool is_none(int64_t result) { return result == -ELOOP || result == -ENOTDIR || result == -ENXIO; }

const char* or_itself(const std::string& path) { return path.empty() ? "." : path.c_str(); }

}  // namespace

std::string joined(const std::string& above, const std::string& name) {
  return above.empty() ? name : above + "/" + name;
}

RecordsOf records_of(file::FileSystem& fs, const std::string& directory, const std::string& cover) {
  RecordsOf records(directory);
  const auto covers = tier::find_covers(fs, false);
  if (!covers.ok() || *covers == 0) return records;
  if (const auto found = tier::read_record(fs, *covers, cover); found.ok())
    records.owner = found->owner;
  return records;
}

bool is_path_below(const std::string& path) {
  if (path.find('\0') != std::string::npos) return false;
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string name = path.substr(at, end - at);
    if (name.empty() || name == "." || name == ".." || tier::is_hidden(name)) return false;
    if (at == 0 && tier::is_hidden_at_top(name)) return false;
    at = end + 1;
  }
  return true;
}

std::string told(const std::string& path) {
  constexpr size_t begin = 100;
  constexpr size_t end = 60;
  if (path.size() <= begin + end) return path;
  return path.substr(0, begin) + "..." + path.substr(path.size() - end);
}

std::string above_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string name_in(const std::string& path) { return path.substr(path.rfind('/') + 1); }

Result<RecordsDirectory> RecordsDirectory::of_found(int64_t result, const RecordsOf& of,
                                                    tier::RecordsFound found,
                                                    std::string* ignored) {
  const std::string path = joined(of.directory, tier::records_directory);
  if (result < 0) return sys::failed(result, "open", path);
  if (ignored != nullptr) *ignored = found.ignored;
  if (!found.fd.ok()) return sys::failed(-ENOENT, "open", path);
  return RecordsDirectory(of, std::move(found.fd));
}

Result<RecordsDirectory> RecordsDirectory::open(const RecordsOf& of, std::string* ignored) {
  tier::RecordsFound found;
  const int64_t result = tier::find_records(of.directory, of.owner, &found);
  return of_found(result, of, std::move(found), ignored);
}

Result<RecordsDirectory> RecordsDirectory::open_in(const sys::Descriptor& covered,
                                                   const RecordsOf& of, std::string* ignored) {
  tier::RecordsFound found;
  const int64_t result = tier::find_records(covered.get(), of.owner, &found);
  return of_found(result, of, std::move(found), ignored);
}

Result<RecordsDirectory> RecordsDirectory::make(const RecordsOf& of) {
  auto made = tier::make_records(of.directory, of.owner);
  if (!made.ok()) return made.status();
  return RecordsDirectory(of, std::move(*made));
}

std::string RecordsDirectory::path_of(const std::string& path) const {
  const std::string below = told(path);
  return joined(of_.directory, tier::records_directory) + (below.empty() ? "" : "/" + below);
}

bool RecordsDirectory::counts(const sys::FileStat& st) const {
  return (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) && tier::is_of_user(st, of_.owner);
}

void PassedOver::note(const std::string& where, const std::string& reason, bool ours) {
  if (!path.empty() && (is_ours || !ours)) return;
  path = where;
  why = reason;
  is_ours = ours;
}

void RecordsDirectory::note_passed(const std::string& path, const sys::FileStat& st,
                                   PassedOver* passed) const {
  if (passed == nullptr) return;
  const bool ours = tier::is_trusted_owner(st.st_uid, of_.owner);
  const std::string user = "belongs to user " + std::to_string(st.st_uid);
  char text[96];
  std::snprintf(text, sizeof text, "has mode %04o: other users can write to it",
                static_cast<unsigned>(st.st_mode & 07777));
  if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
    passed->note(path, "is neither a file nor a directory, and " + user, ours);
  else
    passed->note(path, ours ? text : user, ours);
}

Result<sys::Descriptor> RecordsDirectory::open_directory(const std::string& path) const {
  int64_t opened = sys::open_in(fd_.get(), or_itself(path), as_directory);
  if (is_none(opened)) opened = -ENOENT;
  if (opened < 0) return sys::failed(opened, "open", path_of(path));
  sys::Descriptor directory(static_cast<int>(opened));
  if (path.empty()) return directory;
  sys::FileStat st = {};
  if (const int64_t result = sys::fstat(directory.get(), &st); result < 0)
    return sys::failed(result, "stat", path_of(path));
  if (!counts(st)) return sys::failed(-ENOENT, "open", path_of(path));
  return directory;
}

Result<sys::Descriptor> RecordsDirectory::make_directory(const std::string& path) const {
  auto found = open_directory(path);
  if (found.ok() || found.code() != ENOENT) return found;
  CAIRN_TRY_ASSIGN(directory, open_directory(""));
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string so_far = path.substr(0, end);
    const std::string name = path.substr(at, end - at);
    at = end + 1;
    const int64_t made = sys::mkdirat(directory.get(), name.c_str(), 0700);
    if (made < 0 && made != -EEXIST) return sys::failed(made, "mkdir", path_of(so_far));
    if (made == 0) CAIRN_TRY(sync_directory(directory, path_of(above_of(so_far))));
    if (made < 0) CAIRN_TRY(check_free(directory, so_far));
    const int64_t opened = sys::openat(directory.get(), name.c_str(), as_directory);
    if (opened < 0) return sys::failed(opened, "open", path_of(so_far));
    directory = sys::Descriptor(static_cast<int>(opened));
    sys::FileStat st = {};
    if (const int64_t result = sys::fstat(directory.get(), &st); result < 0)
      return sys::failed(result, "stat", path_of(so_far));
    if (!counts(st)) return sys::failed(-EPERM, "open", path_of(so_far));
  }
  return directory;
}

Result<std::vector<uint8_t>> RecordsDirectory::read(const std::string& path, uint64_t most) const {
  const std::string place = path_of(path);
  int64_t opened = sys::open_in(fd_.get(), path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (is_none(opened)) opened = -ENOENT;
  if (opened < 0) return sys::failed(opened, "open", place);
  const sys::Descriptor file(static_cast<int>(opened));
  sys::FileStat st = {};
  if (const int64_t result = sys::fstat(file.get(), &st); result < 0)
    return sys::failed(result, "stat", place);
  if (!S_ISREG(st.st_mode) || !counts(st)) return sys::failed(-ENOENT, "open", place);
  if (static_cast<uint64_t>(st.st_size) > most)
    return fail(EUCLEAN, "%s: longer than anything that Cairn writes there", place.c_str());
  std::vector<uint8_t> bytes(static_cast<size_t>(st.st_size));
  for (size_t done = 0; done < bytes.size();) {
    const int64_t n = sys::pread(file.get(), bytes.data() + done, bytes.size() - done, done);
    if (n < 0) return sys::failed(n, "read", place);
    if (n == 0) return fail(EUCLEAN, "%s: was cut while it was read", place.c_str());
    done += static_cast<size_t>(n);
  }
  return bytes;
}

Status RecordsDirectory::check_free(const sys::Descriptor& above, const std::string& path) const {
  sys::FileStat st = {};
  const int64_t looked = sys::lstatat(above.get(), name_in(path).c_str(), &st);
  if (looked == -ENOENT) return Status();
  if (looked < 0) return sys::failed(looked, "stat", path_of(path));
  if (counts(st)) return Status();
  return fail(EPERM, "%s: is not a file or directory of Cairn's (user %u, mode %06o); move it away",
              path_of(path).c_str(), st.st_uid, st.st_mode);
}

Status RecordsDirectory::for_each_directory(const std::string& path, bool deep, const Visit& visit,
                                            PassedOver* passed) const {
  struct Pending {
    std::string path;
    size_t level;
  };
  std::vector<Pending> pending = {{path, 0}};
  while (!pending.empty()) {
    const Pending here = std::move(pending.back());
    pending.pop_back();
    auto directory = open_directory(here.path);
    if (directory.code() == ENOENT) continue;
    CAIRN_TRY(directory.status());
    std::vector<sys::DirectoryEntry> names;
    if (const int64_t result = sys::list(directory->get(), &names); result < 0 && result != -ENOENT)
      return sys::failed(result, "read directory", path_of(here.path));
    CAIRN_TRY(visit(*directory, here.path, names));
    for (const sys::DirectoryEntry& name : names) {
      if (!deep || (name.type != DT_DIR && name.type != DT_UNKNOWN)) continue;
      const std::string below = joined(here.path, name.name);
      sys::FileStat st = {};
      const int64_t looked = sys::lstatat(directory->get(), name.name.c_str(), &st);
      if (looked == -ENOENT) continue;
      // A record that is passed over would cost the parts that it names.
      if (looked < 0) return sys::failed(looked, "stat", path_of(below));
      if (!S_ISDIR(st.st_mode)) continue;
      if (!counts(st))
        note_passed(below, st, passed);
      else if (here.level < most_levels)
        pending.push_back({below, here.level + 1});
      else if (passed != nullptr)
        passed->note(below, "lies more than " + std::to_string(most_levels) + " directories deep",
                     false);
    }
  }
  return Status();
}

}  // namespace cairn::cluster
