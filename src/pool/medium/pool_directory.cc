#include "pool/medium/pool_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "pool/medium/segment_files.h"

namespace cairn::pool {

Status check_directory(const std::string& path) {
  struct stat st {};
  if (stat(path.c_str(), &st) != 0) return fail(errno, "%s: %s", path.c_str(), strerror(errno));
  if (!S_ISDIR(st.st_mode))
    return fail(ENOTDIR, "%s: a pool is a directory or a dax device", path.c_str());
  // Root is no exception: what the pool says would be done with root's rights.
  if (st.st_uid != geteuid())
    return fail(EACCES, "%s: the pool belongs to user %u%s", path.c_str(), st.st_uid,
                geteuid() != 0 ? ""
                               : "; use it as that user, or make root its owner (chown -R) if you "
                                 "trust what is in it");
  if ((st.st_mode & 077) != 0)
    return fail(EACCES, "%s: other users may enter this pool (mode %03o); it must be 0700",
                path.c_str(), st.st_mode & 0777);
  return Status();
}

bool is_of_a_moment(const char* name) {
  for (const char* prefix : {".cairn-link-", ".cairn-cwd-"})
    if (strncmp(name, prefix, strlen(prefix)) == 0) return true;
  return false;
}

void remove_folder(const std::string& path) {
  const int opened = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR* folder = opened < 0 ? nullptr : fdopendir(opened);
  if (folder == nullptr && opened >= 0) close(opened);
  if (folder != nullptr) {
    while (const dirent* entry = readdir(folder)) {
      if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
        unlinkat(dirfd(folder), entry->d_name, 0);
    }
    closedir(folder);
  }
  rmdir(path.c_str());
}

// Companions and an adapter's links go with it; nothing else is expected there.
void take_pool_apart(const std::string& path) {
  for (const char* folder : {"/companion", "/links"}) remove_folder(path + folder);
  sweep_directory(path).ignore();  // its caller tells what stays
  remove_tree(path);
}

Status sweep_directory(const std::string& path) {
  CAIRN_TRY(check_directory(path));
  DIR* directory = opendir(path.c_str());
  if (directory == nullptr) return fail(errno, "%s: %s", path.c_str(), strerror(errno));
  std::vector<std::string> left;
  while (const dirent* entry = readdir(directory))
    if (is_of_a_moment(entry->d_name)) left.emplace_back(entry->d_name);
  Status status;
  for (const std::string& name : left) {
    const bool is_gone = unlinkat(dirfd(directory), name.c_str(), 0) == 0 ||
                         unlinkat(dirfd(directory), name.c_str(), AT_REMOVEDIR) == 0;
    if (!is_gone && errno != ENOENT)
      status = fail(errno, "%s/%s: %s", path.c_str(), name.c_str(), strerror(errno));
  }
  closedir(directory);
  return status;
}

}  // namespace cairn::pool
