// C API: opening and closing, and what is asked of an open file description.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "capi/core/handles.h"
#include "file/data/access.h"
#include "file/data/truncate.h"
#include "file/inode/attributes.h"
#include "file/namespace/names.h"
#include "file/open/companion.h"
#include "file/space/make_room.h"
#include "pool/lanes/seats.h"
#include "tier/lower/lower.h"

namespace cairn::capi {
namespace {

// The flags that F_SETFL may change.
constexpr int changeable_flags = O_APPEND | O_NONBLOCK | O_ASYNC | O_DIRECT | O_NOATIME;

struct Request {
  Request(const char* its_path, int its_flags, uint32_t its_mode)
      : path(its_path), flags(its_flags), mode(S_IFREG | (its_mode & 07777)) {}
  [[nodiscard]] bool has(int bits) const { return (flags & bits) == bits; }

  const char* path;
  int flags;
  uint32_t mode;
  bool path_only = has(O_PATH);
  bool writes = !path_only && (flags & O_ACCMODE) != O_RDONLY;
  bool unnamed = has(O_TMPFILE);
  bool creates = has(O_CREAT) && !unnamed;
  bool only_new = creates && has(O_EXCL);
};

// The inode that the path names, or that was made for it, in `at`. ESTALE: look again.
Status find_or_make(file::FileSystem& fs, uint64_t dir, const Request& request,
                    file::Resolved* at) {
  file::ResolveOptions options;
  options.may_be_missing = request.creates;
  options.find_last = !request.only_new;
  options.follow_last = !request.has(O_NOFOLLOW) && !request.only_new;
  const Status status = file::resolve(fs, dir, request.path, options, at);
  const bool missing = at->inode == 0 && at->parent != 0;
  if (!status.ok() && !(status.code() == ENOENT && missing && request.creates)) return status;
  if (!missing) {
    if (request.only_new) return fail(EEXIST, "%s: file exists", request.path);
    return Status();
  }
  if (at->must_be_directory)
    return fail(EISDIR, "%s: the name of a file cannot end in a slash", request.path);
  at->seat.reset();
  auto made = file::with_room(
      fs, [&] { return file::create_name(fs, at->parent, at->name, {request.mode}); });
  if (made.ok()) {
    at->inode = made->number;
    at->generation = made->generation;
    return Status();
  }
  if (made.code() == EEXIST && !request.only_new) return Status(ESTALE);  // somebody was faster
  return made.status();
}

Status check_kind(const file::FileSystem& fs, const Request& request, uint64_t type) {
  const char* path = request.path;
  if (request.unnamed) {
    if (type != S_IFDIR) return fail(ENOTDIR, "%s: not a directory", path);
  } else if (type == S_IFDIR) {
    if (request.writes || request.creates) return fail(EISDIR, "%s: is a directory", path);
  } else if (request.has(O_DIRECTORY)) {
    return fail(ENOTDIR, "%s: not a directory", path);
  }
  if (type == S_IFLNK && !request.path_only) return fail(ELOOP, "%s: is a symbolic link", path);
  if ((type == S_IFIFO || type == S_IFSOCK) && !request.path_only)
    return fail(ENXIO, "%s: FIFOs and sockets cannot be opened in a pool", path);
  return request.writes ? fs.pool.check_writable() : Status();
}

// One attempt; ESTALE: what was found is gone.
Result<std::unique_ptr<file::File>> open_once(file::FileSystem& fs, uint64_t dir,
                                              const Request& request) {
  file::Resolved at;
  CAIRN_TRY(find_or_make(fs, dir, request, &at));
  if (!at.seat.has_value()) at.seat.emplace(fs.pool);
  pool::SeatGuard& seat = *at.seat;
  if (!seat.ok()) return pool::no_seat(fs.pool);
  auto inode = file::live_inode(fs, at.inode);
  if (!inode.ok()) return inode.status();
  const Status kind = check_kind(fs, request, (*inode)->mode.load() & S_IFMT);
  persist::read_barrier();
  CAIRN_TRY(file::check_generation({*inode, at.inode}, at.generation));
  CAIRN_TRY(kind);
  if (!request.unnamed) return file::open_inode(fs, *seat, at.inode, request.flags, at.generation);
  auto made = file::create_unnamed(fs, *seat, **inode, request.mode, (request.flags & O_EXCL) == 0);
  if (!made.ok()) return made.status();
  return file::open_unnamed(fs, *seat, *made, request.flags);
}

// O_TRUNC of a file that has been opened.
Status cut_if_asked(file::File& file, int flags) {
  if ((flags & O_TRUNC) == 0 || !file.writable || !S_ISREG(file.inode->mode.load()) ||
      file.inode->size.load() == 0)
    return Status();
  return file::truncate(*file.fs, file.map(), 0);
}

void close_file(file::File& file, pool::SeatGuard& seat) {
  file::close_file(*seat, std::unique_ptr<file::File>(&file));
}

// The handle of a file that has just been opened, cut if the flags say so.
int give(std::unique_ptr<file::File> opened, int flags, cairn_file** file) {
  if (Status status = cut_if_asked(*opened, flags); !status.ok()) {
    pool::SeatGuard seat(opened->fs->pool);
    if (seat.ok()) close_file(*opened.release(), seat);
    return code(status);
  }
  // A process that had the file mapped may have been killed.
  if (opened->writable) file::trim(*opened->fs, opened->map());
  *file = handle_of(opened.release());
  return 0;
}

}  // namespace
}  // namespace cairn::capi

using namespace cairn;        // NOLINT(google-build-using-namespace): the functions below are C
using namespace cairn::capi;  // NOLINT(google-build-using-namespace)

extern "C" {

int cairn_open(cairn_pool* pool, cairn_ino dir, const char* path, int flags, uint32_t mode,
               cairn_file** file) {
  const WriteWindow window;
  const Request request(path, flags, mode);
  if (request.unnamed && !request.writes)
    return code(fail(EINVAL, "%s: O_TMPFILE needs write access", path));
  constexpr int attempts = 64;
  int full = 0;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    auto opened = open_once(fs_of(pool), dir, request);
    if (opened.ok()) return give(std::move(*opened), request.unnamed ? 0 : flags, file);
    // No room for the description: the name is there already.
    if (opened.code() == ENOSPC && !request.only_new && file::try_again(fs_of(pool), ++full))
      continue;
    if (opened.code() != ESTALE) return -opened.code();
    // The directory is what is missing, not the name in it.
    if (auto from = live_map(fs_of(pool), dir); path[0] != '/' && !from.ok()) return -from.code();
  }
  return code(fail(ESTALE, "%s: other processes keep replacing it; retry", path));
}

int cairn_open_ino(cairn_pool* pool, cairn_ino ino, uint64_t generation, int flags,
                   cairn_file** file) {
  const WriteWindow window;
  auto& fs = fs_of(pool);
  Result<std::unique_ptr<file::File>> opened = Status(EBUSY);
  {
    pool::SeatGuard seat(fs.pool);
    if (!seat.ok()) return code(pool::no_seat(fs.pool));
    opened = file::open_inode(fs, *seat, ino, flags, generation);
  }
  return opened.ok() ? give(std::move(*opened), flags, file) : -opened.code();
}

int cairn_close(cairn_file* handle) {
  const WriteWindow window;
  if (handle == nullptr) return code(fail(EBADF, "the file is NULL"));
  file::File& file = file_of(handle);
  if (file.references.fetch_sub(1) != 1) return 0;
  file::FileSystem& fs = *file.fs;
  const bool may_have_source = file::is_lazy(file) && file.inode->links.load() == 0;
  {
    pool::SeatGuard seat(fs.pool);
    if (!seat.ok()) return code(pool::no_seat(fs.pool));
    close_file(file, seat);
  }
  // Another node holds open what this process does not need any more.
  if (may_have_source) tier::lower_of(fs).sources().clean(fs);
  return 0;
}

void cairn_retain(cairn_file* file) { file_of(file).references.fetch_add(1); }

void cairn_file_get_id(cairn_file* handle, cairn_file_id* id) {
  const WriteWindow window;
  id->slot = file_of(handle).slot;
  id->generation = file_of(handle).slot_generation;
}

int cairn_file_adopt(cairn_pool* pool, cairn_file_id id, cairn_file** file) {
  const WriteWindow window;
  auto& fs = fs_of(pool);
  pool::SeatGuard seat(fs.pool);
  if (!seat.ok()) return code(pool::no_seat(fs.pool));
  auto adopted = file::adopt(fs, *seat, id.slot, id.generation);
  if (!adopted.ok()) return -adopted.code();
  *file = handle_of(adopted->release());
  return 0;
}

cairn_ino cairn_file_ino(cairn_file* file) { return file_of(file).number; }
cairn_pool* cairn_file_pool(cairn_file* file) {
  return static_cast<cairn_pool*>(file_of(file).fs->handle);
}
uint32_t cairn_file_mode(cairn_file* file) {
  const WriteWindow window;
  return static_cast<uint32_t>(file_of(file).inode->mode.load_relaxed());
}
int cairn_file_get_flags(cairn_file* file) {
  const WriteWindow window;
  return flags_of(file_of(file));
}

int cairn_file_set_flags(cairn_file* handle, int flags) {
  const WriteWindow window;
  file::File& file = file_of(handle);
  uint64_t now = file.shared->flags.load();
  // Reads before this call are recorded by the flags of that time.
  if (((now ^ static_cast<uint64_t>(flags)) & uint64_t{O_NOATIME}) != 0) {
    const pool::SeatGuard seat(file.fs->pool);
    if (!seat.ok()) return code(pool::no_seat(file.fs->pool));
    file::fold_stamp(file);
  }
  uint64_t wanted = 0;
  do {
    wanted = (now & ~static_cast<uint64_t>(static_cast<uint32_t>(changeable_flags))) |
             static_cast<uint64_t>(static_cast<uint32_t>(flags & changeable_flags));
  } while (!file.fs->pool.compare_exchange(file.shared->flags, now, wanted));
  return 0;
}

int cairn_companion(cairn_file* handle) {
  const WriteWindow window;
  file::File& file = file_of(handle);
  if (file::remote_of(*file.fs, file.map()) != nullptr)
    return code(fail(ENOLCK, "cannot lock: the file is on another host"));
  const auto descriptor = file::open_companion(file);
  return descriptor.ok() ? *descriptor : code(descriptor.status());
}

}  // extern "C"
