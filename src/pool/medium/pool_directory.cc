#include "pool/medium/pool_directory.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "format/layout.h"
#include "pool/medium/segment_files.h"

namespace cairn::pool {
namespace {

Status check(const Directory& pool) {
  const struct stat st = pool.status();
  // Root is no exception: contents of the pool would be acted on with root's rights.
  if (st.st_uid != geteuid())
    return fail(EACCES, "%s: the pool belongs to user %u%s", pool.path().c_str(), st.st_uid,
                geteuid() != 0 ? ""
                               : "; use it as that user, or make root its owner (chown -R) if you "
                                 "trust what is in it");
  if ((st.st_mode & 077) != 0)
    return fail(EACCES, "%s: other users may enter this pool (mode %03o); it must be 0700",
                pool.path().c_str(), st.st_mode & 0777);
  return Status();
}

Result<Directory> checked(Result<Directory> opened, const std::string& path) {
  if (opened.code() == ENOTDIR)
    return fail(ENOTDIR, "%s: a pool is a directory or a dax device", path.c_str());
  if (opened.ok()) CAIRN_TRY(check(*opened));
  return opened;
}

void remove_segments(const Directory& pool) {
  uint32_t count = 0;
  while (count < format::max_segments && pool.has(segment_name(count))) ++count;
  // The first segment is removed last: by it, a process that continues the removal knows the pool.
  while (count-- > 0) pool.remove(segment_name(count)).ignore();
}

}  // namespace

Result<Directory> open_pool_directory(const std::string& path) {
  return checked(Directory::open(path), path);
}

Result<Directory> open_pool_directory(const Directory& above, const std::string& name) {
  return checked(above.enter(name), above.path_of(name));
}

bool is_of_a_moment(const std::string& name) {
  return name.starts_with(".cairn-link-") || name.starts_with(".cairn-cwd-");
}

void remove_folder(const Directory& above, const std::string& name) {
  if (!above.has(name)) return;
  if (auto folder = above.enter(name); folder.ok()) {
    if (auto names = folder->names(); names.ok())
      for (const std::string& one : *names) folder->remove(one).ignore();
  }
  above.remove_directory(name).ignore();
}

// Removes the companions and an adapter's links too; nothing else is expected there.
void take_pool_apart(const Directory& pool) {
  for (const char* folder : {"companion", "links"}) remove_folder(pool, folder);
  sweep_directory(pool).ignore();  // the caller reports what stays
  remove_segments(pool);
}

Status sweep_directory(const Directory& pool) {
  CAIRN_TRY_ASSIGN(names, pool.names());
  Status status;
  for (const std::string& name : names) {
    if (!is_of_a_moment(name)) continue;
    if (pool.remove(name).ok()) continue;
    const Status removed = pool.remove_directory(name);
    if (!removed.ok() && removed.code() != ENOENT) status = removed;
  }
  return status;
}

}  // namespace cairn::pool
