// Where records lie: below the covered directory, in a tree of directories like that of the files.
#include <fcntl.h>

#include <cstdio>
#include <cstring>

#include "cluster/directories.h"
#include "cluster/record.h"
#include "tier/system.h"

namespace cairn::cluster {
namespace {

namespace sys = tier::sys;

constexpr const char* record_suffix = ".record";
constexpr const char* aside_suffix = ".aside-";
constexpr const char* unfinished_suffix = ".record.new-";  // and a random name
constexpr size_t random_digits = 32;
constexpr const char* mark_suffix = ".mark-";
constexpr uint64_t longest_record = 1ULL << 30;

// Names get no longer by these than by what write_record() puts behind them: what can be written can be collected.
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

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

Status remove_names(const std::string& directory,
                    const std::function<bool(const std::string& name)>& chosen) {
  const int64_t fd = sys::openat(AT_FDCWD, directory.c_str(), O_RDONLY | O_DIRECTORY);
  if (fd == -ENOENT) return Status();
  if (fd < 0) return sys::failed(fd, "open", directory);
  const sys::Descriptor opened(static_cast<int>(fd));
  std::vector<sys::Entry> entries;
  if (const int64_t result = sys::list(opened.get(), &entries); result < 0 && result != -ENOENT)
    return sys::failed(result, "read directory", directory);
  for (const sys::Entry& entry : entries) {
    if (!chosen(entry.name)) continue;
    const int64_t result = sys::unlinkat(opened.get(), entry.name.c_str(), 0);
    if (result < 0 && result != -ENOENT)
      return sys::failed(result, "unlink", directory + "/" + entry.name);
  }
  return Status();
}

// `below`: "" or ends in a slash. What lies in directories below it, only if `deep`.
Status visit_below(const std::string& directory, const std::string& below, bool deep,
                   const std::function<Status(const std::string& path)>& visit) {
  const std::string here = place_of(directory, below);
  const int64_t fd = sys::openat(AT_FDCWD, here.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (fd == -ENOENT) return Status();
  if (fd < 0) return sys::failed(fd, "open", here);
  std::vector<sys::Entry> entries;
  {
    const sys::Descriptor opened(static_cast<int>(fd));
    if (const int64_t result = sys::list(opened.get(), &entries); result < 0 && result != -ENOENT)
      return sys::failed(result, "read directory", here);
  }
  const std::string suffix = record_suffix;
  for (const sys::Entry& entry : entries) {
    const std::string path = below + entry.name;
    struct stat st = {};
    const std::string place = place_of(directory, path);
    const int64_t looked = sys::lstatat(AT_FDCWD, place.c_str(), &st);
    if (looked == -ENOENT) continue;
    // A record that is passed over would cost the parts that it names.
    if (looked < 0) return sys::failed(looked, "stat", place);
    if (S_ISDIR(st.st_mode)) {
      if (deep) CAIRN_TRY(visit_below(directory, path + "/", true, visit));
    } else if (S_ISREG(st.st_mode) && ends_with(entry.name, suffix)) {
      CAIRN_TRY(visit(path.substr(0, path.size() - suffix.size())));
    }
  }
  return Status();
}

}  // namespace

std::string records_path(const std::string& directory, const std::string& path) {
  return place_of(directory, path);
}

std::string record_path(const std::string& directory, const std::string& path) {
  return place_of(directory, path) + record_suffix;
}

std::string aside_path(const std::string& directory, const std::string& path,
                       const Record& record) {
  return place_of(directory, path) + aside_suffix + digits_of(tag_of(record));
}

std::string mark_path(const std::string& directory, const std::string& path, const Record& record,
                      const Uuid& pool) {
  return place_of(directory, path) + mark_suffix + digits_of(tag_of(record)) + "-" +
         digits_of(word_of(pool));
}

Result<Record> read_record(const std::string& directory, const std::string& path) {
  const std::string place = record_path(directory, path);
  const int64_t fd = sys::openat(AT_FDCWD, place.c_str(), O_RDONLY | O_NOFOLLOW);
  if (fd < 0) return sys::failed(fd, "open", place);
  const sys::Descriptor file(static_cast<int>(fd));
  struct stat st = {};
  if (const int64_t result = sys::fstat(file.get(), &st); result < 0)
    return sys::failed(result, "stat", place);
  const auto size = static_cast<uint64_t>(st.st_size);
  if (!S_ISREG(st.st_mode) || size > longest_record)
    return fail(EUCLEAN, "%s: not a record of a shared file", place.c_str());
  std::vector<uint8_t> bytes(size);
  for (size_t done = 0; done < bytes.size();) {
    const int64_t n = sys::pread(file.get(), bytes.data() + done, bytes.size() - done, done);
    if (n < 0) return sys::failed(n, "read", place);
    if (n == 0) return fail(EUCLEAN, "%s: the record was cut while it was read", place.c_str());
    done += static_cast<size_t>(n);
  }
  return record_of(bytes.data(), bytes.size(), place);
}

bool is_same_epoch(const Record& a, const Record& b) {
  return a.uuid == b.uuid && a.epoch == b.epoch;
}

namespace {

Status try_to_write(const std::string& directory, const std::string& place, const Record& record,
                    bool exclusive) {
  CAIRN_TRY(make_directories(directory, parent_of(place)));
  const std::string aside = place + ".new-" + sys::random_name();
  Status status = write_whole(aside, bytes_of(record), record.mode | 0600);
  if (status.ok()) {
    const int64_t result =
        exclusive ? sys::linkat(AT_FDCWD, aside.c_str(), AT_FDCWD, place.c_str())
                  : sys::renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, place.c_str(), 0);
    if (result < 0) status = sys::failed(result, exclusive ? "create" : "rename", place);
  }
  // After a rename there is none.
  sys::unlinkat(AT_FDCWD, aside.c_str(), 0);
  CAIRN_TRY(status);
  return sync_directory(parent_of(place));
}

// A record that was not written to its end. Whoever still writes it finds it gone, and writes it again.
bool is_unfinished(const std::string& name) {
  const size_t behind = std::strlen(unfinished_suffix) + random_digits;
  return name.size() > behind &&
         is_made_of(name, name.substr(0, name.size() - behind) + unfinished_suffix, random_digits);
}

// The file that a name of ours belongs to, "" if it is none of an aside file or a mark; and its tag.
std::string owner_of(const std::string& name, std::string* tag) {
  constexpr size_t digits = 16;
  for (const auto& [suffix, length] :
       {std::pair{aside_suffix, digits}, {mark_suffix, 2 * digits + 1}}) {
    const size_t behind = std::string(suffix).size() + length;
    if (name.size() <= behind) continue;
    std::string owner = name.substr(0, name.size() - behind);
    if (!is_made_of(name, owner + suffix, length)) continue;
    *tag = name.substr(name.size() - length, digits);
    return owner;
  }
  return "";
}

// `below`: "" or ends in a slash.
Status clean_below(const std::string& directory, const std::string& below) {
  const std::string here = place_of(directory, below);
  const int64_t fd = sys::openat(AT_FDCWD, here.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (fd == -ENOENT) return Status();
  if (fd < 0) return sys::failed(fd, "open", here);
  const sys::Descriptor opened(static_cast<int>(fd));
  std::vector<sys::Entry> entries;
  if (const int64_t result = sys::list(opened.get(), &entries); result < 0 && result != -ENOENT)
    return sys::failed(result, "read directory", here);
  for (const sys::Entry& entry : entries) {
    struct stat st = {};
    if (sys::lstatat(opened.get(), entry.name.c_str(), &st) != 0) continue;
    if (S_ISDIR(st.st_mode)) {
      CAIRN_TRY(clean_below(directory, below + entry.name + "/"));
      sys::unlinkat(opened.get(), entry.name.c_str(), AT_REMOVEDIR);  // unless something is in it
      continue;
    }
    if (is_unfinished(entry.name)) {
      sys::unlinkat(opened.get(), entry.name.c_str(), 0);
      continue;
    }
    std::string tag;
    const std::string owner = owner_of(entry.name, &tag);
    if (owner.empty()) continue;
    // Read after the name was seen: a name is never older than the record that it was made for.
    auto record = read_record(directory, below + owner);
    if (record.code() == ENOENT || (record.ok() && digits_of(tag_of(*record)) != tag))
      sys::unlinkat(opened.get(), entry.name.c_str(), 0);
  }
  return Status();
}

}  // namespace

Status write_record(const std::string& directory, const std::string& path, const Record& record,
                    bool exclusive) {
  const std::string place = record_path(directory, path);
  Status status;
  // ENOENT: a directory was empty, and somebody who cleans up removed it just now.
  constexpr int tries = 10;
  for (int i = 0; i < tries; ++i) {
    status = try_to_write(directory, place, record, exclusive);
    if (status.code() != ENOENT) break;
  }
  return status;
}

Status clean_records_in(const std::string& directory, const std::string& path) {
  CAIRN_TRY(clean_below(directory, path + "/"));
  // Unless something is in it.
  sys::unlinkat(AT_FDCWD, place_of(directory, path).c_str(), AT_REMOVEDIR);
  return Status();
}

Status clean_records(const std::string& directory) { return clean_below(directory, ""); }

Status remove_record(const std::string& directory, const std::string& path) {
  const std::string place = record_path(directory, path);
  if (const int64_t result = sys::unlinkat(AT_FDCWD, place.c_str(), 0); result < 0)
    return sys::failed(result, "delete", place);
  return forget_collected(directory, path);
}

Status forget_collected(const std::string& directory, const std::string& path) {
  const std::string place = place_of(directory, path);
  const std::string name = place.substr(place.rfind('/') + 1);
  return remove_names(parent_of(place), [&](const std::string& entry) {
    return is_made_of(entry, name + aside_suffix, 16) || is_made_of(entry, name + mark_suffix, 33);
  });
}

Status for_each_shared(const std::string& directory,
                       const std::function<Status(const std::string& path)>& visit) {
  return for_each_shared_in(directory, "", true, visit);
}

Status for_each_shared_in(const std::string& directory, const std::string& below, bool deep,
                          const std::function<Status(const std::string& path)>& visit) {
  const std::string start = below.empty() ? "" : below + "/";
  return visit_below(directory, start, deep,
                     [&](const std::string& path) { return visit(path.substr(start.size())); });
}

}  // namespace cairn::cluster
