#include "tier/claim/restore.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tier/claim/kept_directory.h"
#include "tier/lower/keep_times.h"
#include "tier/lower/lower.h"
#include "tier/system/temp_file.h"

namespace cairn::tier {
namespace {

struct KeptFile {
  // The kept directory that was looked at, even if another one has its name by now.
  std::shared_ptr<sys::Descriptor> directory;
  std::string name;    // in the kept directory
  std::string origin;  // its path below the covered directory
  uint64_t time = 0;   // when a drain displaced it
};

int64_t read_origin(int kept, const std::string& name, KeptFile* item) {
  constexpr size_t longest = 4096;
  const int64_t fd = sys::openat(kept, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return fd;
  const sys::Descriptor file(static_cast<int>(fd));
  sys::FileStat st = {};
  if (const int64_t result = sys::fstat(file.get(), &st); result < 0) return result;
  if (!S_ISREG(st.st_mode) || st.st_size <= 0 || st.st_size > static_cast<off_t>(longest))
    return -ENOENT;  // it is not a note of Cairn's
  item->time = sys::mtime_of(st);
  item->origin.assign(longest, '\0');
  const int64_t n = sys::pread(file.get(), item->origin.data(), longest, 0);
  item->origin.resize(static_cast<size_t>(std::max<int64_t>(n, 0)));
  return n < 0 ? n : 0;
}

int64_t find_in(const std::shared_ptr<sys::Descriptor>& kept, std::vector<KeptFile>* found) {
  std::vector<sys::DirectoryEntry> entries;
  int64_t result = list_of(kept->get(), &entries);
  if (result < 0) return result;
  int64_t first_error = 0;
  for (const sys::DirectoryEntry& entry : entries) {
    if (!is_origin(entry.name)) continue;
    KeptFile item = {kept, entry.name.substr(std::strlen(origin_prefix)), "", 0};
    result = read_origin(kept->get(), entry.name, &item);
    if (result < 0 && result != -ENOENT && first_error == 0) first_error = result;
    if (result == 0) found->push_back(std::move(item));
  }
  return first_error;
}

// Opens the directory that a path lies in, and finds its last component. Follows no links.
int64_t open_parent(int above, const std::string& path, sys::Descriptor* parent,
                    std::string* name) {
  int64_t fd = sys::openat(above, ".", O_RDONLY | O_DIRECTORY);
  size_t from = 0;
  for (size_t slash = 0; fd >= 0; from = slash + 1) {
    *parent = sys::Descriptor(static_cast<int>(fd));
    slash = path.find('/', from);
    *name = path.substr(from, slash == std::string::npos ? slash : slash - from);
    if (name->empty() || *name == "." || *name == "..") return -ENOENT;
    if (slash == std::string::npos) return 0;
    fd = sys::openat(parent->get(), name->c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  }
  return fd;
}

int64_t restore(int above, const KeptFile& item) {
  sys::Descriptor parent;
  std::string name;
  int64_t result = open_parent(above, item.origin, &parent, &name);
  if (result == -ENOENT || result == -ENOTDIR || result == -ELOOP) return 0;
  if (result < 0) return result;
  const sys::Descriptor& kept = *item.directory;
  const KeepTimes times(parent.get());
  sys::FileStat st = {};
  const bool was_moved = sys::lstatat(kept.get(), item.name.c_str(), &st) == 0;
  if (was_moved) result = rename_to_free(kept.get(), item.name, parent.get(), name.c_str());
  if (result == -EEXIST || result == -ENOENT) return 0;
  if (result == 0 && was_moved) result = sys::fsync_directory(parent.get());
  if (result == 0) sys::unlinkat(kept.get(), (origin_prefix + item.name).c_str(), 0);
  return result;
}

}  // namespace

int64_t restore(int directory, uint64_t owner) {
  std::vector<sys::DirectoryEntry> entries;
  if (const int64_t result = list_of(directory, &entries); result < 0) return result;
  std::vector<std::shared_ptr<sys::Descriptor>> places;
  std::vector<KeptFile> found;
  int64_t first_error = 0;
  for (const sys::DirectoryEntry& entry : entries) {
    if (entry.name.rfind(drain_prefix, 0) != 0) continue;
    // Other users may write to the covered directory. Only directories that are ours count: in
    // others, they could say where their own files go.
    const auto kept = std::make_shared<sys::Descriptor>();
    int64_t result = open_kept_directory(directory, entry.name, owner, kept.get());
    if (result == -ENOENT) continue;
    if (result == 0) places.push_back(kept);
    if (result == 0) result = find_in(kept, &found);
    if (first_error == 0) first_error = result;
  }
  if (found.empty()) return first_error;
  // Restores a directory before the files in it, and of several files of one name the newest.
  std::sort(found.begin(), found.end(), [](const KeptFile& a, const KeptFile& b) {
    return a.origin.size() != b.origin.size() ? a.origin.size() < b.origin.size() : a.time > b.time;
  });
  const KeepTimes times(directory);
  for (const KeptFile& item : found)
    if (const int64_t result = restore(directory, item); first_error == 0) first_error = result;
  // Removes kept directories that are empty now.
  for (const auto& place : places) remove_kept_directory(directory, owner, place->get());
  return first_error;
}

}  // namespace cairn::tier
