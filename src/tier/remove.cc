#include <fcntl.h>
#include <sys/stat.h>

#include <vector>

#include "tier/drain_state.h"

namespace cairn::tier {
namespace {

Status changed(const std::string& path) {
  return fail(ESTALE, "%s: it was changed since it was imported", path.c_str());
}

int64_t open_directory(int directory, const std::string& name, sys::Descriptor* fd,
                       std::vector<sys::Entry>* entries) {
  const int64_t opened =
      sys::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (opened < 0) return opened;
  *fd = sys::Descriptor(static_cast<int>(opened));
  return sys::list(fd->get(), entries);
}

// Looks at everything (`remove` false), then removes it, from the leaves up.
Status visit_tree(int directory, const std::string& name, const std::string& path, uint64_t newest,
                  bool remove) {
  struct stat st = {};
  if (const int64_t result = sys::lstatat(directory, name.c_str(), &st); result < 0)
    return result == -ENOENT ? Status() : sys::failed(result, "stat", path);
  const bool is_directory = S_ISDIR(st.st_mode);
  // Removing names moves a directory's own times on: it was looked at before.
  if (!is_hidden(name) && !(remove && is_directory) && sys::ctime_of(st) > newest)
    return changed(path);
  if (is_directory) {
    sys::Descriptor fd;
    std::vector<sys::Entry> entries;
    if (const int64_t result = open_directory(directory, name, &fd, &entries); result < 0)
      return sys::failed(result, "open", path);
    for (const sys::Entry& entry : entries)
      CAIRN_TRY(visit_tree(fd.get(), entry.name, path + "/" + entry.name, newest, remove));
  }
  if (!remove) return Status();
  const int64_t result =
      sys::unlinkat(directory, name.c_str(), is_directory ? AT_REMOVEDIR : 0);
  return result < 0 && result != -ENOENT ? sys::failed(result, "remove", path) : Status();
}

}  // namespace

Status remove_tree(int directory, const std::string& name, const std::string& path,
                   uint64_t newest) {
  CAIRN_TRY(visit_tree(directory, name, path, newest, false));
  return visit_tree(directory, name, path, newest, true);
}

}  // namespace cairn::tier
