// The C API as the adapter calls it: no handler of the program's runs inside (signals.h).
//
// Each name is a macro that calls the function of the same name; nothing else in this folder includes the
// C API's headers, so that no call can miss it.
#pragma once

#include "cairn/cairn.h"
#include "cairn/cover.h"
#include "posix/signals.h"

namespace posix {
template <typename Result, typename... Parameters, typename... Arguments>
inline Result inside(Result (*function)(Parameters...), Arguments... arguments) {
  Inside inside;
  return function(static_cast<Parameters>(arguments)...);
}
}  // namespace posix

#define cairn_appendv(...) ::posix::inside(cairn_appendv, __VA_ARGS__)
#define cairn_chmod(...) ::posix::inside(cairn_chmod, __VA_ARGS__)
#define cairn_chown(...) ::posix::inside(cairn_chown, __VA_ARGS__)
#define cairn_close(...) ::posix::inside(cairn_close, __VA_ARGS__)
#define cairn_companion(...) ::posix::inside(cairn_companion, __VA_ARGS__)
#define cairn_cover_join(...) ::posix::inside(cairn_cover_join, __VA_ARGS__)
#define cairn_cover_top(...) ::posix::inside(cairn_cover_top, __VA_ARGS__)
#define cairn_exec_adopt(...) ::posix::inside(cairn_exec_adopt, __VA_ARGS__)
#define cairn_exec_cancel(...) ::posix::inside(cairn_exec_cancel, __VA_ARGS__)
#define cairn_exec_prepare(...) ::posix::inside(cairn_exec_prepare, __VA_ARGS__)
#define cairn_fallocate(...) ::posix::inside(cairn_fallocate, __VA_ARGS__)
#define cairn_fdatasync(...) ::posix::inside(cairn_fdatasync, __VA_ARGS__)
#define cairn_file_adopt(...) ::posix::inside(cairn_file_adopt, __VA_ARGS__)
#define cairn_file_get_flags(...) ::posix::inside(cairn_file_get_flags, __VA_ARGS__)
#define cairn_file_get_id(...) ::posix::inside(cairn_file_get_id, __VA_ARGS__)
#define cairn_file_ino(...) ::posix::inside(cairn_file_ino, __VA_ARGS__)
#define cairn_file_mode(...) ::posix::inside(cairn_file_mode, __VA_ARGS__)
#define cairn_file_set_flags(...) ::posix::inside(cairn_file_set_flags, __VA_ARGS__)
#define cairn_fork_child(...) ::posix::inside(cairn_fork_child, __VA_ARGS__)
#define cairn_fork_parent(...) ::posix::inside(cairn_fork_parent, __VA_ARGS__)
#define cairn_fork_prepare(...) ::posix::inside(cairn_fork_prepare, __VA_ARGS__)
#define cairn_fstat(...) ::posix::inside(cairn_fstat, __VA_ARGS__)
#define cairn_fsync(...) ::posix::inside(cairn_fsync, __VA_ARGS__)
#define cairn_ftruncate(...) ::posix::inside(cairn_ftruncate, __VA_ARGS__)
#define cairn_getxattr(...) ::posix::inside(cairn_getxattr, __VA_ARGS__)
#define cairn_link(...) ::posix::inside(cairn_link, __VA_ARGS__)
#define cairn_link_ino(...) ::posix::inside(cairn_link_ino, __VA_ARGS__)
#define cairn_listxattr(...) ::posix::inside(cairn_listxattr, __VA_ARGS__)
#define cairn_lookup(...) ::posix::inside(cairn_lookup, __VA_ARGS__)
#define cairn_mkdir(...) ::posix::inside(cairn_mkdir, __VA_ARGS__)
#define cairn_mknod(...) ::posix::inside(cairn_mknod, __VA_ARGS__)
#define cairn_mmap(...) ::posix::inside(cairn_mmap, __VA_ARGS__)
#define cairn_msync(...) ::posix::inside(cairn_msync, __VA_ARGS__)
#define cairn_munmap(...) ::posix::inside(cairn_munmap, __VA_ARGS__)
#define cairn_open(...) ::posix::inside(cairn_open, __VA_ARGS__)
#define cairn_open_ino(...) ::posix::inside(cairn_open_ino, __VA_ARGS__)
#define cairn_path_of(...) ::posix::inside(cairn_path_of, __VA_ARGS__)
#define cairn_pool_attach(...) ::posix::inside(cairn_pool_attach, __VA_ARGS__)
#define cairn_pool_set_durability(...) ::posix::inside(cairn_pool_set_durability, __VA_ARGS__)
#define cairn_pread(...) ::posix::inside(cairn_pread, __VA_ARGS__)
#define cairn_preadv(...) ::posix::inside(cairn_preadv, __VA_ARGS__)
#define cairn_pwrite(...) ::posix::inside(cairn_pwrite, __VA_ARGS__)
#define cairn_pwritev(...) ::posix::inside(cairn_pwritev, __VA_ARGS__)
#define cairn_read(...) ::posix::inside(cairn_read, __VA_ARGS__)
#define cairn_readdir(...) ::posix::inside(cairn_readdir, __VA_ARGS__)
#define cairn_readlink(...) ::posix::inside(cairn_readlink, __VA_ARGS__)
#define cairn_readv(...) ::posix::inside(cairn_readv, __VA_ARGS__)
#define cairn_removexattr(...) ::posix::inside(cairn_removexattr, __VA_ARGS__)
#define cairn_rename(...) ::posix::inside(cairn_rename, __VA_ARGS__)
#define cairn_retain(...) ::posix::inside(cairn_retain, __VA_ARGS__)
#define cairn_rmdir(...) ::posix::inside(cairn_rmdir, __VA_ARGS__)
#define cairn_seek(...) ::posix::inside(cairn_seek, __VA_ARGS__)
#define cairn_setxattr(...) ::posix::inside(cairn_setxattr, __VA_ARGS__)
#define cairn_stat_ino(...) ::posix::inside(cairn_stat_ino, __VA_ARGS__)
#define cairn_statfs(...) ::posix::inside(cairn_statfs, __VA_ARGS__)
#define cairn_symlink(...) ::posix::inside(cairn_symlink, __VA_ARGS__)
#define cairn_truncate(...) ::posix::inside(cairn_truncate, __VA_ARGS__)
#define cairn_unlink(...) ::posix::inside(cairn_unlink, __VA_ARGS__)
#define cairn_utimens(...) ::posix::inside(cairn_utimens, __VA_ARGS__)
#define cairn_walk(...) ::posix::inside(cairn_walk, __VA_ARGS__)
#define cairn_write(...) ::posix::inside(cairn_write, __VA_ARGS__)
#define cairn_writev(...) ::posix::inside(cairn_writev, __VA_ARGS__)
